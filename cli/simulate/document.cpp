#include "cli/simulate/document.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/simulate/units.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/lab/record.hpp"
#include "lockstep/lab/report/cell.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

std::vector<const StudyPoint*> points_of(const std::vector<StudyPoint>& points, ScalingKind scaling,
                                         const std::string& series) {
  std::vector<const StudyPoint*> found;
  for (const StudyPoint& point : points)
    if (point.scaling == scaling && point.series == series) found.push_back(&point);
  return found;
}

/// Whether the weights of a point are those of one node: where batches are the same, and no part of the network apart.
Cell bits_cell(const std::vector<StudyPoint>& points, const StudyPoint& point) {
  const auto one = points_of(points, point.scaling, point.series).front();
  if (point.scaling == ScalingKind::weak || point.step.weight_hash.empty() || !one->left_out.empty()) return {};
  const bool same = point.step.weight_hash == one->step.weight_hash;
  return Cell(same ? "same" : "other").marked(same ? Mark::same : Mark::differs);
}

/// More than the nodes can give, caches aside: the work of one node was measured on a busy machine.
bool is_usable(double gain, int nodes) {
  constexpr double kCaches = 1.25;
  return gain <= kCaches * nodes;
}

Row row_of(const std::vector<StudyPoint>& points, const StudyPoint& point) {
  Row row{.mark = Mark::simulated};
  row.cells = {Cell(point.series), Cell(point.nodes)};
  if (!point.left_out.empty()) {
    row.cells.push_back(Cell().shown("left out"));
    return row;
  }
  const double gain = speedup(points, point), apart = 1 - point.work_seconds() / point.seconds();
  const bool usable = is_usable(gain, point.nodes);
  for (Cell& cell : std::vector<Cell>{Cell(point.seconds()).sampled(point.step.seconds), Cell(point.work_seconds()),
                                      Cell(std::max(0.0, apart)), usable ? Cell(gain) : Cell().shown("not usable"),
                                      usable ? Cell(gain / point.nodes) : Cell().shown("not usable"),
                                      Cell(point.predicted), Cell(point.predicted / point.seconds() - 1),
                                      Cell(point.step.messages), Cell(point.step.bytes), bits_cell(points, point)})
    row.cells.push_back(std::move(cell));
  return row;
}

Table table_of(const Study& study, const std::vector<StudyPoint>& points, ScalingKind scaling) {
  Table table{.id = fmt::format("simulated-{}-scaling", enum_name(scaling)),
              .title = fmt::format("Simulated: {} scaling, a step of training", enum_name(scaling)),
              .columns = {{.title = "Way", .role = report::Role::call_path},
                          {.title = "Nodes", .role = report::Role::parameter},
                          {.title = "Step", .format = seconds(), .key = "step_seconds", .role = report::Role::metric},
                          column("Own work", seconds(), "work_seconds"),
                          column("Rest", percent(), "rest_share"),
                          column("Speed-up", ratio(), "speedup"),
                          column("Efficiency", percent(), "efficiency"),
                          column("Model", seconds(), "model_seconds"),
                          column("Model off by", percent(), "model_error"),
                          column("Messages", prefix(), "messages"),
                          column("Sent", bytes(), "bytes"),
                          column("Weights", {}, "weights")}};
  std::vector<std::string> reasons;
  bool all_usable = true;
  for (const Series& series : study.series)
    for (const StudyPoint* point : points_of(points, scaling, series.name)) {
      table.rows.push_back(row_of(points, *point));
      if (point->left_out.empty()) all_usable = all_usable && is_usable(speedup(points, *point), point->nodes);
      if (!point->left_out.empty())
        reasons.push_back(
            fmt::format("Left out: {} on {}: {}.", point->series, nodes_text(point->nodes), point->left_out));
    }
  table.notes.push_back(
      scaling == ScalingKind::strong
          ? fmt::format("One batch of {} samples in {} slots for all nodes. Weights: whether they are the bits of one "
                        "node after the same steps.",
                        study.plan.batch, study.plan.slots)
          : fmt::format("A batch of {} samples in {} slots for every node. The speed-up counts samples per second.",
                        study.plan.batch, study.plan.slots));
  table.notes.emplace_back(
      "Speed-ups are against one simulated node of the same way. Own work: what the busiest node computes. Rest: "
      "messages and waiting. Model: alpha-beta, without contention and overlap. Messages and bytes are those of all "
      "nodes; inside the sum of mpi they are counted by its algorithm: recursive doubling below 10 kB, else a ring.");
  if (!all_usable)
    table.notes.emplace_back(
        "Not usable: more than the nodes can give. The machine was busy while the work of a node was measured; run it "
        "again.");
  table.notes.insert(table.notes.end(), reasons.begin(), reasons.end());
  return table;
}

LineChart chart_of(const Study& study, const std::vector<StudyPoint>& points, ScalingKind scaling) {
  LineChart chart{.id = fmt::format("simulated-{}-curves", enum_name(scaling)),
                  .title = fmt::format("Simulated {} scaling", enum_name(scaling)),
                  .description = "Speed-up over nodes for each way to share the work, with the ideal line.",
                  .x = {.title = "Nodes", .scale = Scale::log},
                  .y = {.title = "Speed-up against one simulated node", .scale = Scale::log}};
  LineSeries ideal{.name = "ideal", .tone = Tone::neutral, .kind = LineKind::ideal};
  std::vector<int> nodes = study.nodes;
  if (std::find(nodes.begin(), nodes.end(), 1) == nodes.end()) nodes.insert(nodes.begin(), 1);  // always simulated
  for (const int count : nodes) {
    chart.x.ticks.push_back(count);
    ideal.points.push_back({double(count), double(count)});
  }
  for (const Series& series : study.series) {
    LineSeries line{.name = series.name + " (simulated)"}, model{.name = series.name + " (model)"};
    model.kind = LineKind::predicted;
    for (const StudyPoint* point : points_of(points, scaling, series.name)) {
      if (!point->left_out.empty()) continue;
      const double gain = speedup(points, *point);
      line.points.push_back({double(point->nodes), gain});
      model.points.push_back({double(point->nodes), gain * point->seconds() / point->predicted});
    }
    if (line.points.empty()) continue;  // stopped before
    chart.series.push_back(std::move(line));
    if (series.name == "tree") chart.series.push_back(std::move(model));
  }
  chart.series.push_back(std::move(ideal));
  chart.note = "Simulated with SimGrid, not measured. The model is drawn for the tree; the table has it for all.";
  return chart;
}

/// In words: how far each way scales.
std::string verdict(const Study& study, const std::vector<StudyPoint>& points, ScalingKind scaling) {
  std::string text = fmt::format("{} scaling, simulated:", scaling == ScalingKind::strong ? "Strong" : "Weak");
  const char* separator = " ";
  for (const Series& series : study.series) {
    const StudyPoint* best = nullptr;
    for (const StudyPoint* point : points_of(points, scaling, series.name))
      if (point->left_out.empty() && (best == nullptr || speedup(points, *point) > speedup(points, *best)))
        best = point;
    if (best == nullptr) continue;
    const double gain = speedup(points, *best);
    text += is_usable(gain, best->nodes)
                ? fmt::format("{}**{}** is fastest on {}, {:.1f} times one node", separator, series.name,
                              nodes_text(best->nodes), gain)
                : fmt::format("{}**{}** is not usable: the machine was busy while the work of a node was measured",
                              separator, series.name);
    separator = "; ";
  }
  return text + ".";
}

/// Kind "simulation": a point of the study.
struct PointRecord {
  ScalingKind scaling = ScalingKind::strong;
  std::string way{}, network{}, config{};
  std::string left_out{};  // why; empty: it was simulated, and the line has the fields of SimulatedRecord
  int nodes = 1;
  std::int64_t batch = 0, slots = 0;
  double bandwidth = 0, latency = 0;
  static constexpr auto fields() {
    using R = PointRecord;
    return std::make_tuple(field("scaling", &R::scaling), field("way", &R::way), field("network", &R::network),
                           field("config", &R::config), defaulted("left_out", &R::left_out), field("nodes", &R::nodes),
                           field("batch", &R::batch), field("slots", &R::slots), field("bandwidth", &R::bandwidth),
                           field("latency", &R::latency));
  }
};
struct SimulatedRecord {
  double work_seconds = 0, model_seconds = 0, messages = 0, bytes = 0;
  static constexpr auto fields() {
    using R = SimulatedRecord;
    return std::make_tuple(field("work_seconds", &R::work_seconds), field("model_seconds", &R::model_seconds),
                           field("messages", &R::messages), field("bytes", &R::bytes));
  }
};

StudyPoint point_of(const Line<PointRecord>& line) {
  StudyPoint point{
      .scaling = line.scaling, .series = line.way, .nodes = std::max(line.nodes, 0), .left_out = line.left_out};
  if (!point.left_out.empty()) return point;
  if (line.samples.empty()) refuse_field(line, "samples", "is empty");
  const auto record = record_of<SimulatedRecord>(line);
  point.step = {.seconds = line.samples,
                .work_seconds = {record.work_seconds},
                .messages = record.messages,
                .bytes = record.bytes,
                .weight_hash = line.weight_hash};
  point.predicted = record.model_seconds;
  return point;
}

template <class T, class Of>
void add_once(std::vector<T>& list, const T& value, const Of& of) {
  if (std::none_of(list.begin(), list.end(), [&](const T& each) { return of(each) == of(value); }))
    list.push_back(value);
}

struct Found {
  bool any = false, one = false;  // points, and the one on one node: speed-ups are against it
};

/// A study that was stopped has not come to all of them.
Found found(const std::vector<StudyPoint>& points, ScalingKind scaling, const std::string& series) {
  Found result;
  for (const StudyPoint& point : points) {
    if (point.scaling != scaling || point.series != series) continue;
    result.any = true;
    result.one = result.one || (point.nodes == 1 && point.left_out.empty());
  }
  return result;
}

/// "100 Gbit/s"
std::string bandwidth_text(double bytes_per_second) { return fmt::format("{:.4g} Gbit/s", bytes_per_second * 8e-9); }

}  // namespace

Document study_document(const Study& study, const std::vector<StudyPoint>& points, const StudyNames& names) {
  Document document{.title = "Simulated scaling",
                    .subtitle = fmt::format("{} on a {} of {} links, {} each", names.config, names.network,
                                            bandwidth_text(study.cluster.bandwidth), time_text(study.cluster.latency))};
  Section& summary = document.section("Summary");
  summary.add(Notice{
      .kind = Notice::Kind::warning,
      .text = "Every figure here is **simulated**: the trainer's own code ran on a cluster that SimGrid made up, with "
              "the computing times of one core of this machine."});
  for (const ScalingKind scaling : study.scalings) summary.add(Paragraph{verdict(study, points, scaling)});
  for (const ScalingKind scaling : study.scalings)
    document.section(scaling == ScalingKind::strong ? "Strong scaling" : "Weak scaling")
        .add(chart_of(study, points, scaling))
        .add(table_of(study, points, scaling));
  document.section("Method")
      .add(List{
          .items =
              {"One rank with one thread on every node. Work takes the time that one core of this machine needs for "
               "the same section and size, measured before.",
               "Messages share links fairly and take latency + bytes / bandwidth; no other traffic, no noise, no "
               "failures. Sums of the library (mpi) follow Open MPI's choice of algorithm.",
               "A slow network interface, memory bandwidth shared by the cores of a node, and the processor time "
               "that MPI takes for messages are not simulated."}})
      .add(Code{.text = names.command, .title = "To repeat it"});
  return document;
}

Result study_result(const Study& study, const StudyPoint& point, const StudyNames& names, const ResultOrigin& origin) {
  const auto name = [&](int nodes) {
    return fmt::format("{} scaling, {}, {}", enum_name(point.scaling), point.series, nodes_text(nodes));
  };
  Result result = line_of("simulation", name(point.nodes),
                          PointRecord{.scaling = point.scaling,
                                      .way = point.series,
                                      .network = names.network,
                                      .config = names.config,
                                      .left_out = point.left_out,
                                      .nodes = point.nodes,
                                      .batch = study.plan.batch,
                                      .slots = study.plan.slots,
                                      .bandwidth = study.cluster.bandwidth,
                                      .latency = study.cluster.latency});
  result.baseline = name(1);
  result.configuration = study.plan.config;
  result.origin = origin;
  if (!point.left_out.empty()) return result;
  result.samples = point.step.seconds;
  result.weight_hash = point.step.weight_hash;
  put_record(SimulatedRecord{point.work_seconds(), point.predicted, point.step.messages, point.step.bytes}, result);
  return result;
}

report::Document simulation_document(std::span<const Result> results) {
  Study study;
  StudyNames names;
  std::vector<StudyPoint> points;
  for (const auto& line : lines_of<PointRecord>(results, "simulation")) {
    const StudyPoint& point = points.emplace_back(point_of(line));
    names = {line.config, line.network, line.origin.command};
    study.plan.batch = line.batch;
    study.plan.slots = line.slots;
    study.cluster.bandwidth = line.bandwidth;
    study.cluster.latency = line.latency;
    const auto itself = [](const auto& value) { return value; };
    add_once(study.nodes, point.nodes, itself);
    add_once(study.scalings, point.scaling, itself);
    add_once(study.series, Series{.name = point.series}, [](const Series& series) { return series.name; });
  }
  for (const ScalingKind scaling : study.scalings)
    for (const Series& series : study.series)
      if (const auto [any, one] = found(points, scaling, series.name); any && !one)
        throw Error(ErrorCode::data, fmt::format("the simulations of {} scaling, {} lack the one on 1 node",
                                                 enum_name(scaling), series.name));
  return study_document(study, points, names);
}

}  // namespace lockstep::cli
