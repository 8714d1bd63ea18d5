// The modes of mpi-digits, each a run of this program: what its run directory says of every iteration.

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/process/mpirun.hpp"
#include "cli/process/tools.hpp"
#include "cli/reproduce/mpi_digits/experiment.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/run/directory.hpp"

namespace lockstep::cli {

namespace {

namespace fs = std::filesystem;

constexpr int kPythonIterations = 3;  // per-sample loops take a third of a second each

struct Mode {
  std::string name;
  Backend backend;
  int threads = 1, ranks = 1;
  bool mpi = false;    // under mpirun
  bool rank0 = false;  // which alone reads the data and sends them to the others
};

std::vector<Mode> modes() {
  std::vector<Mode> all = {{"sequential, plain loops", Backend::naive}, {kSequentialMode, Backend::simd}};
  for (int threads = 2; threads <= available_cpus(); threads *= 2)
    all.push_back({fmt::format("SIMD, {} threads", threads), Backend::simd, threads});
  for (const int ranks : {1, 2, 4})
    all.push_back({fmt::format("SIMD, {}", count_of(ranks, "rank")), Backend::simd, 1, ranks, true});
  all.push_back({"SIMD, 2 ranks, data from rank 0", Backend::simd, 1, 2, true, true});
  for (const Backend device : {Backend::opencl, Backend::cuda})
    all.push_back({fmt::format("device, {}", backend_info(device).name), device});
  return all;
}

/// What a run directory says: seconds of every iteration after the first, and of its phases, summed.
struct ModeTimes {
  std::vector<double> iterations{};
  DigitPhases phases{};  // sums over `counted` iterations
  double counted = 0;

  void add(PhaseMember phase, double seconds) { phases.*phase = (phases.*phase).value_or(0) + seconds; }
  std::string hash{};
  std::string failure{};  // why there are none
};

/// The phase of a section of rank 0. Exchange is no section here: the timings tell sums from weights.
PhaseMember phase_of(const std::string& section, const std::string& phase) {
  using P = DigitPhases;
  if (phase == "forward") return section.starts_with("2") ? &P::output : &P::hidden;
  if (phase == "backward" || section == "update") return &P::back;
  if (section == "loss") return &P::cost;
  if (section == "reduce") return &P::gather;
  return section == "load" ? &P::load : section == "wait" ? &P::wait : &P::other;
}

std::vector<Json> json_lines(const fs::path& file) {
  std::vector<Json> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

void read_run(const fs::path& folder, ModeTimes& times) {
  std::ifstream profile_file(folder / kProfileFile);
  const Json profile = Json::parse(profile_file);
  for (const Json& row : profile.at("sections"))
    if (row.at("section") != "exchange")
      times.add(phase_of(row.at("section"), row.at("phase")), row.at("seconds").get<double>());
  const std::vector<Json> timings = json_lines(folder / kTimingsFile);
  for (std::size_t i = 0; i < timings.size(); ++i) {
    const Json& seconds = timings[i].at("seconds");
    times.add(&DigitPhases::gather, seconds.at("exchange").get<double>());
    times.add(&DigitPhases::broadcast, seconds.at("broadcast").get<double>());
    if (seconds.contains("scatter")) times.add(&DigitPhases::scatter, seconds.at("scatter").get<double>());
    if (i > 0) times.iterations.push_back(seconds.at("total"));  // the first makes buffers
  }
  times.counted += static_cast<double>(timings.size());
  times.hash = json_lines(folder / kMetricsFile).back().at("weight_hash");
}

void run_mode(const ExperimentRun& run, const Mode& mode, const fs::path& config, ModeTimes& times) {
  const fs::path out = run.folder / "mode";
  std::vector<std::string> words = {"train",     config.string(),
                                    "--backend", backend_info(mode.backend).name,
                                    "--threads", std::to_string(mode.threads),
                                    "--out",     out.string(),
                                    "--profile", "--quiet"};
  if (mode.rank0) words.insert(words.end(), {"--set", "data.from=\"rank0\""});
  CaptureOptions options{.patience = std::chrono::minutes(3)};
  if (mode.mpi)
    options.environment = {{"OMP_NUM_THREADS", "1"}};
  else
    words.insert(words.begin(), own_program());
  const Captured done =
      mode.mpi ? run_on_ranks(mode.ranks, {.command = words}, "reproduce", options) : run_captured(words, options);
  try {
    if (done.ok())
      read_run(out, times);
    else
      times.failure = done.reason();
  } catch (const std::exception& error) {
    times.failure = fmt::format("its run directory makes no sense: {}", error.what());
  }
  std::error_code ignored;
  fs::remove_all(out, ignored);
}

void keep_mode(const ExperimentRun& run, const Mode& mode, ModeTimes& times, const std::string& baseline) {
  ModeRecord record{.kernel = kernel_record(mode.backend, mode.threads),
                    .ranks = mode.ranks,
                    .from = mode.rank0 ? "rank0" : "",
                    .phases = times.phases};
  for_each_field(record.phases, [&](const auto&, std::optional<double>& seconds) {
    if (seconds) *seconds /= times.counted;
  });
  keep_samples(run, kDigitModes, {.line = timing_of(mode.name, record, times.hash), .baseline = baseline},
               std::move(times.iterations));
}

/// Numbers as the script reads them.
void write_numbers(const fs::path& file, const std::vector<double>& numbers) {
  write_file_atomically(file, std::as_bytes(std::span(numbers)));
}

}  // namespace

void time_digit_modes(const ExperimentRun& run, const DigitSource& source) {
  const fs::path config = run.folder / "mode.toml";
  write_file_atomically(config, source.config);
  const std::string why = why_no_ranks();
  std::vector<Mode> all = modes();
  if (!why.empty()) {
    run.left_out("ranks", why);
    std::erase_if(all, [](const Mode& mode) { return mode.mpi; });
  }
  std::vector<ModeTimes> times(all.size());
  for (int round = 0; round < (run.quick ? 1 : 3); ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!times[i].failure.empty()) continue;
      run.progress(fmt::format("{}: 60 iterations", all[i].name));
      run_mode(run, all[i], config, times[i]);
    }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (times[i].iterations.empty())
      run.left_out(all[i].name, times[i].failure);
    else
      keep_mode(run, all[i], times[i], kSequentialMode);
  }
  fs::remove(config);
}

void time_python_loops(const ExperimentRun& run, const DigitSource& source) {
  const auto script = find_in_tree("bench/reproduce/mpi_digits.py");
  if (!script) return run.left_out(kPythonMode, "bench/reproduce/mpi_digits.py is not beside this program");
  const auto python = find_python({"numpy"});
  if (!python) return run.left_out(kPythonMode, "no Python here imports numpy: sudo apt-get install python3-numpy");
  run.progress(fmt::format("per-sample loops in Python, {} iterations", kPythonIterations));
  const RunConfig config = parse_config(source.config, "mpi-digits");
  const DataSplits data = load_data(config.data);
  const std::int64_t count = data.train->size(), features = data.train->features();
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) ids[static_cast<std::size_t>(i)] = i;
  std::vector<double> x(static_cast<std::size_t>(count * features)), y(ids.size());
  data.train->gather(ids, dense_matrix(x.data(), features, count));
  std::vector<std::int32_t> labels(ids.size());
  data.train->labels(ids, labels);
  std::copy(labels.begin(), labels.end(), y.begin());
  Network network = make_network(config);
  const fs::path scratch = run.folder / "python";
  fs::create_directories(scratch);
  write_numbers(scratch / "x", x);
  write_numbers(scratch / "y", y);
  write_numbers(scratch / "weights", {network.data<double>(), network.data<double>() + network.parameter_count()});
  const Captured done = run_captured({*python, script->string(), scratch.string(), std::to_string(kPythonIterations)},
                                     {.patience = std::chrono::minutes(3), .environment = {{"OMP_NUM_THREADS", "1"}}});
  std::error_code ignored;
  fs::remove_all(scratch, ignored);
  const Json answer = Json::parse(done.ok() ? done.out : "null", nullptr, false);
  if (!answer.is_object()) return run.left_out(kPythonMode, done.ok() ? "its answer makes no sense" : done.reason());
  // The same recipe has the same costs, but for the order of sums.
  Trainer trainer(network, config.train);
  double largest = 0;
  for (const double cost : answer.at("cost_values").get<std::vector<double>>())
    largest = std::max(largest, std::abs(cost - trainer.step(*data.train, ids)));
  if (largest > 1e-9) return run.left_out(kPythonMode, fmt::format("its costs are off by {}", largest));
  const auto seconds = [&](const char* phase) { return median(answer.at(phase).get<std::vector<double>>()); };
  const PythonRecord record{.iterations = kPythonIterations,
                            .cost_difference = largest,
                            .phases = {.hidden = seconds("hidden"),
                                       .output = seconds("output"),
                                       .cost = seconds("cost"),
                                       .back = seconds("back")},
                            .version = answer.value("version", "")};
  keep_samples(run, kDigitModes, {.line = timing_of(kPythonMode, record), .baseline = kSequentialMode},
               answer.at("total").get<std::vector<double>>());
}

}  // namespace lockstep::cli
