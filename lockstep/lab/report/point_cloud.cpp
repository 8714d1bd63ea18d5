// Many points on two axes, over the regions that a network tells apart. A thousand points are one path: a line of no
// length with round ends is a dot.

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/plot.hpp"

namespace lockstep::report {

namespace {

std::string tenths(double value) { return fmt::format("{:.1f}", std::isfinite(value) ? value : 0); }

class CloudDrawing {
 public:
  CloudDrawing(const PointCloud& chart, const PlotOptions& options) : chart_(chart), options_(options) {}

  Picture draw() {
    if (chart_.points.empty()) return empty_picture(options_.width);
    std::vector<double> xs, ys;
    for (const CloudPoint& point : chart_.points) {
      if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
      xs.push_back(point.x), ys.push_back(point.y);
    }
    if (chart_.diagonal) {
      xs.insert(xs.end(), ys.begin(), ys.end());
      ys = xs;
    }
    AxisMap x = make_axis(chart_.x, xs, false, 6), y = make_axis(chart_.y, ys, false, 6);
    if (const auto& regions = chart_.regions) {
      x.low = regions->x_low, x.high = regions->x_high;
      y.low = regions->y_low, y.high = regions->y_high;
    }
    const double height = options_.compact ? 310 : 430;
    Drawing frame, out;
    frame_ = draw_frame(frame, chart_.x, chart_.y, x, y, {.width = options_.width, .height = height, .right = 14});
    out.begin_clip(options_.name + "-clip", frame_.plot);
    if (chart_.regions) draw_regions(out, *chart_.regions);
    if (chart_.diagonal)
      out.line(frame_.plot.left, frame_.plot.bottom, frame_.plot.right, frame_.plot.top, "reference");
    draw_points(out);
    Drawing all;
    all.append(frame);
    all.append(out);
    all.end_group();
    Picture picture{.width = options_.width, .height = height, .content = all.str()};
    if (left_out_ > 0) picture.remarks.push_back(left_out_text(left_out_, "point", "these axes"));
    return picture;
  }

 private:
  std::string tone(std::size_t group) const {
    return tone_class(group < chart_.groups.size() ? chart_.groups[group].tone : Tone::automatic, group);
  }

  /// One path per group and level, of a rectangle for each stretch of equal cells in a row.
  void draw_regions(Drawing& out, const Regions& regions) const {
    std::map<std::pair<std::size_t, int>, std::string> paths;
    const double width = (frame_.plot.right - frame_.plot.left) / static_cast<double>(regions.columns);
    const double height = (frame_.plot.bottom - frame_.plot.top) / static_cast<double>(regions.rows);
    for (std::size_t row = 0; row < regions.rows; ++row)
      for (std::size_t from = 0; from < regions.columns;) {
        const auto key_at = [&](std::size_t column) {
          return std::pair(regions.groups[row * regions.columns + column],
                           regions.levels[row * regions.columns + column]);
        };
        const auto key = key_at(from);
        std::size_t to = from + 1;
        while (to < regions.columns && key_at(to) == key) ++to;
        paths[key] += fmt::format("M{} {}h{}v{}h-{}z", tenths(frame_.plot.left + static_cast<double>(from) * width),
                                  tenths(frame_.plot.bottom - static_cast<double>(row + 1) * height),
                                  tenths(static_cast<double>(to - from) * width), tenths(height),
                                  tenths(static_cast<double>(to - from) * width));
        from = to;
      }
    for (const auto& [key, data] : paths) out.shape(data, fmt::format("region l{} {}", key.second, tone(key.first)));
  }

  void draw_points(Drawing& out) {
    std::map<std::size_t, std::string> dots, crosses;
    for (const CloudPoint& point : chart_.points) {
      if (!frame_.x.shows(point.x) || !frame_.y.shows(point.y)) {
        ++left_out_;
        continue;
      }
      const double x = frame_.x.at(point.x), y = frame_.y.at(point.y);
      if (point.crossed)
        crosses[point.group] += fmt::format("M{} {}l7 7m0-7l-7 7", tenths(x - 3.5), tenths(y - 3.5));
      else
        dots[point.group] += fmt::format("M{} {}h0", tenths(x), tenths(y));
    }
    for (const auto& [group, data] : dots) {
      out.shape(data, "dots-edge");
      out.shape(data, "dots " + tone(group));
    }
    for (const auto& [group, data] : crosses) {
      out.shape(data, "crosses-edge");
      out.shape(data, "crosses " + tone(group));
    }
  }

  const PointCloud& chart_;
  const PlotOptions& options_;
  Frame frame_{};
  int left_out_ = 0;
};

}  // namespace

Picture draw(const PointCloud& chart, const PlotOptions& options) { return CloudDrawing(chart, options).draw(); }

}  // namespace lockstep::report
