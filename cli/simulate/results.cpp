#include "cli/simulate/results.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/simulate/units.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/lab/record.hpp"

namespace lockstep::cli {

namespace {

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

}  // namespace

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
        throw Error(ExitCode::data, fmt::format("the simulations of {} scaling, {} lack the one on 1 node",
                                                enum_name(scaling), series.name));
  return study_document(study, points, names);
}

}  // namespace lockstep::cli
