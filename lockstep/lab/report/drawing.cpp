#include "lockstep/lab/report/drawing.hpp"

#include <cmath>

#include <fmt/format.h>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/report/escape.hpp"

namespace lockstep::report {

namespace {

/// Tenths of a pixel; whatever happens before, no coordinate is ever "nan".
std::string px(double value) {
  if (!std::isfinite(value)) value = 0;
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string class_attribute(std::string_view classes) {
  return classes.empty() ? "" : fmt::format(" class=\"{}\"", classes);
}

std::string_view anchor_name(Anchor anchor) {
  return anchor == Anchor::start ? "start" : anchor == Anchor::middle ? "middle" : "end";
}

std::string title_element(std::string_view title) {
  return title.empty() ? "" : fmt::format("<title>{}</title>", escape_html(title));
}

std::string path_data(const Drawing::Points& points, bool closed) {
  std::string out;
  for (const auto& [x, y] : points) out += fmt::format("{}{} {}", out.empty() ? "M" : "L", px(x), px(y));
  return closed && !out.empty() ? out + "Z" : out;
}

}  // namespace

Box text_box(double x, double y, std::string_view text, Anchor anchor) {
  const double width = text_width(text, kTextSize);
  const double left = anchor == Anchor::start ? x : anchor == Anchor::middle ? x - width / 2 : x - width;
  return {left, y - 0.95 * kTextSize, left + width, y + 0.3 * kTextSize};
}

void Drawing::text(double x, double y, std::string_view words, std::string_view classes, Anchor anchor) {
  text_with_title(x, y, words, "", classes, anchor);
}

void Drawing::text_with_title(double x, double y, std::string_view shown, std::string_view whole,
                              std::string_view classes, Anchor anchor) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\"{}", px(x), px(y), class_attribute(classes));
  if (anchor != Anchor::start) out_ += fmt::format(" text-anchor=\"{}\"", anchor_name(anchor));
  out_ += fmt::format(">{}{}</text>\n", escape_html(shown), whole == shown ? "" : title_element(whole));
}

void Drawing::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", px(x1), px(y1), px(x2), px(y2),
                      class_attribute(classes));
}

void Drawing::rectangle(double x, double y, double width, double height, std::string_view classes,
                        std::string_view title) {
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", px(x), px(y), px(std::fmax(width, 0)),
                      px(std::fmax(height, 0)), class_attribute(classes));
  out_ += title.empty() ? "/>\n" : fmt::format(">{}</rect>\n", title_element(title));
}

void Drawing::path(const Points& points, std::string_view classes, bool closed) {
  if (points.size() > 1)
    out_ += fmt::format("<path d=\"{}\"{}/>\n", path_data(points, closed), class_attribute(classes));
}

void Drawing::shape(std::string_view data, std::string_view classes) {
  if (!data.empty()) out_ += fmt::format("<path d=\"{}\"{}/>\n", data, class_attribute(classes));
}

void Drawing::marker(double x, double y, std::size_t shape, std::string_view classes, std::string_view title) {
  constexpr double r = 3.6;
  std::string data;
  switch (shape % 5) {
    case 0:
      data = fmt::format("M{0} {1}a{2} {2} 0 1 0 {3} 0a{2} {2} 0 1 0 {4} 0Z", px(x - r), px(y), r, 2 * r, -2 * r);
      break;
    case 1:
      data = path_data({{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}}, true);
      break;
    case 2:
      data = path_data({{x, y - 1.2 * r}, {x + 1.2 * r, y + r}, {x - 1.2 * r, y + r}}, true);
      break;
    case 3:
      data = path_data({{x, y - 1.3 * r}, {x + 1.3 * r, y}, {x, y + 1.3 * r}, {x - 1.3 * r, y}}, true);
      break;
    default:
      data = path_data({{x, y + 1.2 * r}, {x - 1.2 * r, y - r}, {x + 1.2 * r, y - r}}, true);
      break;
  }
  out_ += fmt::format("<path d=\"{}\" class=\"marker {}\"", data, classes);
  out_ += title.empty() ? "/>\n" : fmt::format(">{}</path>\n", title_element(title));
}

void Drawing::begin_group(std::string_view attributes) { out_ += fmt::format("<g {}>\n", attributes); }

void Drawing::begin_clip(const std::string& name, const Box& box) {
  out_ += fmt::format(
      "<clipPath id=\"{0}\"><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" height=\"{4}\"/></clipPath>\n"
      "<g clip-path=\"url(#{0})\">\n",
      name, px(box.left), px(box.top), px(box.right - box.left), px(box.bottom - box.top));
}

std::string tone_class(Tone tone, std::size_t index) {
  return fmt::format("t-{}", tone_name(tone == Tone::automatic ? automatic_tone(index) : tone));
}

}  // namespace lockstep::report
