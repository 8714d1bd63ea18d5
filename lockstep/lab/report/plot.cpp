#include "lockstep/lab/report/plot.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/drawing.hpp"

namespace lockstep::report {

namespace {

double widest(const std::vector<std::string>& texts) {
  double width = 0;
  for (const std::string& text : texts) width = std::max(width, text_width(text, kTextSize));
  return width;
}

/// Ticks whose words would touch are drawn without them: a tick is written where the one before left room.
void draw_x_ticks(Drawing& drawing, const Axis& axis, const Frame& frame, int most) {
  const std::vector<double> ticks = axis_ticks(axis, frame.x, most);
  const std::vector<std::string> texts = tick_texts(axis, ticks);
  double free_from = -1e9;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double x = frame.x.at(ticks[i]);
    drawing.line(x, frame.plot.top, x, frame.plot.bottom, "grid");
    const Box box = text_box(x, frame.plot.bottom + 17, texts[i], Anchor::middle);
    if (box.left < free_from) continue;
    drawing.text(x, frame.plot.bottom + 17, texts[i], "tick", Anchor::middle);
    free_from = box.right + 6;
  }
}

void draw_y_ticks(Drawing& drawing, const Frame& frame, const std::vector<double>& ticks,
                  const std::vector<std::string>& texts) {
  double free_below = 1e9;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double y = frame.y.at(ticks[i]);
    drawing.line(frame.plot.left, y, frame.plot.right, y, "grid");
    if (y > free_below) continue;
    drawing.text(frame.plot.left - 7, y + 4, texts[i], "tick", Anchor::end);
    free_below = y - kLineHeight;
  }
}

}  // namespace

Picture empty_picture(double width) {
  Drawing drawing;
  drawing.text(0, 16, "No data.", "muted");
  return {.width = width, .height = 24, .content = drawing.str()};
}

std::string left_out_text(int count, std::string_view what, std::string_view where) {
  return fmt::format("{} cannot be drawn on {}.", count_of(count, what), where);
}

Frame draw_frame(Drawing& drawing, const Axis& x_axis, const Axis& y_axis, AxisMap x, AxisMap y,
                 const FrameOptions& options) {
  const std::string y_title = axis_title(y_axis), x_title = axis_title(x_axis);
  const int most_y = static_cast<int>(options.height / 55), most_x = static_cast<int>(options.width / 75);
  const std::vector<double> y_ticks = axis_ticks(y_axis, y, most_y);
  const std::vector<std::string> y_texts = tick_texts(y_axis, y_ticks);
  Frame frame{.plot = {.left = widest(y_texts) + 10,
                       .top = y_title.empty() ? 10.0 : 30.0,
                       .right = options.width - options.right,
                       .bottom = options.height - (x_title.empty() ? 26.0 : 44.0)},
              .x = x,
              .y = y};
  frame.x.from = frame.plot.left, frame.x.to = frame.plot.right;
  frame.y.from = frame.plot.bottom, frame.y.to = frame.plot.top;
  draw_y_ticks(drawing, frame, y_ticks, y_texts);
  draw_x_ticks(drawing, x_axis, frame, most_x);
  drawing.line(frame.plot.left, frame.plot.bottom, frame.plot.right, frame.plot.bottom, "axis");
  if (!y_title.empty())
    drawing.text_with_title(0, 13, fit_text(y_title, kTextSize, options.width), y_title, "axis-title");
  if (!x_title.empty())
    drawing.text_with_title(frame.plot.right, frame.plot.bottom + 37, fit_text(x_title, kTextSize, frame.plot.right),
                            x_title, "axis-title", Anchor::end);
  return frame;
}

std::string_view line_class(LineKind kind) {
  constexpr std::string_view kClasses[] = {"line", "line fit", "line predicted", "line ideal"};
  return kClasses[static_cast<std::size_t>(kind)];
}

}  // namespace lockstep::report
