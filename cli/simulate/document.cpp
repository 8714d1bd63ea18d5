#include "cli/simulate/document.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/simulate/units.hpp"
#include "lockstep/lab/report/cell.hpp"

namespace lockstep::cli {

namespace {

using report::Cell;
using report::Mark;

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

report::Row row_of(const std::vector<StudyPoint>& points, const StudyPoint& point) {
  report::Row row{.mark = Mark::simulated};
  row.cells = {Cell(point.series), Cell(point.nodes)};
  if (!point.left_out.empty()) {
    row.cells.push_back(Cell().shown("left out"));
    return row;
  }
  const double gain = speedup(points, point), apart = 1 - point.work_seconds() / point.seconds();
  for (Cell& cell : std::vector<Cell>{Cell(point.seconds()).sampled(point.step.seconds), Cell(point.work_seconds()),
                                      Cell(std::max(0.0, apart)), Cell(gain), Cell(gain / point.nodes),
                                      Cell(point.predicted), Cell(point.predicted / point.seconds() - 1),
                                      Cell(point.step.messages), Cell(point.step.bytes), bits_cell(points, point)})
    row.cells.push_back(std::move(cell));
  return row;
}

report::Table table_of(const Study& study, const std::vector<StudyPoint>& points, ScalingKind scaling) {
  using namespace report;
  Table table{.id = fmt::format("simulated-{}-scaling", enum_name(scaling)),
              .title = fmt::format("Simulated: {} scaling, a step of training", enum_name(scaling)),
              .columns = {{.title = "Way", .role = report::Role::call_path},
                          {.title = "Nodes", .role = report::Role::parameter},
                          {.title = "Step", .format = seconds(), .key = "step_seconds", .role = report::Role::metric},
                          {.title = "Own work", .format = seconds(), .key = "work_seconds"},
                          {.title = "Rest", .format = percent(), .key = "rest_share"},
                          {.title = "Speed-up", .format = ratio(), .key = "speedup"},
                          {.title = "Efficiency", .format = percent(), .key = "efficiency"},
                          {.title = "Model", .format = seconds(), .key = "model_seconds"},
                          {.title = "Model off by", .format = percent(), .key = "model_error"},
                          {.title = "Messages", .format = prefix(), .key = "messages"},
                          {.title = "Sent", .format = bytes(), .key = "bytes"},
                          {.title = "Weights", .key = "weights"}}};
  std::vector<std::string> reasons;
  for (const Series& series : study.series)
    for (const StudyPoint* point : points_of(points, scaling, series.name)) {
      table.rows.push_back(row_of(points, *point));
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
      "messages "
      "and waiting. Model: alpha-beta, without contention and overlap. Messages and bytes are those of all nodes; "
      "inside "
      "the sum of mpi they are counted by its algorithm: recursive doubling below 10 kB, else a ring.");
  table.notes.insert(table.notes.end(), reasons.begin(), reasons.end());
  return table;
}

report::LineChart chart_of(const Study& study, const std::vector<StudyPoint>& points, ScalingKind scaling) {
  using namespace report;
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
    text += fmt::format("{}**{}** is fastest on {}, {:.1f} times one node", separator, series.name,
                        nodes_text(best->nodes), speedup(points, *best));
    separator = "; ";
  }
  return text + ".";
}

}  // namespace

std::string bandwidth_text(double bytes_per_second) { return fmt::format("{:.4g} Gbit/s", bytes_per_second * 8e-9); }

report::Document study_document(const Study& study, const std::vector<StudyPoint>& points, const StudyNames& names) {
  report::Document document{
      .title = "Simulated scaling",
      .subtitle = fmt::format("{} on a {} of {} links, {} each", names.config, names.network,
                              bandwidth_text(study.cluster.bandwidth), time_text(study.cluster.latency))};
  report::Section& summary = document.section("Summary");
  summary.add(report::Notice{
      .kind = report::Notice::Kind::warning,
      .text = "Every figure here is **simulated**: the trainer's own code ran on a cluster that SimGrid made up, with "
              "the computing times of one core of this machine."});
  for (const ScalingKind scaling : study.scalings) summary.add(report::Paragraph{verdict(study, points, scaling)});
  for (const ScalingKind scaling : study.scalings)
    document.section(scaling == ScalingKind::strong ? "Strong scaling" : "Weak scaling")
        .add(chart_of(study, points, scaling))
        .add(table_of(study, points, scaling));
  document.section("Method")
      .add(report::List{
          .items =
              {"One rank with one thread on every node. Work takes the time that one core of this machine needs for "
               "the same section and size, measured before.",
               "Messages share links fairly and take latency + bytes / bandwidth; no other traffic, no noise, no "
               "failures. Sums of the library (mpi) follow Open MPI's choice of algorithm.",
               "A slow network interface, memory bandwidth shared by the cores of a node, and the processor time "
               "that MPI takes for messages are not simulated."}})
      .add(report::Code{.text = names.command, .title = "To repeat it"});
  return document;
}

}  // namespace lockstep::cli
