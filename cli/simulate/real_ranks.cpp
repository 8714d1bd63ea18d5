#include "cli/simulate/real_ranks.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/process/stop_signal.hpp"
#include "cli/process/tools.hpp"
#include "cli/simulate/rank_measurements.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/run/rank_session.hpp"
#include "lockstep/simulate/step_program.hpp"

namespace lockstep::cli {

namespace {

using nlohmann::json;

// Work, messages and steps are measured in turns: whatever else this machine does, it does to all of them.
constexpr int kRounds = 11;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 28;  // of a plan or a result

/// Seconds of a step.
double measure_steps(const StepPlan& plan, const Dataset& samples, Ranks& ranks) {
  const StepTimes own = run_steps(plan, samples, ranks, {.seconds = steady_seconds});
  std::vector<StepTimes> all;
  for (const std::string& text : ranks.all_gather(json(own.ends).dump(), "measurement"))
    all.push_back({.ends = json::parse(text).get<std::vector<double>>()});
  return mean_step_seconds(all);
}

void run_rank(Ranks& ranks, const std::string& plan_file, const std::string& result_file) {
  const StepPlan plan = parse_plan(read_text(plan_file, kMaxBytes, ErrorCode::usage));
  const auto samples = make_step_samples(plan);
  const MachineModel place = locate_ranks(ranks);
  bind_to_core(ranks, place);
  std::vector<MachineModel> models;
  std::vector<std::vector<SectionRates>> work(static_cast<std::size_t>(ranks.size()));  // by rank and round
  std::vector<double> seconds;
  const StepPlan brief = simulated_part(plan);
  const std::string hash = run_steps(brief, *make_step_samples(brief), ranks, {.seconds = steady_seconds}).weight_hash;
  for (int round = 0; round < kRounds; ++round) {
    MachineModel& model = models.emplace_back(place);
    measure_messages(ranks, model);
    measure_naps(ranks, model);
    const std::vector<SectionRates> rates = measure_work(ranks, place, plan, *samples);
    for (std::size_t rank = 0; rank < rates.size(); ++rank) work[rank].push_back(rates[rank]);
    seconds.push_back(measure_steps(plan, *samples, ranks));
  }
  if (!ranks.leader()) return;
  std::vector<SectionRates> rates;
  for (const auto& rounds : work) rates.push_back(median_rates(rounds));
  write_file_atomically(result_file, json{{"step_seconds", seconds},
                                          {"model", model_json(median_model(models))},
                                          {"rates", rank_rates_json(rates)},
                                          {"weight_hash", hash},
                                          {"library", ranks.transport().describe()}}
                                         .dump());
}

}  // namespace

void run_real_rank(const std::string& plan_file, const std::string& result_file, Console& console) {
  run_as_rank([&](Ranks& ranks) { run_rank(ranks, plan_file, result_file); },
              [&](const std::string& message) { console.fail(fmt::format("lockstep: {}", one_line(message))); });
}

StepPlan simulated_part(StepPlan plan) {
  plan.steps = std::min(plan.steps, 3);
  return plan;
}

RealSteps measure_real_steps(const StepPlan& plan, int ranks, const MpirunOptions& launch, double timeout) {
  const TemporaryFolder folder("simulate");
  const std::string plan_file = folder.file("plan.json").string(), result = folder.file("result.json").string();
  write_file_atomically(plan_file, plan_json(plan));
  MpirunOptions arguments = launch;
  arguments.command = {"simulate", "plan", "--plan", plan_file, "--result", result};
  const Captured done =
      run_on_ranks(ranks, arguments, "simulate", {.patience = milliseconds_of(timeout), .stopped = stop_requested});
  if (done.stopped) throw Error(ErrorCode::preempted, "stopped by a signal");
  if (!done.ok() || !std::filesystem::exists(result))
    throw Error(ErrorCode::resources, done.timed_out
                                          ? fmt::format("{} real ranks were not done within {:.0f} s", ranks, timeout)
                                          : fmt::format("{} real ranks failed: {}", ranks, done.reason()));
  const json value = json::parse(read_text(result, kMaxBytes, ErrorCode::usage));
  return {.seconds = value.at("step_seconds").get<std::vector<double>>(),
          .model = parse_model(value.at("model").get<std::string>()),
          .rates = parse_rank_rates(value.at("rates").get<std::string>()),
          .weight_hash = value.at("weight_hash").get<std::string>(),
          .library = value.at("library").get<std::string>()};
}

}  // namespace lockstep::cli
