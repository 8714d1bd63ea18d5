// A network as blocks from input to output: on a desk in lines from left to right, on a telephone one below the other.
// The height of a block follows the side of a layer's maps, its width their number, both on a logarithmic scale.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/plot.hpp"

namespace lockstep::report {

namespace {

constexpr std::size_t kMostLayers = 64;  // that are drawn
constexpr double kBold = 0.82;           // of the room: bold letters are wider

class BlockDrawing {
 public:
  BlockDrawing(const NetworkDrawing& chart, const PlotOptions& options) : chart_(chart), options_(options) {
    count_ = std::min(chart.layers.size(), kMostLayers);
    for (std::size_t i = 0; i < count_; ++i) {
      most_side_ = std::max(most_side_, chart.layers[i].side);
      most_channels_ = std::max(most_channels_, chart.layers[i].channels);
    }
  }

  Picture draw() {
    if (count_ == 0) return empty_picture(options_.width);
    Drawing out;
    const double height = options_.compact ? draw_list(out) : draw_lines(out);
    Picture picture{.width = options_.width, .height = height, .content = out.str()};
    if (count_ < chart_.layers.size())
      picture.remarks.push_back(
          fmt::format("{} more are not drawn.", count_of(std::ssize(chart_.layers) - std::int64_t(count_), "layer")));
    return picture;
  }

 private:
  static double scaled(double value, double most, double low, double high) {
    return most <= 1 ? low : low + (high - low) * std::log2(std::max(value, 1.0)) / std::log2(most);
  }

  /// A block with its bottom at `bottom`, in the middle of x; behind it the edges of its depth where it holds maps.
  void draw_block(Drawing& out, const DrawnLayer& layer, double x, double bottom, double scale) const {
    const double height = scaled(layer.side, most_side_, 14, 70) * scale;
    const double width = scaled(layer.channels, most_channels_, 6, 40) * scale;
    const double depth = layer.side > 1 ? std::min(14.0, height / 4) : 0;
    const std::string tone = tone_class(layer.tone, 0);
    const double left = x - (width + depth) / 2, top = bottom - height;
    if (depth > 0) {
      out.path({{left, top}, {left + depth, top - depth}, {left + width + depth, top - depth}, {left + width, top}},
               "block-top " + tone, true);
      out.path({{left + width, top},
                {left + width + depth, top - depth},
                {left + width + depth, bottom - depth},
                {left + width, bottom}},
               "block-side " + tone, true);
    }
    out.rectangle(left, top, width, height, "block " + tone,
                  fmt::format("{} {} → {}", layer.name, layer.detail, layer.shape));
  }

  static std::string share_text(const DrawnLayer& layer) {
    return layer.share ? fmt::format("{:.{}f} % of time", 100 * *layer.share, *layer.share < 0.0995 ? 1 : 0) : "";
  }
  static std::string parameters_text(const DrawnLayer& layer, bool shorter) {
    return layer.parameters == 0 ? ""
           : shorter             ? fmt::format("{} param.", with_commas(layer.parameters))
                                 : fmt::format("{} parameters", with_commas(layer.parameters));
  }

  /// Returns the height.
  double draw_lines(Drawing& out) const {
    constexpr std::size_t kMostInLine = 8;
    constexpr double kBlocks = 104, kTexts = 6 * kLineHeight;
    const std::size_t lines = (count_ + kMostInLine - 1) / kMostInLine, each = (count_ + lines - 1) / lines;
    const double slot = std::min(options_.width / static_cast<double>(std::max<std::size_t>(each, 4)), 150.0);
    for (std::size_t i = 0; i < count_; ++i) {
      const DrawnLayer& layer = chart_.layers[i];
      const double x = (static_cast<double>(i % each) + 0.5) * slot;
      const double bottom = static_cast<double>(i / each) * (kBlocks + kTexts + 24) + kBlocks;
      draw_block(out, layer, x, bottom, 1);
      if (i > 0) draw_arrow(out, x - slot / 2 - (i % each == 0 ? -3 : 5), bottom - 16);
      if (layer.skipped) {
        const double y = bottom - kBlocks + 5;
        const bool first = !chart_.layers[i - 1].skipped || i % each == 0;
        const bool last = i + 1 == count_ || !chart_.layers[i + 1].skipped || (i + 1) % each == 0;
        out.path({{x - slot / 2, y + (first ? 8 : 0)},
                  {x - slot / 2, y},
                  {x + slot / 2, y},
                  {x + slot / 2, y + (last ? 8 : 0)}},
                 "skip");
      }
      double y = bottom + 18;
      const auto line = [&](const std::string& text, const char* classes) {
        if (text.empty()) return;
        const double share = std::string_view(classes) == "strong" ? kBold : 1;
        out.text_with_title(x, y, fit_text(text, kTextSize, share * (slot - 8)), text, classes, Anchor::middle);
        y += kLineHeight;
      };
      line(layer.name, "strong");
      line(layer.detail, "muted");
      line(layer.then.empty() ? "" : "then " + layer.then, "muted");
      line(layer.shape, "name");
      line(parameters_text(layer, true), "name");
      line(share_text(layer), "name");
    }
    return static_cast<double>(lines) * (kBlocks + kTexts + 24) - 10;
  }

  static void draw_arrow(Drawing& out, double x, double y) { out.path({{x, y - 4}, {x + 7, y}, {x, y + 4}}, "arrow"); }

  double draw_list(Drawing& out) const {
    double y = 4;
    for (std::size_t i = 0; i < count_; ++i) {
      const DrawnLayer& layer = chart_.layers[i];
      constexpr double kText = 62;
      draw_block(out, layer, 30, y + 46, 0.55);
      if (layer.skipped) out.line(2, y - 4, 2, y + 50, "skip");
      const double room = options_.width - kText - 8;
      double at = y + 14;
      const auto line = [&](const std::string& text, const char* classes) {
        if (text.empty()) return;
        const double share = std::string_view(classes) == "strong" ? kBold : 1;
        out.text_with_title(kText, at, fit_text(text, kTextSize, share * room), text, classes);
        at += kLineHeight;
      };
      line(layer.name + (layer.detail.empty() ? "" : " " + layer.detail), "strong");
      line(layer.shape + (layer.then.empty() ? "" : ", then " + layer.then), "muted");
      const std::string parameters = parameters_text(layer, false), share = share_text(layer);
      line(parameters + (parameters.empty() || share.empty() ? "" : ", ") + share, "name");
      y = std::max(y + 58, at + 8);
    }
    return y;
  }

  const NetworkDrawing& chart_;
  const PlotOptions& options_;
  std::size_t count_ = 0;
  double most_side_ = 1, most_channels_ = 1;
};

}  // namespace

Picture draw(const NetworkDrawing& chart, const PlotOptions& options) { return BlockDrawing(chart, options).draw(); }

}  // namespace lockstep::report
