// lockstep sweep CONFIG.toml --grid key=a,b,c --grid key=...: trains every combination, several at a time, each in a
// run directory of its own below --out, and ends with one table. Started again, it goes on: finished runs are not
// repeated.

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.hpp"
#include "cli/output/json.hpp"
#include "cli/process/captured.hpp"
#include "cli/process/stop_signal.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/report/write.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/run/compare.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/output_folder.hpp"

namespace lockstep::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostRuns = 10'000;

struct SweepArguments {
  std::string config{}, out{};
  std::vector<std::string> set{}, grid{};
  int runs = 1, threads = 0;
  Backend backend = Backend::simd;
};

/// One combination: its changes of the configuration, and its folder.
struct SweepRun {
  std::vector<std::string> set{};
  fs::path folder{};
};

/// "a,[1, 2],c" at the commas outside of brackets and quotes.
std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> values(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted)
      values.emplace_back();
    else
      values.back() += c;
  }
  return values;
}

/// Every combination of the grids, the last one running fastest.
std::vector<std::vector<std::string>> combinations(const std::vector<std::string>& grids) {
  std::vector<std::vector<std::string>> all(1);
  for (const std::string& grid : grids) {
    const std::size_t equals = grid.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == grid.size())
      throw Error(ErrorCode::usage, fmt::format("--grid {}: write --grid section.key=value,value, for example --grid "
                                                "train.optimizer.lr=1e-3,3e-3",
                                                one_line(grid)));
    const std::string key = grid.substr(0, equals);
    std::vector<std::vector<std::string>> more;
    for (const auto& before : all)
      for (const std::string& value : split_values(grid.substr(equals + 1))) {
        more.push_back(before);
        more.back().push_back(fmt::format("{}={}", key, value));
      }
    all = std::move(more);
    if (all.size() > kMostRuns)
      throw Error(ErrorCode::usage, fmt::format("the grid has more than {} combinations", kMostRuns));
  }
  return all;
}

bool is_finished(const fs::path& folder) {
  const fs::path file = folder / kStatusFile;
  if (!fs::exists(file)) return false;
  const Json status = Json::parse(read_text(file, 1 << 20), nullptr, false);
  return status.is_object() && status.value("state", "") == "finished";
}

/// The folder's run must be that of this combination: a sweep with another grid belongs elsewhere.
void check_same(const SweepRun& run, const SweepArguments& arguments) {
  const fs::path file = run.folder / kConfigFile;
  if (!fs::exists(file)) return;
  std::vector<std::string> set = arguments.set;
  set.insert(set.end(), run.set.begin(), run.set.end());
  const std::string wanted = resolved_toml(load_config(arguments.config, set));
  if (const auto difference = find_difference(read_text(file, 1 << 20), wanted))
    throw Error(ErrorCode::usage,
                fmt::format("{} holds a run with {} = {}, not {}; give another --out", one_line(run.folder.string()),
                            difference->key, difference->first, difference->second));
}

class Sweep {
 public:
  Sweep(const SweepArguments& arguments, Console& console) : arguments_(arguments), console_(console) {
    const fs::path out = arguments.out.empty()
                             ? fs::path("runs") / (fs::path(arguments.config).stem().string() + "-sweep")
                             : fs::path(arguments.out);
    const auto all = combinations(arguments.grid);
    const std::size_t digits = std::to_string(all.size()).size();
    for (std::size_t i = 0; i < all.size(); ++i) runs_.push_back({all[i], out / fmt::format("{:0{}}", i + 1, digits)});
    for (const SweepRun& run : runs_) {
      std::vector<std::string> set = arguments.set;
      set.insert(set.end(), run.set.begin(), run.set.end());
      static_cast<void>(load_config(arguments.config, set));  // refuses before anything is trained
      check_same(run, arguments);
    }
    make_output_folder(out);
  }

  void run() {
    catch_stop_signals();
    std::vector<std::thread> workers;
    for (int i = 0; i < std::min(arguments_.runs, static_cast<int>(runs_.size())); ++i)
      workers.emplace_back([this] { work(); });
    for (std::thread& worker : workers) worker.join();
    if (stop_requested())
      throw Error(ErrorCode::preempted, "stopped by a signal, and the runs are saved; the same command goes on");
    std::vector<fs::path> finished;
    for (const SweepRun& run : runs_)
      if (is_finished(run.folder)) finished.push_back(run.folder);
    if (finished.empty()) throw Error(ErrorCode::usage, fmt::format("no run finished; the first: {}", first_failure_));
    const Comparison comparison = compare_runs(finished);
    const report::Document document = comparison_document(comparison);
    console_.print(console_.json() ? report::tables_json(document) : report::to_text(document));
    if (const auto best = comparison.best(); best && !console_.json())
      console_.print(fmt::format("\nbest: {}\n", one_line(finished[*best].string())));
    if (finished.size() < runs_.size())
      throw Error(failure_, fmt::format("{} of {} did not finish; the first: {}", runs_.size() - finished.size(),
                                        count_of(std::ssize(runs_), "run"), first_failure_));
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < runs_.size() && !stop_requested(); i = next_++) train(i);
  }

  std::vector<std::string> command_of(const SweepRun& run) const {
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int threads = arguments_.threads > 0 ? arguments_.threads : std::max(1, cores / arguments_.runs);
    std::vector<std::string> words = {own_program(),
                                      "train",
                                      arguments_.config,
                                      "--out",
                                      run.folder.string(),
                                      "--quiet",
                                      "--json",
                                      "--threads",
                                      std::to_string(threads),
                                      "--backend",
                                      backend_names()[static_cast<std::size_t>(arguments_.backend)]};
    for (const auto* changes : {&arguments_.set, &run.set})
      for (const std::string& change : *changes) words.insert(words.end(), {"--set", change});
    if (fs::exists(run.folder)) words.emplace_back("--resume");
    return words;
  }

  void train(std::size_t index) {
    const SweepRun& run = runs_[index];
    const std::string name = fmt::format("{}/{} {}", index + 1, runs_.size(), fmt::join(run.set, " "));
    if (is_finished(run.folder)) return say(fmt::format("{}: finished before", name));
    const Captured done =
        run_captured(command_of(run), {.patience = std::chrono::hours(24 * 365), .stopped = stop_requested});
    if (done.ok()) return say(fmt::format("{}: done", name));
    const std::lock_guard lock(mutex_);
    if (first_failure_.empty()) {
      first_failure_ = done.reason();
      failure_ = done.code >= 2 && done.code <= 10 ? static_cast<ErrorCode>(done.code) : ErrorCode::usage;
    }
    console_.note(fmt::format("{}: {}", one_line(name), one_line(done.reason())));
  }

  void say(const std::string& line) {
    const std::lock_guard lock(mutex_);
    console_.note(one_line(line));
  }

  const SweepArguments& arguments_;
  Console& console_;
  std::vector<SweepRun> runs_{};
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_{};
  std::string first_failure_{};
  ErrorCode failure_ = ErrorCode::usage;
};

}  // namespace

RunCommand sweep_command(Options& options) {
  const auto arguments = std::make_shared<SweepArguments>();
  options.examples(R"(Examples:
  lockstep sweep my.toml --grid train.optimizer.lr=1e-3,3e-3 --grid train.batch=32,64 --runs 2
  lockstep sweep my.toml --grid 'model.layers=[{linear = 10}],["relu", {linear = 10}]' --out runs/shapes

Every combination is a run of its own below --out. Started again, finished runs are kept and others go on.)");
  options.argument("config", arguments->config, {"CONFIG.toml", "The configuration"});
  options.texts("--grid", arguments->grid,
                {"KEY=A,B,...", "Values of a key to try; all combinations of several --grid"});
  options.set(arguments->set);
  options.integer("--runs", arguments->runs, 1, 1024, {"N", "Runs side by side; the cores are shared among them"});
  options.backend(arguments->backend);
  options.threads(arguments->threads);
  options.text("-o,--out", arguments->out, {"DIR", "The folder of the runs; default: runs/<config>-sweep"});
  return [arguments](Console& console) { Sweep(*arguments, console).run(); };
}

}  // namespace lockstep::cli
