#include "cli/simulate/study.hpp"

#include <algorithm>
#include <bit>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/distribute/stage.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/simulate/calibrate.hpp"
#include "lockstep/simulate/predict.hpp"

namespace lockstep::cli {

namespace {

/// What may be taken without anybody else having to give way; 0 where the system does not say.
double available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  for (double kilobytes = 0; file >> word;)
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  return 0;
}

/// The largest power of two up to `most` that divides the nodes.
int parts_of(int nodes, int most) {
  int parts = 1;
  while (parts * 2 <= most && nodes % (parts * 2) == 0) parts *= 2;
  return parts;
}

int layer_count(const StepPlan& plan) {
  const RunConfig config = config_of(plan);
  return static_cast<int>(body_of(make_network(config), config.train.loss).size());
}

/// Why it cannot be; empty: it can.
std::string obstacle(const StudyPoint& point, const Series& series) {
  if (point.nodes > 1 && (series.tensor || series.pipeline) &&
      point.plan.parallel.tensor * point.plan.parallel.pipeline == 1)
    return "the nodes cannot be grouped so";
  const double needed = bytes_per_rank(point.plan, point.nodes) * point.nodes, there = available_bytes();
  if (there > 0 && needed > 0.8 * there)
    return fmt::format("needs about {:.1f} GB of memory, {:.1f} GB are free", needed * 1e-9, there * 1e-9);
  return "";
}

/// Those of the most ranks up to `split`.
const SectionRates& rates_of(const StudyRates& rates, int split) { return std::prev(rates.upper_bound(split))->second; }

}  // namespace

const std::vector<Series>& all_series() {
  static const std::vector<Series> list = {{"tree", RankReduction::tree},
                                           {"gather", RankReduction::gather},
                                           {"mpi", RankReduction::library},
                                           {"tensor", RankReduction::tree, true, false},
                                           {"pipeline", RankReduction::tree, false, true}};
  return list;
}

double StudyPoint::work_seconds() const {
  return *std::max_element(step.work_seconds.begin(), step.work_seconds.end());
}

StepPlan plan_on(const Study& study, ScalingKind scaling, const Series& series, int nodes) {
  StepPlan plan = study.plan;
  plan.parallel = {.reduce = series.reduce, .schedule = study.plan.parallel.schedule};
  if (scaling == ScalingKind::weak) {
    const auto grown = static_cast<std::int64_t>(std::bit_ceil(static_cast<unsigned>(nodes)));
    plan.batch *= nodes;
    plan.slots = std::min(kMaxSlots, plan.slots * grown);
  }
  if (series.tensor) plan.parallel.tensor = parts_of(nodes, study.parts);
  if (series.pipeline) plan.parallel.pipeline = parts_of(nodes, std::min(study.parts, layer_count(plan)));
  return plan;
}

StudyRates parse_study_rates(const std::string& text) {
  const auto value = nlohmann::json::parse(text, nullptr, false);
  if (!value.is_object()) throw Error(ErrorCode::usage, "these are no rates");
  if (value.contains("sections")) return {{1, parse_rates(text)}};
  StudyRates rates;
  for (const auto& [split, each] : value.items()) rates.emplace(std::atoi(split.c_str()), parse_rates(each.dump()));
  if (rates.empty() || rates.begin()->first != 1)
    throw Error(ErrorCode::usage, "these are no rates: those of whole layers are missing");
  return rates;
}

std::string study_rates_json(const StudyRates& rates) {
  nlohmann::json value;
  for (const auto& [split, each] : rates) value[std::to_string(split)] = nlohmann::json::parse(rates_json(each));
  return value.dump();
}

StudyRates measure_study_rates(const Study& study) {
  StudyRates rates;
  for (const Series& series : study.series)
    for (const int count : study.nodes) {
      StepPlan plan = study.plan;
      plan.parallel = {.tensor = series.tensor ? parts_of(count, study.parts) : 1};
      if (!rates.contains(plan.parallel.tensor)) rates[plan.parallel.tensor] = measure_rates(plan);
    }
  StepPlan whole = study.plan;
  whole.parallel = {};
  if (!rates.contains(1)) rates[1] = measure_rates(whole);
  return rates;
}

std::vector<StudyPoint> run_study(const Study& study, const Simulator& simulator, const StudyRates& rates,
                                  const StudyListener& listener) {
  std::vector<int> nodes = study.nodes;
  if (nodes.front() != 1) nodes.insert(nodes.begin(), 1);
  std::vector<StudyPoint> points;
  SimulatedStep alone;  // on one node nothing is shared: the same for all series and both scalings
  const auto simulate = [&](StudyPoint& point) {
    if (point.nodes == 1 && !alone.seconds.empty()) {
      point.step = alone;
    } else {
      listener.begins(point);
      point.step = simulate_step(simulator, point.plan, {rates_of(rates, point.plan.parallel.tensor)},
                                 {.cluster = study.cluster, .nodes = point.nodes, .timeout = study.timeout});
    }
    if (point.nodes == 1) alone = point.step;
    const AlphaBeta network{.alpha = longest_route(study.cluster.topology, point.nodes) * study.cluster.latency,
                            .beta = 1 / study.cluster.bandwidth};
    point.predicted = predict_step(point.plan, network, point.step.work_seconds);
  };
  for (const ScalingKind scaling : study.scalings)
    for (const Series& series : study.series) {
      std::string ended;
      for (const int count : nodes) {
        StudyPoint point{
            .scaling = scaling, .series = series.name, .nodes = count, .plan = plan_on(study, scaling, series, count)};
        point.left_out = ended.empty() ? obstacle(point, series) : ended;
        try {
          if (point.left_out.empty()) simulate(point);
        } catch (const Error& error) {
          if (error.code() != ErrorCode::resources) throw;
          point.left_out = ended = error.what();
        }
        listener.ends(point);
        points.push_back(std::move(point));
      }
    }
  return points;
}

double speedup(const std::vector<StudyPoint>& points, const StudyPoint& point) {
  const auto first = std::find_if(points.begin(), points.end(), [&](const StudyPoint& each) {
    return each.scaling == point.scaling && each.series == point.series && each.nodes == 1;
  });
  const double ratio = first->seconds() / point.seconds();
  return point.scaling == ScalingKind::weak ? ratio * point.nodes : ratio;
}

}  // namespace lockstep::cli
