// PyTorch on the same machine, where it is installed: the yardstick that the paper proposed and left out.

#include <chrono>
#include <span>
#include <variant>

#include <fmt/format.h>

#include "cli/captured.hpp"
#include "cli/reproduce/openmp_cuda_pytorch.hpp"
#include "cli/reproduce/timing.hpp"
#include "cli/scores.hpp"
#include "cli/tools.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

using report::Cell;

constexpr const char* kScript = "bench/reproduce/deep_sigmoid_torch.py";

struct PeerTimes {
  std::string version{};
  double reached = 0;  // the epoch; 0: never
  double accuracy = 0, moons_seconds = 0;
  std::vector<double> epochs{};
};

/// Error texts instead of an exception: a peer that fails is left out, and the experiment goes on.
std::variant<PeerTimes, std::string> measure_peer(const std::string& python, const std::string& script, int threads,
                                                  bool quick) {
  const std::string count = std::to_string(threads);
  const Captured said = run_captured({python, script, count, quick ? "3" : "15", quick ? "60" : "200"},
                                     {.patience = std::chrono::minutes(quick ? 1 : 4),
                                      .environment = {{"OMP_NUM_THREADS", count}, {"MKL_NUM_THREADS", count}}});
  if (!said.ok()) return said.reason();
  PeerTimes times;
  try {
    for (std::size_t start = 0; start < said.out.size();) {
      const std::size_t end = std::min(said.out.find('\n', start), said.out.size());
      const Json line = Json::parse(said.out.substr(start, end - start));
      start = end + 1;
      if (line.at("what") == "epoch") {
        times.epochs = line.at("samples").get<std::vector<double>>();
        continue;
      }
      times.version = line.at("version").get<std::string>();
      times.reached = line.at("reached").get<double>();
      times.accuracy = line.at("accuracy").get<double>();
      times.moons_seconds = line.at("seconds").get<double>();
    }
  } catch (const Json::exception&) {
    return "it said something that is no result";
  }
  if (times.epochs.empty()) return "it gave no times";
  return times;
}

}  // namespace

void time_pytorch(const ExperimentRun& run) {
  const auto python = find_python({"torch"});
  const auto script = find_in_tree(kScript);
  if (!python || !script)
    return run.left_out("PyTorch", python
                                       ? fmt::format("{} is not beside this program", kScript)
                                       : "no Python here imports torch; `make peers` installs it in build/venv-peers");
  run.progress("PyTorch on the same networks");
  const auto data = moon_points(1000);
  for (const int threads : available_cpus() > 1 ? std::vector<int>{1, available_cpus()} : std::vector<int>{1}) {
    const std::string count = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
    const auto peer = measure_peer(*python, script->string(), threads, run.quick);
    if (const auto* reason = std::get_if<std::string>(&peer)) {
      run.left_out("PyTorch, " + count, *reason);
      continue;
    }
    const PeerTimes& times = std::get<PeerTimes>(peer);
    DeepTraining training(*data, deep_options(Backend::simd, threads, 512));
    const Variant ours{.name = "Lockstep, simd, " + count,
                       .body = [&] { training.trainer->fit(*data, {.epochs = 1}); },
                       .numbers = {{"threads", threads}},
                       .words = {{"backend", "simd"}},
                       .weight_hash = training.hash};
    time_variants(run, kPeerTimes, std::span(&ours, 1),
                  {.share = 0.03, .least = run.quick ? 3 : 6, .most = 15, .budget_seconds = run.quick ? 3.0 : 15.0});
    keep_samples(run, kPeerTimes,
                 {.name = "PyTorch, eager, " + count,
                  .numbers = {{"threads", threads},
                              {"moons_accuracy", times.accuracy},
                              {"moons_reached_in_epoch", times.reached},
                              {"moons_seconds", times.moons_seconds}},
                  .words = {{"version", times.version}}},
                 ours.name, times.epochs);
  }
}

void describe_pytorch(const Findings& findings, report::Document& document) {
  const std::vector<const Result*> timings = findings.series(kPeerTimes);
  report::Table table{.title = "An epoch of the network of the timings, batches of 512",
                      .columns = {{.title = "Program"},
                                  {.title = "Time", .format = report::seconds()},
                                  {.title = "Lockstep is", .unit = "times as fast", .format = report::ratio()},
                                  {.title = "Moons: 99 % in epoch"},
                                  {.title = "At the end", .format = report::percent(1)}}};
  std::string version;
  for (const Result* each : timings) {
    const Result* ours = each->baseline.empty() ? nullptr : findings.find(each->baseline);
    const double reached = each->number("moons_reached_in_epoch").value_or(0);
    if (ours != nullptr) version = each->word("version");
    table.rows.push_back({.cells = {short_name(*each), time_cell(*each),
                                    ours == nullptr ? Cell() : Cell(median_of(*each) / median_of(*ours)),
                                    ours == nullptr ? Cell()
                                    : reached > 0   ? Cell(reached).as(report::integer())
                                                    : Cell("never"),
                                    each->number("moons_accuracy")},
                          .tone = ours == nullptr ? report::Tone::simd : report::Tone::peer});
  }
  if (version.empty()) return;
  table.notes = {fmt::format(
      "PyTorch {}. The programs run one after the other, not in turns. Moons: 2-3-3-1 in PyTorch, on its own "
      "draw of the same figure.",
      version)};
  document.section("PyTorch on the same processors")
      .add(report::Paragraph{
          "The paper proposed PyTorch as its yardstick and did not come to it; here it is. For larger networks, "
          "and JAX, there is `make peers`."})
      .add(std::move(table));
}

}  // namespace lockstep::cli
