// Horizontal bars: names read from left to right, and the chart grows with their number.

#include <algorithm>
#include <cmath>
#include <vector>

#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/escape.hpp"
#include "lockstep/lab/report/plot.hpp"

namespace lockstep::report {

namespace {

constexpr double kGap = 8;  // between a bar, or a whisker, and the words beside it

/// One rectangle: where it begins and ends on the axis, and what is said of it.
struct Piece {
  double begin = 0, end = 0;
  std::optional<Interval> error{};
  std::string text{};   // behind the bar, or within a piece of a stack
  std::string title{};  // under the pointer
  std::string tone{};
};

/// One line of the chart: the pieces of a stack, or a single bar.
struct Line {
  std::vector<Piece> pieces{};
  std::string text{};  // behind the last piece
  double reach = 0;    // how far it goes on the axis, whiskers included
};

struct Lines {
  std::string label{}, note{};
  std::vector<Line> lines{};
};

/// The largest of 1, 2, 5 times a power of ten that is not above the value.
double round_down(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  return power * (value >= 5 * power ? 5 : value >= 2 * power ? 2 : 1);
}

class BarDrawing {
 public:
  BarDrawing(const BarChart& chart, const PlotOptions& options) : chart_(chart), options_(options) {}

  Picture draw() {
    if (chart_.groups.empty()) return empty_picture(options_.width);
    std::vector<double> values;
    for (const BarGroup& group : chart_.groups) collect(group, values);
    map_ = make_axis(chart_.axis, values, true, 6);
    if (map_.scale == Scale::log && !chart_.axis.low)
      map_.low = round_down(map_.low / 1.3);  // even the shortest has length
    std::vector<Lines> groups;
    for (const BarGroup& group : chart_.groups) groups.push_back(make_lines(group));
    place_axis(groups);
    Drawing bars;
    double y = kTop;
    for (const Lines& group : groups) y = draw_group(bars, group, y);
    const double bottom = y;
    Drawing all;
    draw_axis(all, bottom);
    const double height = bottom + (title_text().empty() ? 26 : 44);
    Picture picture{.width = options_.width, .height = height, .content = all.str() + bars.str()};
    if (left_out_ > 0) picture.remarks.push_back(left_out_text(left_out_, "value", "this axis"));
    return picture;
  }

 private:
  static constexpr double kTop = 4;

  /// The length of a bar on a logarithmic axis is no measure of its value, and the axis says so.
  std::string title_text() const {
    std::string title = axis_title(chart_.axis);
    if (map_.scale != Scale::log) return title;
    return title.empty() ? "logarithmic axis" : title + ", logarithmic axis";
  }

  double thickness() const { return chart_.stacked || one_each() ? 18 : 13; }
  bool one_each() const {
    return std::all_of(chart_.groups.begin(), chart_.groups.end(),
                       [](const BarGroup& g) { return g.bars.size() <= 1; });
  }

  void collect(const BarGroup& group, std::vector<double>& values) const {
    double sum = 0;
    for (const BarValue& bar : group.bars) {
      if (!std::isfinite(bar.value)) continue;
      sum += std::max(bar.value, 0.0);
      values.push_back(chart_.stacked ? sum : bar.value);
      if (bar.error && !chart_.stacked) values.push_back(bar.error->high);
    }
  }

  std::string tone_of(const BarGroup& group, std::size_t series) const {
    if (series < chart_.series.size() && chart_.series.size() > 1)
      return tone_class(chart_.series[series].tone, series);
    if (group.tone != Tone::automatic) return tone_class(group.tone, 0);
    if (!chart_.series.empty()) return tone_class(chart_.series[0].tone, 0);
    return tone_class(Tone::automatic, one_each() ? 0 : series);
  }

  Lines make_lines(const BarGroup& group) {
    Lines out{.label = group.label, .note = group.note};
    double sum = 0;
    Line stack;
    for (std::size_t s = 0; s < group.bars.size(); ++s) {
      const BarValue& bar = group.bars[s];
      const std::string text = format_number(bar.value, chart_.axis.format);
      Piece piece{.begin = base(), .end = bar.value, .error = bar.error, .text = text, .tone = tone_of(group, s)};
      piece.title = group.label;
      if (s < chart_.series.size()) piece.title += ", " + chart_.series[s].name;
      piece.title += ": " + text;
      const bool drawable = map_.shows(bar.value) && (!chart_.stacked || bar.value >= 0);
      if (!drawable) ++left_out_;
      if (chart_.stacked) {
        if (!drawable) continue;
        piece.begin = sum > 0 ? sum : base(), piece.end = sum += bar.value;
        piece.error.reset();
        stack.reach = sum;
        stack.pieces.push_back(std::move(piece));
        continue;
      }
      Line line{.text = text};
      line.reach = drawable ? std::max(bar.value, base()) : base();
      if (drawable && bar.error && map_.shows(bar.error->high)) line.reach = std::max(line.reach, bar.error->high);
      if (drawable) line.pieces.push_back(std::move(piece));
      out.lines.push_back(std::move(line));
    }
    if (chart_.stacked) {
      stack.text = format_number(sum, chart_.axis.format);
      out.lines.push_back(std::move(stack));
    }
    return out;
  }

  /// Where bars begin: at zero, or at the left end of a logarithmic axis.
  double base() const { return map_.scale == Scale::log ? map_.low : std::clamp(0.0, map_.low, map_.high); }

  /// Labels get what they need, up to a third of the width; the axis is as long as the words behind the bars allow.
  void place_axis(const std::vector<Lines>& groups) {
    double labels = 0;
    if (!options_.compact)
      for (const Lines& group : groups) labels = std::max(labels, label_width(group));
    left_ = options_.compact ? 1 : std::min(labels, options_.width * 0.36) + 10;
    double length = options_.width - left_ - 14;
    for (const Lines& group : groups)
      for (const Line& line : group.lines) {
        const double share = map_.shows(line.reach) ? std::clamp(map_.share(line.reach), 0.0, 1.0) : 0;
        const double room = options_.width - left_ - kGap - text_width(clean(line.text), kTextSize) - 2;
        if (share > 0) length = std::min(length, room / share);
      }
    map_.from = left_, map_.to = left_ + std::max(length, 60.0);
  }

  static double label_width(const Lines& group) {
    const double note = group.note.empty() ? 0 : text_width(group.note, kTextSize) + 6;
    return text_width(group.label, kTextSize) + note;
  }

  void draw_label(Drawing& out, const Lines& group, double y, double room, Anchor anchor) const {
    const double note = group.note.empty() ? 0 : text_width(group.note, kTextSize) + 6;
    const bool both = note > 0 && label_width(group) <= room;
    const std::string label = fit_text(group.label, kTextSize, room - (both ? note : 0));
    const double right = anchor == Anchor::end ? left_ - 10 : text_width(label, kTextSize) + note;
    if (both) out.text(right, y, group.note, "muted", Anchor::end);
    if (anchor == Anchor::end)
      out.text_with_title(right - (both ? note : 0), y, label, group.label, "name", Anchor::end);
    else
      out.text_with_title(0, y, label, group.label, "name");
  }

  double draw_group(Drawing& out, const Lines& group, double y) {
    const double bar = thickness(), count = static_cast<double>(std::max<std::size_t>(group.lines.size(), 1));
    if (options_.compact) {
      draw_label(out, group, y + 12, options_.width, Anchor::start);
      y += 18;
    } else {
      draw_label(out, group, y + (count * (bar + 2) - 2) / 2 + 4, left_ - 10, Anchor::end);
    }
    const double zero = map_.at(base());
    out.line(zero, y - 3, zero, y + count * (bar + 2) + 1, "axis");
    for (const Line& line : group.lines) {
      draw_line(out, line, y, bar);
      y += bar + 2;
    }
    return y + (options_.compact ? 8 : 7);
  }

  void draw_line(Drawing& out, const Line& line, double y, double bar) {
    double end = map_.at(base());
    for (const Piece& piece : line.pieces) {
      const double from = map_.at(piece.begin), to = map_.at(piece.end);
      const double left = std::min(from, to), width = std::abs(to - from);
      out.rectangle(left, y, chart_.stacked ? width - 1 : std::max(width, 1.0), bar, "bar " + piece.tone, piece.title);
      if (chart_.stacked && text_width(piece.text, kTextSize) + 8 < width - 1)
        out.text(left + width / 2, y + bar / 2 + 4, piece.text, "on", Anchor::middle);
      end = std::max(end, std::max(from, to));
      if (piece.error) end = std::max(end, draw_whisker(out, *piece.error, y + bar / 2));
    }
    if (!line.text.empty()) out.text(end + kGap, y + bar / 2 + 4, line.text, "value");
  }

  /// Returns its right end.
  double draw_whisker(Drawing& out, const Interval& error, double y) {
    if (!map_.shows(error.high) || std::isnan(error.low)) return 0;
    const double low = map_.shows(error.low) ? std::max(map_.at(error.low), left_) : left_;
    const double high = map_.at(error.high);
    out.line(low, y, high, y, "whisker");
    out.line(low, y - 3, low, y + 3, "whisker");
    out.line(high, y - 3, high, y + 3, "whisker");
    return high;
  }

  void draw_axis(Drawing& out, double bottom) const {
    const std::vector<double> ticks =
        axis_ticks(chart_.axis, map_, std::max(2, static_cast<int>((map_.to - map_.from) / 75)));
    const std::vector<std::string> texts = tick_texts(chart_.axis, ticks);
    double free_from = -1;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      const double x = map_.at(ticks[i]);
      out.line(x, kTop - 4, x, bottom, "grid");
      const double half = text_width(texts[i], kTextSize) / 2;
      const double at = std::clamp(x, half, options_.width - half);  // the outer ones stay within the picture
      if (at - half < free_from) continue;
      out.text(at, bottom + 17, texts[i], "tick", Anchor::middle);
      free_from = at + half + 6;
    }
    if (const std::string title = title_text(); !title.empty())
      out.text_with_title(options_.width, bottom + 37, fit_text(title, kTextSize, options_.width), title, "axis-title",
                          Anchor::end);
  }

  const BarChart& chart_;
  const PlotOptions& options_;
  AxisMap map_{};
  double left_ = 0;
  int left_out_ = 0;
};

}  // namespace

Picture draw(const BarChart& chart, const PlotOptions& options) { return BarDrawing(chart, options).draw(); }

}  // namespace lockstep::report
