// A confusion matrix: rows are the truth, columns the answers. Right answers and mistakes have a scale of colours each.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/plot.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::report {

namespace {

/// 0 (none) to 5 of a share of the row. The root: a few mistakes among thousands of samples can be seen.
int level_of(std::int64_t count, std::int64_t row) {
  if (count <= 0 || row <= 0) return 0;
  return std::clamp(static_cast<int>(std::ceil(5 * std::sqrt(double(count) / double(row)))), 1, 5);
}

class HeatMapDrawing {
 public:
  HeatMapDrawing(const HeatMap& chart, const PlotOptions& options) : chart_(chart), options_(options) {
    const auto count = static_cast<double>(std::max<std::size_t>(chart.names.size(), 1));
    double widest = 0;
    for (std::size_t k = 0; k < chart.names.size(); ++k) widest = std::max(widest, text_width(row_name(k), kTextSize));
    left_ = std::min(widest, options.compact ? 40.0 : 150.0) + kNameGap + 1;  // 1: (a + b) - b may be less than a
    width_ = std::min((options.width - left_) / count, 84.0);
    height_ = std::clamp(width_, 12.0, 30.0);
  }

  Picture draw() {
    if (chart_.names.empty()) return empty_picture(options_.width);
    Drawing out;
    out.text(0, kTop - 28, fmt::format("{} ↓, {} →", chart_.rows_title, chart_.columns_title), "axis-title");
    draw_column_names(out);
    for (std::size_t row = 0; row < chart_.names.size(); ++row) draw_row(out, row);
    return {.width = options_.width,
            .height = kTop + height_ * static_cast<double>(chart_.names.size()) + 4,
            .content = out.str()};
  }

 private:
  static constexpr double kTop = 46;
  static constexpr double kNameGap = 10;  // between a name and its row

  /// On a telephone the number of the class; the names stand below.
  std::string row_name(std::size_t k) const { return options_.compact ? std::to_string(k) : chart_.names[k]; }

  void draw_column_names(Drawing& out) const {
    double free_from = 0;
    const bool numbers = options_.compact || width_ < 36;
    for (std::size_t k = 0; k < chart_.names.size(); ++k) {
      const double x = left_ + (static_cast<double>(k) + 0.5) * width_;
      const std::string& name = chart_.names[k];
      const std::string shown = numbers ? std::to_string(k) : fit_text(name, kTextSize, width_ - 4);
      const Box box = text_box(x, kTop - 8, shown, Anchor::middle);
      if (box.left < free_from) continue;
      out.text_with_title(x, kTop - 8, shown, name, "tick-name", Anchor::middle);
      free_from = box.right + 3;
    }
  }

  void draw_row(Drawing& out, std::size_t row) const {
    const double y = kTop + static_cast<double>(row) * height_;
    if (height_ >= kLineHeight || row % 2 == 0)
      out.text_with_title(left_ - 8, y + height_ / 2 + 4, fit_text(row_name(row), kTextSize, left_ - kNameGap),
                          chart_.names[row], "name", Anchor::end);
    const auto& counts = chart_.counts[row];
    const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    for (std::size_t column = 0; column < counts.size(); ++column) {
      const int level = level_of(counts[column], all);
      const double x = left_ + static_cast<double>(column) * width_;
      out.rectangle(x, y, width_ - 1, height_ - 1, fmt::format("{}{}", row == column ? "hit" : "miss", level),
                    level == 0 ? std::string()
                               : fmt::format("{}: {} of {} answered {}", chart_.names[row], with_commas(counts[column]),
                                             with_commas(all), chart_.names[column]));
      const std::string text = std::to_string(counts[column]);
      if (level > 0 && height_ >= kLineHeight && text_width(text, kTextSize) < width_ - 2)
        out.text(x + (width_ - 1) / 2, y + height_ / 2 + 4, text, level > 3 ? "on" : "count", Anchor::middle);
    }
  }

  const HeatMap& chart_;
  const PlotOptions& options_;
  double left_ = 0, width_ = 0, height_ = 0;
};

}  // namespace

Picture draw(const HeatMap& chart, const PlotOptions& options) { return HeatMapDrawing(chart, options).draw(); }

}  // namespace lockstep::report
