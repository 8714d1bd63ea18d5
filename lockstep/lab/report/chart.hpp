#pragma once
// The charts of a report: what they show, not how they look (html_parts.hpp). Every chart needs a title that says what
// is to be seen, and a description for readers who cannot see it. Values that are not finite, or not positive on a
// logarithmic axis, are left out of the drawing and counted in the note below it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lockstep/lab/report/cell.hpp"

namespace lockstep::report {

/// The colour of a thing, the same in every chart and table of every report. `automatic` takes the next free one.
enum class Tone {
  automatic,
  neutral,    // grey: references, totals, the rest
  naive,      // plain loops, Python loops
  library,    // OpenBLAS, oneDNN
  simd,       // one thread
  threads,    //
  ranks,      //
  hybrid,     // ranks x threads
  device,     // OpenCL, CUDA
  peer,       // PyTorch, JAX
  published,  // numbers of a paper
  simulated,  // numbers of a simulation
};

enum class Scale { linear, log };

struct Axis {
  std::string title{};
  std::string unit{};
  Scale scale = Scale::linear;
  std::optional<double> low{}, high{};  // otherwise from the data; linear axes of bars begin at 0
  Format format{};                      // of the ticks
  std::vector<double> ticks{};          // where they are given by the matter: 1, 2, 4, 8 ranks
};

/// One value of a group; one per series of the chart, in its order.
struct BarValue {
  double value = 0;
  std::optional<Interval> error{};
  BarValue() = default;
  BarValue(double number, std::optional<Interval> interval = {}) : value(number), error(interval) {}
};

struct BarGroup {
  std::string label{};
  std::vector<BarValue> bars{};
  Tone tone = Tone::automatic;
  std::string note{};  // behind the label, small: "baseline"
};

struct BarSeries {
  std::string name{};
  Tone tone = Tone::automatic;
};

/// Horizontal bars: one group per line, its bars below one another or, `stacked`, behind one another.
struct BarChart {
  std::string id{};  // letters, digits and dashes; empty: from the title
  std::string title{};
  std::string description{};
  Axis axis{};
  std::vector<BarSeries> series{};  // may be empty where every group has one bar
  std::vector<BarGroup> groups{};
  bool stacked = false;
  std::string note{};  // below the chart: what the whiskers are, what was left out
};

struct LinePoint {
  double x = 0, y = 0;
  std::optional<Interval> error{};  // of y
};

struct BandPoint {
  double x = 0, low = 0, high = 0;
};

enum class LineKind {
  measured,   // solid with markers (without them where there are many points)
  fit,        // solid, thin, no markers
  predicted,  // dashed
  ideal,      // dotted, grey
};

struct LineSeries {
  std::string name{};
  std::vector<LinePoint> points{};  // in the order of x
  Tone tone = Tone::automatic;
  LineKind kind = LineKind::measured;
  std::vector<BandPoint> band{};  // confidence band behind the line
};

struct LineChart {
  std::string id{};
  std::string title{};
  std::string description{};
  Axis x{}, y{};
  std::vector<LineSeries> series{};
  std::string note{};
};

/// What no point can be above: y = slope * x (memory), or y = level (arithmetic). Exactly one of them.
struct Ceiling {
  std::string label{};
  std::optional<double> slope{}, level{};
};

struct ScatterPoint {
  std::string label{};
  double x = 0, y = 0;
  Tone tone = Tone::automatic;
};

/// Labelled points under ceilings: the roofline, on two logarithmic axes.
struct ScatterChart {
  std::string id{};
  std::string title{};
  std::string description{};
  Axis x{}, y{};
  std::vector<Ceiling> ceilings{};
  std::vector<ScatterPoint> points{};
  std::vector<BarSeries> tones{};  // the legend: what the colours mean
  std::string note{};
};

/// Counts by row and column, each cell the darker the larger its share of its row: a confusion matrix.
struct HeatMap {
  std::string id{};
  std::string title{};
  std::string description{};
  std::string rows_title{}, columns_title{};
  std::vector<std::string> names{};                 // of the rows, and of the columns
  std::vector<std::vector<std::int64_t>> counts{};  // as many rows and columns as names
  std::string note{};
};

struct CloudPoint {
  double x = 0, y = 0;
  std::size_t group = 0;  // of PointCloud::groups
  bool crossed = false;   // drawn as a cross: a mistake
};

/// Which group an area belongs to, and how surely: a grid over [x_low, x_high] x [y_low, y_high], rows from below.
struct Regions {
  std::size_t columns = 0, rows = 0;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  std::vector<std::size_t> groups{};  // columns * rows
  std::vector<int> levels{};          // 0 (hardly) to kMostLevel (surely)
  static constexpr int kMostLevel = 4;
};

/// Many points without names on two axes: predictions against truth, samples over the regions of their classes.
struct PointCloud {
  std::string id{};
  std::string title{};
  std::string description{};
  Axis x{}, y{};
  std::vector<BarSeries> groups{};  // the legend; none where there is one
  std::vector<CloudPoint> points{};
  std::optional<Regions> regions{};
  bool diagonal = false;  // the line y = x; both axes then have the same range
  std::string note{};
};

/// A layer of a drawn network.
struct DrawnLayer {
  std::string name{};             // "conv2d"
  std::string detail{};           // "6 of 5x5, pad 2"
  std::string then{};             // what follows without parameters: "relu, dropout"
  std::string shape{};            // "6 x 28 x 28"
  double channels = 1, side = 1;  // of its output, for the size of its block
  std::int64_t parameters = 0;
  std::optional<double> share{};  // of the time, 0 to 1
  bool skipped = false;           // a connection leads around it
  Tone tone = Tone::neutral;      // by its kind
};

/// The layers from input to output as blocks, the larger the more numbers come out of them.
struct NetworkDrawing {
  std::string id{};
  std::string title{};
  std::string description{};
  std::vector<DrawnLayer> layers{};  // the first is the input
  std::string note{};
};

using Chart = std::variant<BarChart, LineChart, ScatterChart, HeatMap, PointCloud, NetworkDrawing>;

}  // namespace lockstep::report
