#pragma once
// What the kinds of charts share, and the kinds themselves: from the data of a chart to a picture of a given width.

#include <string>

#include "lockstep/lab/report/chart.hpp"
#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/label_place.hpp"
#include "lockstep/lab/report/ticks.hpp"

namespace lockstep::report {

/// `name` is unique in the page. A compact picture is for narrow places: labels above their bars, no words in the plot
/// where a legend or a key below it can say them.
struct PlotOptions {
  double width = 720;
  bool compact = false;
  std::string name{};
};

Picture draw(const BarChart& chart, const PlotOptions& options);
Picture draw(const LineChart& chart, const PlotOptions& options);
Picture draw(const ScatterChart& chart, const PlotOptions& options);

/// Two words where there is nothing to draw.
Picture empty_picture(double width);
/// "1 point cannot be drawn on these axes.", "3 points ..."
std::string left_out_text(int count, std::string_view what, std::string_view where);

/// The frame of a plot with two axes: grid, ticks, titles. The plot is the box that is left between the labels.
struct Frame {
  Box plot;
  AxisMap x, y;
};

struct FrameOptions {
  double width = 0, height = 0;
  double right = 12;  // room for labels on the right
};

/// Places the axes and draws them; their ranges are set, their pixels are not.
Frame draw_frame(Drawing& drawing, const Axis& x_axis, const Axis& y_axis, AxisMap x, AxisMap y,
                 const FrameOptions& options);

/// From the point to the nearest edge of words that could not stand beside it.
void draw_leader(Drawing& drawing, double x, double y, const PlacedLabel& label, std::string_view text);

/// The style of a line.
std::string_view line_class(LineKind kind);

/// An I from low to high at x, cut at the ends of the axis.
void draw_error(Drawing& drawing, double x, const AxisMap& y, const Interval& error, std::string_view classes);

}  // namespace lockstep::report
