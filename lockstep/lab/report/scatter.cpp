// The roofline: what a layer reaches, below what the machine could give it.

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/label_place.hpp"
#include "lockstep/lab/report/plot.hpp"

namespace lockstep::report {

namespace {

/// From the point to the nearest edge of words that could not stand beside it.
void draw_leader(Drawing& drawing, double x, double y, const PlacedLabel& label, std::string_view text) {
  const double nearest = std::clamp(x, label.x, label.x + text_width(text, kTextSize));
  drawing.line(x, y, nearest, label.y + (label.y < y ? 3 : -11), "leader");
}

class ScatterDrawing {
 public:
  ScatterDrawing(const ScatterChart& chart, const PlotOptions& options) : chart_(chart), options_(options) {}

  Picture draw() {
    if (chart_.points.empty() && chart_.ceilings.empty()) return empty_picture(options_.width);
    const double height = options_.compact ? 300 : 430;
    make_axes();
    Drawing out;
    frame_ = draw_frame(out, chart_.x, chart_.y, x_, y_, {.width = options_.width, .height = height, .right = 14});
    labels_.emplace(frame_.plot);
    for (const ScatterPoint& point : chart_.points)
      if (drawable(point)) {
        const double x = frame_.x.at(point.x), y = frame_.y.at(point.y);
        labels_->block({x - 5, y - 5, x + 5, y + 5});
      }
    out.begin_clip(options_.name + "-clip", frame_.plot);
    for (const Ceiling& ceiling : chart_.ceilings) draw_ceiling(out, ceiling);
    out.end_group();
    for (const Ceiling& ceiling : chart_.ceilings) draw_ceiling_name(out, ceiling);
    for (std::size_t i = 0; i < chart_.points.size(); ++i) draw_point(out, i);
    for (std::size_t i = 0; i < chart_.points.size(); ++i) draw_label(out, i);
    Picture picture{.width = options_.width, .height = height, .content = out.str()};
    if (left_out_ > 0) picture.remarks.push_back(left_out_text(left_out_, "point", "these axes"));
    if (unnamed_ > 0) picture.remarks.push_back(fmt::format("There is no room for the names of {} points.", unnamed_));
    return picture;
  }

 private:
  /// The lowest level at x: the roof.
  double level() const {
    double most = 0;
    for (const Ceiling& ceiling : chart_.ceilings) most = std::max(most, ceiling.level.value_or(0));
    return most;
  }
  double slope() const {
    double most = 0;
    for (const Ceiling& ceiling : chart_.ceilings) most = std::max(most, ceiling.slope.value_or(0));
    return most;
  }

  void make_axes() {
    std::vector<double> xs, ys;
    for (const ScatterPoint& point : chart_.points) {
      xs.push_back(point.x);
      ys.push_back(point.y);
    }
    for (const Ceiling& ceiling : chart_.ceilings)
      if (ceiling.level) ys.push_back(*ceiling.level * 1.5);
    if (level() > 0 && slope() > 0)  // the ridge, with some of both sides
      for (const double factor : {0.3, 3.0}) xs.push_back(factor * level() / slope());
    x_ = make_axis(chart_.x, xs, false, 6);
    y_ = make_axis(chart_.y, ys, false, 6);
    if (x_.scale == Scale::log) x_.low /= 1.5, x_.high *= 1.5;
    if (y_.scale == Scale::log) y_.low /= 1.5;
  }

  bool drawable(const ScatterPoint& point) const { return x_.shows(point.x) && y_.shows(point.y); }

  /// Of a memory ceiling up to the highest level; of a level from the steepest memory ceiling on.
  std::pair<double, double> span_of(const Ceiling& ceiling) const {
    double begin = x_.low, end = x_.high;
    if (ceiling.slope && level() > 0) end = std::min(end, level() / *ceiling.slope);
    if (ceiling.level && slope() > 0) begin = std::max(begin, *ceiling.level / slope());
    return {begin, end};
  }

  static double height_of(const Ceiling& ceiling, double x) {
    return ceiling.slope ? *ceiling.slope * x : *ceiling.level;
  }

  bool drawable(const Ceiling& ceiling) const {
    const double value = ceiling.slope ? *ceiling.slope : ceiling.level.value_or(0);
    const auto [begin, end] = span_of(ceiling);
    return std::isfinite(value) && value > 0 && begin < end;
  }

  /// Straight on logarithmic axes; in pieces, because on linear ones a share is cut off at their ends.
  void draw_ceiling(Drawing& out, const Ceiling& ceiling) {
    if (!drawable(ceiling)) return;
    const auto [begin, end] = span_of(ceiling);
    Drawing::Points points;
    constexpr int kPieces = 64;
    for (int i = 0; i <= kPieces; ++i) {
      const double share = static_cast<double>(i) / kPieces;
      const double x = x_.scale == Scale::log ? begin * std::pow(end / begin, share) : begin + (end - begin) * share;
      const double y = height_of(ceiling, x);
      if (!y_.shows(y) || y_.share(y) <= -1 || y_.share(y) >= 2) continue;
      points.emplace_back(frame_.x.at(x), frame_.y.at(y));
    }
    if (points.size() < 2) return;
    out.path({points.front(), points.back()}, "ceiling");
    labels_->discourage({points.front(), points.back()});
  }

  /// Along the line: a level is named at its right end, a slope near its left one, wherever there is room.
  void draw_ceiling_name(Drawing& out, const Ceiling& ceiling) {
    if (!drawable(ceiling) || ceiling.label.empty()) return;
    const auto [begin, end] = span_of(ceiling);
    const double width = text_width(ceiling.label, kTextSize);
    for (double share = ceiling.level ? 1.0 : 0.5; share >= 0; share -= 0.1) {
      const double x = frame_.x.at(begin) + (frame_.x.at(end) - frame_.x.at(begin)) * share;
      const double value =
          x_.scale == Scale::log ? begin * std::pow(end / begin, share) : begin + (end - begin) * share;
      const double y = height_of(ceiling, value);
      if (!y_.shows(y) || y_.share(y) < 0 || y_.share(y) > 1) continue;
      const double left = ceiling.level ? x - width - 4 : x + 6;
      const auto place = labels_->place_at(left, frame_.y.at(y) + (ceiling.level ? -7 : 16), ceiling.label);
      if (!place) continue;
      out.text(place->x, place->y, ceiling.label, "muted halo");
      return;
    }
  }

  void draw_point(Drawing& out, std::size_t i) {
    const ScatterPoint& point = chart_.points[i];
    if (!drawable(point)) {
      ++left_out_;
      return;
    }
    const double x = frame_.x.at(point.x), y = frame_.y.at(point.y);
    const std::string tone = tone_class(point.tone, 0);
    out.marker(x, y, shape_of(point.tone), tone,
               fmt::format("{}: {} at {}", point.label, format_number(point.y, chart_.y.format),
                           format_number(point.x, chart_.x.format)));
  }

  /// The shape says the same as the colour.
  std::size_t shape_of(Tone tone) const {
    for (std::size_t i = 0; i < chart_.tones.size(); ++i)
      if (chart_.tones[i].tone == tone) return i;
    return 0;
  }

  void draw_label(Drawing& out, std::size_t i) {
    const ScatterPoint& point = chart_.points[i];
    if (!drawable(point)) return;
    const std::string text = options_.compact ? std::to_string(i + 1) : fit_text(point.label, kTextSize, 170);
    const double x = frame_.x.at(point.x), y = frame_.y.at(point.y);
    const auto place = labels_->place(x, y, text);
    if (!place) {
      ++unnamed_;
      return;
    }
    if (place->far) draw_leader(out, x, y, *place, text);
    out.text(place->x, place->y, text, "name halo");
  }

  const ScatterChart& chart_;
  const PlotOptions& options_;
  AxisMap x_{}, y_{};
  Frame frame_{};
  std::optional<LabelPlace> labels_;
  int left_out_ = 0, unnamed_ = 0;
};

}  // namespace

Picture draw(const ScatterChart& chart, const PlotOptions& options) { return ScatterDrawing(chart, options).draw(); }

}  // namespace lockstep::report
