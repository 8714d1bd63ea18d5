#include "cli/simulate/cluster_run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/process/captured.hpp"
#include "cli/process/stop_signal.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/plugin.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

/// What the model is: a message takes the latency of its way and its bytes over the bandwidth of the slowest link,
/// shared fairly; nothing is added for acknowledgements, protocols or windows. Collectives are those of Open MPI.
const std::vector<std::string>& settings() {
  static const std::vector<std::string> list = {"smpi/coll-selector:ompi",
                                                "smpi/simulate-computation:no",
                                                "smpi/privatization:no",
                                                "smpi/display-timing:no",
                                                "smpi/bw-factor:0:1.0",
                                                "smpi/lat-factor:0:1.0",
                                                "smpi/wtime:0",
                                                "smpi/test:0",
                                                "smpi/init:0",
                                                "network/crosstraffic:0",
                                                "network/TCP-gamma:0",
                                                "contexts/stack-size:1024",
                                                "log=root.thres:critical"};
  return list;
}

SimulatedStep parse_result(const std::string& text) {
  const auto json = nlohmann::json::parse(text);
  if (json.contains("error"))
    throw Error(static_cast<ErrorCode>(json.at("code").get<int>()), json.at("error").get<std::string>());
  return {.seconds = json.at("step_seconds").get<std::vector<double>>(),
          .mean_seconds = json.at("mean_seconds").get<double>(),
          .work_seconds = json.at("work_seconds").get<std::vector<double>>(),
          .messages = json.at("messages").get<double>(),
          .bytes = json.at("bytes").get<double>(),
          .weight_hash = json.at("weight_hash").get<std::string>()};
}

}  // namespace

Simulator find_simulator() {
  const std::optional<std::string> smpirun = find_program("smpirun");
  if (!smpirun)
    throw Error(
        ErrorCode::usage,
        "simulate needs SimGrid, whose smpirun is not here: sudo apt-get install libsimgrid-dev, and build again");
  if (const fs::path driver = find_plugin("lockstep_smpi.so"); !driver.empty())
    return {*smpirun, fs::absolute(driver).string()};
  throw Error(ErrorCode::usage,
              "this build of Lockstep has no part for SimGrid: sudo apt-get install libsimgrid-dev, and build again");
}

SimulatedStep simulate_step(const Simulator& simulator, const StepPlan& plan, const std::vector<SectionRates>& rates,
                            const ClusterRun& run) {
  const TemporaryFolder folder("simulate");
  const fs::path result = folder.file("result.json");
  write_file_atomically(folder.file("platform.xml"), platform_xml(run.cluster, run.nodes));
  write_file_atomically(folder.file("hosts"), run.model.empty() ? host_file(run.nodes) : host_file(run.model.host));
  write_file_atomically(folder.file("plan.json"), plan_json(plan));
  write_file_atomically(folder.file("rates.json"), rank_rates_json(rates));
  write_file_atomically(folder.file("model.json"), model_json(run.model));
  std::vector<std::string> words = {simulator.smpirun,
                                    "-np",
                                    std::to_string(run.nodes),
                                    "-platform",
                                    folder.file("platform.xml").string(),
                                    "-hostfile",
                                    folder.file("hosts").string()};
  for (const auto& list : {settings(), run.more})
    for (const std::string& setting : list) words.push_back((setting.starts_with("log") ? "--" : "--cfg=") + setting);
  words.push_back(simulator.driver);
  for (const char* name : {"plan.json", "rates.json", "model.json"}) words.push_back(folder.file(name).string());
  words.push_back(result.string());
  // smpirun leaves its own files where TMPDIR says when it is killed.
  const Captured done = run_captured(words, {.patience = milliseconds_of(run.timeout),
                                             .environment = {{"TMPDIR", folder.path().string()}},
                                             .stopped = stop_requested});
  if (done.stopped) throw Error(ErrorCode::preempted, "stopped by a signal");
  if (fs::exists(result)) return parse_result(read_text(result, std::int64_t{1} << 28, ErrorCode::bug));
  if (done.timed_out)
    throw Error(ErrorCode::resources,
                fmt::format("{} nodes were not simulated within {:.0f} s; a longer --timeout or fewer --nodes help",
                            run.nodes, run.timeout));
  throw Error(ErrorCode::bug, fmt::format("{} failed on {} nodes: {}", simulator.smpirun, run.nodes, done.reason()));
}

}  // namespace lockstep::cli
