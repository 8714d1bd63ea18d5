#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/label_place.hpp"
#include "lockstep/lab/report/plot.hpp"

namespace lockstep::report {

namespace {

constexpr std::size_t kMostMarkers = 40;  // of one series: more of them are a thick line

/// Of very many points, the lowest and the highest of each two pixels: the same drawing, a tenth of the file.
Drawing::Points thinned(const Drawing::Points& points, double width) {
  const auto most = static_cast<std::size_t>(2 * width);
  if (points.size() <= most) return points;
  Drawing::Points out{points.front()};
  const std::size_t buckets = most / 2;
  for (std::size_t b = 0; b < buckets; ++b) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(points.size() * b / buckets);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>(points.size() * (b + 1) / buckets);
    auto [low, high] =
        std::minmax_element(begin, end, [](const auto& one, const auto& two) { return one.second < two.second; });
    if (high < low) std::swap(low, high);
    out.push_back(*low);
    if (high != low) out.push_back(*high);
  }
  out.push_back(points.back());
  return out;
}

/// An I from low to high at x, cut at the ends of the axis.
void draw_error(Drawing& drawing, double x, const AxisMap& y, const Interval& error, std::string_view classes) {
  if (!y.shows(error.high) || std::isnan(error.low)) return;
  const double low = y.shows(error.low) ? y.at(error.low) : y.from;
  const double high = y.at(error.high);
  drawing.line(x, low, x, high, classes);
  drawing.line(x - 3, low, x + 3, low, classes);
  drawing.line(x - 3, high, x + 3, high, classes);
}

class LineDrawing {
 public:
  LineDrawing(const LineChart& chart, const PlotOptions& options) : chart_(chart), options_(options) {}

  Picture draw() {
    if (chart_.series.empty()) return empty_picture(options_.width);
    const double height = options_.compact ? 250 : 350;
    make_axes(height);
    Drawing out;
    frame_ = draw_frame(out, chart_.x, chart_.y, x_, y_,
                        {.width = options_.width, .height = height, .right = right_margin()});
    out.begin_clip(options_.name + "-clip",
                   {frame_.plot.left - 5, frame_.plot.top - 5, frame_.plot.right + 5, frame_.plot.bottom + 5});
    for (std::size_t s = 0; s < chart_.series.size(); ++s) draw_band(out, s);
    for (std::size_t s = 0; s < chart_.series.size(); ++s) draw_series(out, s);
    out.end_group();
    if (!options_.compact) draw_names(out);
    Picture picture{.width = options_.width, .height = height, .content = out.str()};
    if (left_out_ > 0) picture.remarks.push_back(left_out_text(left_out_, "point", "these axes"));
    return picture;
  }

 private:
  void make_axes(double height) {
    std::vector<double> xs, ys;
    for (const LineSeries& series : chart_.series)
      for (const LinePoint& point : series.points) {
        xs.push_back(point.x);
        ys.push_back(point.y);
        if (point.error) ys.insert(ys.end(), {point.error->low, point.error->high});
      }
    add_bands(ys);
    y_ = make_axis(chart_.y, ys, false, static_cast<int>(height / 55));
    // Time runs from end to end: a linear x axis is not widened to round numbers.
    Axis x = chart_.x;
    if (const auto [low, high] = finite_range(xs); x.scale == Scale::linear && high > low) {
      if (!x.low) x.low = low;
      if (!x.high) x.high = high;
    }
    x_ = make_axis(x, xs, false, static_cast<int>(options_.width / 75));
  }

  static std::pair<double, double> finite_range(const std::vector<double>& values) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double value : values)
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    return {low, high};
  }

  /// A band may grow without bounds beyond the points; it widens the axis by half at most.
  void add_bands(std::vector<double>& ys) const {
    const auto [low, high] = finite_range(ys);
    if (!(high >= low)) return;
    const double room = std::max((high - low) / 2, std::abs(high) / 10);
    for (const LineSeries& series : chart_.series)
      for (const BandPoint& point : series.band) {
        ys.push_back(std::max(point.low, chart_.y.scale == Scale::log ? low / 3 : low - room));
        ys.push_back(std::min(point.high, high + room));
      }
  }

  double right_margin() const {
    double names = 0;
    for (const LineSeries& series : chart_.series) names = std::max(names, text_width(series.name, kTextSize));
    return options_.compact || names == 0 ? 14 : std::min(names, options_.width * 0.26) + 16;
  }

  bool drawable(const LinePoint& point) const { return x_.shows(point.x) && y_.shows(point.y); }

  void draw_band(Drawing& out, std::size_t s) const {
    Drawing::Points upper, lower;
    for (const BandPoint& point : chart_.series[s].band) {
      if (!x_.shows(point.x) || !y_.shows(point.high) || std::isnan(point.low)) continue;
      upper.emplace_back(frame_.x.at(point.x), frame_.y.at(point.high));
      lower.emplace_back(frame_.x.at(point.x), y_.shows(point.low) ? frame_.y.at(point.low) : frame_.plot.bottom);
    }
    upper.insert(upper.end(), lower.rbegin(), lower.rend());
    out.path(upper, "band " + tone_of(s), true);
  }

  std::string tone_of(std::size_t s) const {
    const LineSeries& series = chart_.series[s];
    if (series.kind == LineKind::ideal && series.tone == Tone::automatic) return tone_class(Tone::neutral, 0);
    return tone_class(series.tone, s);
  }

  void draw_series(Drawing& out, std::size_t s) {
    const LineSeries& series = chart_.series[s];
    const std::string tone = tone_of(s);
    const bool markers = series.kind == LineKind::measured && series.points.size() <= kMostMarkers;
    Drawing::Points run;
    Drawing marks;
    const auto finish_run = [&] {
      out.path(thinned(run, options_.width), fmt::format("{} {}", line_class(series.kind), tone));
      run.clear();
    };
    for (const LinePoint& point : series.points) {
      if (!drawable(point)) {  // a hole in the line, not a line across it
        ++left_out_;
        finish_run();
        continue;
      }
      const double x = frame_.x.at(point.x), y = frame_.y.at(point.y);
      run.emplace_back(x, y);
      if (point.error) draw_error(marks, x, frame_.y, *point.error, "whisker " + tone);
      if (markers)
        marks.marker(x, y, s, tone,
                     fmt::format("{}: {} at {}", series.name, format_number(point.y, chart_.y.format),
                                 format_number(point.x, chart_.x.format)));
    }
    const bool lone = run.size() == 1 && !markers;
    if (lone) out.marker(run[0].first, run[0].second, s, tone);
    finish_run();
    if (!marks.str().empty()) {
      out.begin_group("class=\"marks\"");
      out.append(marks);
      out.end_group();
    }
  }

  /// The name of each series at its end, moved up or down where two would touch.
  void draw_names(Drawing& out) const {
    std::vector<std::size_t> named;
    std::vector<double> wanted;
    for (std::size_t s = 0; s < chart_.series.size(); ++s) {
      const auto& points = chart_.series[s].points;
      const auto last = std::find_if(points.rbegin(), points.rend(), [&](const LinePoint& p) { return drawable(p); });
      if (last == points.rend() || chart_.series[s].name.empty()) continue;
      named.push_back(s);
      wanted.push_back(std::clamp(frame_.y.at(last->y), frame_.plot.top, frame_.plot.bottom));
    }
    const std::vector<double> heights = spread(wanted, kLineHeight + 1, frame_.plot.top, frame_.plot.bottom);
    const double left = frame_.plot.right + 10, room = options_.width - left;
    for (std::size_t i = 0; i < named.size(); ++i) {
      const std::string& name = chart_.series[named[i]].name;
      if (std::abs(heights[i] - wanted[i]) > 5)
        out.line(frame_.plot.right + 1, wanted[i], left - 2, heights[i], "leader");
      out.text_with_title(left, heights[i] + 4, fit_text(name, kTextSize, room), name, "name ink " + tone_of(named[i]));
    }
  }

  const LineChart& chart_;
  const PlotOptions& options_;
  AxisMap x_{}, y_{};
  Frame frame_{};
  int left_out_ = 0;
};

}  // namespace

Picture draw(const LineChart& chart, const PlotOptions& options) { return LineDrawing(chart, options).draw(); }

}  // namespace lockstep::report
