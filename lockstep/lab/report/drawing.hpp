#pragma once
// Elements of SVG. Colours and fonts are classes of the page's style, so that one drawing serves light, dark and paper.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lockstep/lab/report/chart.hpp"

namespace lockstep::report {

constexpr double kTextSize = 12;    // of every text in a drawing; the style says the same
constexpr double kLineHeight = 15;  // texts closer than this would touch

struct Box {
  double left = 0, top = 0, right = 0, bottom = 0;
  bool overlaps(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
  bool inside(const Box& other) const {
    return left >= other.left && right <= other.right && top >= other.top && bottom <= other.bottom;
  }
};

enum class Anchor { start, middle, end };

// text_width.cpp: how wide a text will be, without a browser to ask: the widths of DejaVu Sans, the widest of the fonts
// that a page falls back on, so that what fits here fits everywhere.

/// In pixels, for a font of `size` pixels.
double text_width(std::string_view text, double size);

/// The text, or as much of it as fits with "…" behind it.
std::string fit_text(std::string_view text, double size, double width);

/// Where the pixels of a text will be; y is its base line.
Box text_box(double x, double y, std::string_view text, Anchor anchor = Anchor::start);

class Drawing {
 public:
  using Points = std::vector<std::pair<double, double>>;

  void text(double x, double y, std::string_view words, std::string_view classes = "", Anchor anchor = Anchor::start);
  /// A text that may have been cut: the whole of it appears under the pointer.
  void text_with_title(double x, double y, std::string_view shown, std::string_view whole,
                       std::string_view classes = "", Anchor anchor = Anchor::start);
  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  void rectangle(double x, double y, double width, double height, std::string_view classes,
                 std::string_view title = "");
  void path(const Points& points, std::string_view classes, bool closed = false);
  /// A path whose data are given: "M1 2h3v4z".
  void shape(std::string_view data, std::string_view classes);
  /// Circle, square, triangle, diamond, cross: shape is taken modulo 5.
  void marker(double x, double y, std::size_t shape, std::string_view classes, std::string_view title = "");
  void begin_group(std::string_view attributes);
  void end_group() { out_ += "</g>\n"; }
  void append(const Drawing& other) { out_ += other.out_; }
  /// What is drawn until end_group() is cut at the box; the name must be unique in the page.
  void begin_clip(const std::string& name, const Box& box);

  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

/// A whole drawing: <svg> with title and description for readers who do not see it.
struct Picture {
  double width = 0, height = 0;
  std::string content{};
  std::vector<std::string> remarks{};  // for the note below: what could not be drawn
};

/// "t-simd", with the automatic ones taken in turn.
std::string tone_class(Tone tone, std::size_t index);

}  // namespace lockstep::report
