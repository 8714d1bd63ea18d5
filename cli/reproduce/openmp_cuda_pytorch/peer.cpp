// PyTorch on the same machine, where it is installed: the yardstick that the paper proposed and left out.

#include <memory>

#include <fmt/format.h>

#include "cli/process/conversation.hpp"
#include "cli/process/tools.hpp"
#include "cli/reproduce/openmp_cuda_pytorch/experiment.hpp"
#include "cli/reproduce/rungs.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

using report::Cell;

constexpr const char* kScript = "bench/reproduce/deep_sigmoid_torch.py";

constexpr double kPatience = 240;  // seconds for an import and the moons, or for an epoch

/// PyTorch on `threads`, after its moons and after it has tried its variants; an epoch of the fastest is a line.
Variant torch_variant(const std::string& python, const std::string& script, int threads, bool quick) {
  const std::string count = std::to_string(threads);
  std::vector<std::string> words = {python, script, count, std::to_string(moon_epochs()), "eager", "fused"};
  if (!quick) words.emplace_back("compile");  // takes a minute to compile
  const auto program = std::make_shared<Conversation>(
      words, Environment{{"OMP_NUM_THREADS", count}, {"MKL_NUM_THREADS", count}}, kPatience);
  const Json& moons = program->greeting();
  return {.name = fmt::format("PyTorch, {}, {} thread{}", moons.value("variant", "eager"), threads,
                              threads == 1 ? "" : "s"),
          .numbers = {{"threads", threads},
                      {"moons_epochs", double(moon_epochs())},
                      {"moons_accuracy", moons.value("accuracy", 0.0)},
                      {"moons_reached_in_epoch", moons.value("reached", 0.0)},
                      {"moons_seconds", moons.value("seconds", 0.0)}},
          .words = {{"version", moons.value("version", "")},
                    {"python", python},
                    {"variant", moons.value("variant", "eager")},
                    {"tried", tried_words(moons)}},
          .sample = [program] { return program->ask("epoch", kPatience).at("seconds").get<double>(); }};
}

/// Our training on moons on as many threads.
const Result* moons_of(const std::vector<const Result*>& moons, const Result& timing) {
  for (const Result* each : moons)
    if (each->word("backend") == timing.word("backend") && each->number("threads") == timing.number("threads"))
      return each;
  return nullptr;
}

}  // namespace

void time_pytorch(const ExperimentRun& run) {
  const auto python = find_python({"torch"});
  const auto script = find_in_tree(kScript);
  if (!python || !script)
    return run.left_out("PyTorch", python
                                       ? fmt::format("{} is not beside this program", kScript)
                                       : "no Python here imports torch; `make peers` installs it in build/venv-peers");
  run.progress(fmt::format("PyTorch on the same networks, by {}", *python));
  const auto data = moon_points(1000);
  std::vector<std::unique_ptr<DeepTraining>> trainings;
  std::vector<Variant> contest;
  for (const int threads : available_cpus() > 1 ? std::vector<int>{1, available_cpus()} : std::vector<int>{1}) {
    trainings.push_back(std::make_unique<DeepTraining>(*data, deep_options(Backend::simd, threads, 512)));
    const DeepTraining& training = *trainings.back();
    const std::string ours = "Lockstep, " + kernels_on(Backend::simd, threads);
    contest.push_back({.name = ours,
                       .body = [&training, data] { training.trainer->fit(*data, {.epochs = 1}); },
                       .numbers = {{"threads", threads}},
                       .words = {{"backend", "simd"}},
                       .weight_hash = training.hash,
                       .baseline = ours});
    try {
      contest.push_back(torch_variant(*python, script->string(), threads, run.quick));
      contest.back().baseline = ours;
    } catch (const std::exception& error) {  // of the program, or of what it said
      run.left_out(fmt::format("PyTorch on {} threads", threads), error.what());
    }
  }
  time_variants(run, kPeerTimes, contest,
                {.share = 0.03, .least = run.quick ? 3 : 6, .most = 30, .budget_seconds = run.quick ? 6.0 : 40.0});
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
  // Both learn the moons for as many epochs; results may come from elsewhere.
  const std::vector<const Result*> moons = findings.series(kMoonCurves);
  for (const Result* each : timings) {
    const Result* ours = each->baseline.empty() ? nullptr : findings.find(each->baseline);
    std::optional<double> reached = each->number("moons_reached_in_epoch"), epochs = each->number("moons_epochs"),
                          accuracy = each->number("moons_accuracy");
    if (ours != nullptr) {
      version = each->word("version");
    } else if (const Result* const same = moons_of(moons, *each)) {
      reached = same->number("reached_in_epoch").value_or(0);
      accuracy = values_of(*same, "accuracy").back();
      epochs = double(values_of(*same, "accuracy").size());
    }
    table.rows.push_back({.cells = {Cell(short_name(*each)).noted(each->word("tried")), time_cell(*each),
                                    ours == nullptr ? Cell() : Cell(median_of(*each) / median_of(*ours)),
                                    !reached       ? Cell()
                                    : *reached > 0 ? Cell(*reached).as(report::integer())
                                                   : Cell(fmt::format("not in {:.0f}", epochs.value_or(0))),
                                    accuracy},
                          .tone = ours == nullptr ? report::Tone::simd : report::Tone::peer});
  }
  if (version.empty()) return;
  table.notes = {
      fmt::format("PyTorch {}, the fastest of the variants below its name, epoch by epoch in turns with Lockstep. "
                  "Moons: 2-3-3-1, {} "
                  "epochs in both programs, each on its own draw of the same figure.",
                  version, moon_epochs())};
  document.section("PyTorch on the same processors")
      .add(report::Paragraph{
          "The paper proposed PyTorch as its yardstick and did not come to it; here it is. For larger networks, "
          "and JAX, there is `make peers`."})
      .add(std::move(table));
}

}  // namespace lockstep::cli
