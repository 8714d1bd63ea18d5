#include "cli/simulate/real_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/captured.hpp"
#include "cli/mpirun.hpp"
#include "cli/rank_session.hpp"
#include "cli/simulate/cluster_run.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/simulate/calibrate.hpp"
#include "lockstep/simulate/step_program.hpp"

namespace lockstep::cli {

namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr double kExchangeBytes[] = {64, 1024, 4096, 16384, 65536, 262144, 1048576};
constexpr int kExchangeRounds = 101;

// Work, messages and steps are measured in turns: whatever else this machine does, it does to all of them.
constexpr int kRounds = 11;
constexpr double kRoundSeconds = 0.05;  // for each size of chunk

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

/// Ranks 0 and 1, 2 and 3, ...: all pairs at once, as in a reduction. The last of an odd number has nobody.
std::vector<ExchangeTime> measure_exchanges(Ranks& ranks) {
  std::vector<ExchangeTime> times;
  const int partner = ranks.rank() ^ 1;
  for (const double bytes : kExchangeBytes) {
    std::vector<std::byte> out(static_cast<std::size_t>(bytes)), in(out.size());
    std::vector<double> seconds;
    ranks.barrier("measurement");
    for (int round = 0; partner < ranks.size() && round < kExchangeRounds; ++round) {
      const double start = now();
      ranks.send(partner, out);
      ranks.receive(partner, in);
      ranks.wait("measurement");
      seconds.push_back(now() - start);
    }
    if (!seconds.empty()) times.push_back({bytes, median(seconds)});
  }
  return times;
}

std::string read_text(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path, std::int64_t{1} << 28, ExitCode::usage);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

double mean(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
}

/// Seconds of a step, the mean over some of the slowest rank's.
double measure_steps(const StepPlan& plan, const Dataset& samples, Ranks& ranks, std::string& hash) {
  const StepTimes own = run_steps(plan, samples, ranks, {.seconds = now});
  hash = own.weight_hash;
  std::vector<StepTimes> all;
  for (const std::string& text : ranks.all_gather(json(own.ends).dump(), "measurement"))
    all.push_back({.ends = json::parse(text).get<std::vector<double>>()});
  return mean(step_seconds(all));
}

void run_rank(Ranks& ranks, const std::string& plan_file, const std::string& result_file) {
  const StepPlan plan = parse_plan(read_text(plan_file));
  const auto samples = make_step_samples(plan);
  std::vector<std::vector<ExchangeTime>> exchanges;
  std::vector<SectionRates> rates;
  std::vector<double> seconds;
  std::string hash;
  for (int round = 0; round < kRounds; ++round) {
    exchanges.push_back(measure_exchanges(ranks));
    ranks.barrier("measurement");
    rates.push_back(measure_rates(plan, {.seconds = kRoundSeconds, .least = 1, .mean = true}));
    ranks.barrier("measurement");
    seconds.push_back(measure_steps(plan, *samples, ranks, hash));
  }
  if (!ranks.leader()) return;
  json list = json::array();
  for (std::size_t size = 0; size < exchanges.front().size(); ++size) {
    std::vector<double> times;
    for (const auto& round : exchanges) times.push_back(round[size].seconds);
    list.push_back({exchanges.front()[size].bytes, median(times)});
  }
  write_file_atomically(result_file, json{{"step_seconds", seconds},
                                          {"exchanges", list},
                                          {"rates", rates_json(median_rates(rates))},
                                          {"weight_hash", hash},
                                          {"library", ranks.transport().describe()}}
                                         .dump());
}

}  // namespace

void run_real_rank(const std::string& plan_file, const std::string& result_file, Console& console) {
  run_as_rank([&](Ranks& ranks) { run_rank(ranks, plan_file, result_file); },
              [&](const std::string& message) { console.fail(fmt::format("lockstep: {}", one_line(message))); });
}

RealSteps measure_real_steps(const StepPlan& plan, int ranks, const LaunchArguments& launch, double timeout) {
  const TemporaryFolder folder;
  const std::string plan_file = folder.file("plan.json").string(), result = folder.file("result.json").string();
  write_file_atomically(plan_file, plan_json(plan));
  LaunchArguments arguments = launch;
  arguments.command = {"simulate", "plan", "--plan", plan_file, "--result", result};
  const std::vector<Host> hosts = launch.hosts.empty() ? std::vector<Host>{} : read_hosts(launch.hosts);
  const StartCommand start = start_command(find_mpirun(launch.mpi), arguments, ranks, hosts, false, "simulate");
  const Captured done =
      run_captured(start.words, {.patience = milliseconds_of(timeout), .environment = start.environment});
  if (!done.ok() || !std::filesystem::exists(result))
    throw Error(ExitCode::resources, done.timed_out
                                         ? fmt::format("{} real ranks were not done within {:.0f} s", ranks, timeout)
                                         : fmt::format("{} real ranks failed: {}", ranks, done.reason()));
  const json value = json::parse(read_text(result));
  RealSteps real{.seconds = value.at("step_seconds").get<std::vector<double>>(),
                 .rates = parse_rates(value.at("rates").get<std::string>()),
                 .weight_hash = value.at("weight_hash").get<std::string>(),
                 .library = value.at("library").get<std::string>()};
  for (const json& each : value.at("exchanges")) real.exchanges.push_back({each.at(0), each.at(1)});
  return real;
}

}  // namespace lockstep::cli
