#include "cli/simulate/results.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/simulate/units.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

constexpr const char* kScalings[] = {"strong", "weak"};

double need(const Result& result, const char* key) {
  if (const auto number = result.number(key)) return *number;
  throw Error(ExitCode::data, fmt::format("the simulation {} has no {}", result.name, key));
}

/// Results come from files, and may claim anything.
int need_count(const Result& result, const char* key) {
  return static_cast<int>(std::clamp(need(result, key), 0.0, 1e9));
}

StudyPoint point_of(const Result& result) {
  StudyPoint point{.scaling = result.word("scaling") == "weak" ? ScalingKind::weak : ScalingKind::strong,
                   .series = result.word("way"),
                   .nodes = need_count(result, "nodes"),
                   .left_out = result.word("left_out")};
  if (!point.left_out.empty()) return point;
  if (result.samples.empty()) throw Error(ExitCode::data, fmt::format("the simulation {} has no times", result.name));
  point.step = {.seconds = result.samples,
                .work_seconds = {need(result, "work_seconds")},
                .messages = need(result, "messages"),
                .bytes = need(result, "bytes"),
                .weight_hash = result.weight_hash};
  point.predicted = need(result, "model_seconds");
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
  const char* scaling = kScalings[static_cast<std::size_t>(point.scaling)];
  Result result;
  result.kind = "simulation";
  result.name = fmt::format("{} scaling, {}, {}", scaling, point.series, nodes_text(point.nodes));
  result.baseline = fmt::format("{} scaling, {}, {}", scaling, point.series, nodes_text(1));
  result.configuration = study.plan.config;
  result.origin = origin;
  result.words = {{"scaling", scaling}, {"way", point.series}, {"network", names.network}, {"config", names.config}};
  result.numbers = {{"nodes", point.nodes},
                    {"batch", double(study.plan.batch)},
                    {"slots", double(study.plan.slots)},
                    {"bandwidth", study.cluster.bandwidth},
                    {"latency", study.cluster.latency}};
  if (!point.left_out.empty()) {
    result.words["left_out"] = point.left_out;
    return result;
  }
  result.samples = point.step.seconds;
  result.weight_hash = point.step.weight_hash;
  result.numbers["work_seconds"] = point.work_seconds();
  result.numbers["model_seconds"] = point.predicted;
  result.numbers["messages"] = point.step.messages;
  result.numbers["bytes"] = point.step.bytes;
  return result;
}

report::Document simulation_document(std::span<const Result> results) {
  Study study;
  StudyNames names;
  std::vector<StudyPoint> points;
  for (const Result& result : results) {
    if (result.kind != "simulation") continue;
    const StudyPoint& point = points.emplace_back(point_of(result));
    names = {result.word("config"), result.word("network"), result.origin.command};
    study.plan.batch = need_count(result, "batch");
    study.plan.slots = need_count(result, "slots");
    study.cluster.bandwidth = need(result, "bandwidth");
    study.cluster.latency = need(result, "latency");
    const auto itself = [](const auto& value) { return value; };
    add_once(study.nodes, point.nodes, itself);
    add_once(study.scalings, point.scaling, itself);
    add_once(study.series, Series{.name = point.series}, [](const Series& series) { return series.name; });
  }
  for (const ScalingKind scaling : study.scalings)
    for (const Series& series : study.series)
      if (const auto [any, one] = found(points, scaling, series.name); any && !one)
        throw Error(ExitCode::data, fmt::format("the simulations of {} scaling, {} lack the one on 1 node",
                                                kScalings[static_cast<std::size_t>(scaling)], series.name));
  return study_document(study, points, names);
}

}  // namespace lockstep::cli
