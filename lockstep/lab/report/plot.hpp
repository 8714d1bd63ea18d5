#pragma once
// What the kinds of charts share, and the kinds themselves: from the data of a chart to a picture of a given width.

#include <span>
#include <string>
#include <vector>

#include "lockstep/lab/report/chart.hpp"
#include "lockstep/lab/report/drawing.hpp"

namespace lockstep::report {

// ticks.cpp: where an axis begins and ends, and where its ticks are.

/// What an axis shows, and where: `from` and `to` are pixels (from may be above to).
struct AxisMap {
  Scale scale = Scale::linear;
  double low = 0, high = 1;
  double from = 0, to = 1;

  /// Whether the value has a place on this axis at all: finite, and positive on a logarithmic one.
  bool shows(double value) const;
  /// 0 at low, 1 at high; between -1 and 2 for whatever lies outside. Only for values that shows() allows.
  double share(double value) const;
  double at(double value) const { return from + (to - from) * share(value); }
};

/// Steps of 1, 2 or 5 times a power of ten, at most about `most` of them, within [low, high].
std::vector<double> linear_ticks(double low, double high, int most);
/// Decades, thinned out to about `most`; 1, 2 and 5 of each where decades are few.
std::vector<double> log_ticks(double low, double high, int most);

/// An axis over the values that it can show; other values are ignored. Linear ones reach from tick to tick, and hold
/// zero where `from_zero`; logarithmic ones leave some room at both ends. Given ends of the axis are kept where they
/// make sense. Never empty: one value, or none, gets a range around it.
AxisMap make_axis(const Axis& axis, std::span<const double> values, bool from_zero, int most_ticks);

/// The given ticks that are on the axis, or made ones.
std::vector<double> axis_ticks(const Axis& axis, const AxisMap& map, int most);

/// Percentages, times, sizes and the like by the format of the axis; plain numbers with the decimals that their step
/// needs, and as powers of ten from 100,000 on.
std::vector<std::string> tick_texts(const Axis& axis, std::span<const double> ticks);

/// "Time per epoch (s)"
std::string axis_title(const Axis& axis);

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
Picture draw(const HeatMap& chart, const PlotOptions& options);
Picture draw(const PointCloud& chart, const PlotOptions& options);
Picture draw(const NetworkDrawing& chart, const PlotOptions& options);

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

/// The style of a line.
std::string_view line_class(LineKind kind);

}  // namespace lockstep::report
