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

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

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
  const PeerRecord record{.kernel = {.threads = threads},
                          .moons_epochs = double(moon_epochs()),
                          .moons_accuracy = moons.value("accuracy", 0.0),
                          .moons_reached_in_epoch = moons.value("reached", 0.0),
                          .moons_seconds = moons.value("seconds", 0.0),
                          .version = moons.value("version", ""),
                          .python = python,
                          .variant = moons.value("variant", "eager"),
                          .tried = tried_words(moons)};
  return {.line = timing_of(fmt::format("PyTorch, {}, {}", record.variant, count_of(threads, "thread")), record),
          .sample = [program] { return program->ask("epoch", kPatience).at("seconds").get<double>(); }};
}

/// Our training on moons on as many threads.
const MoonLine* moons_of(const std::vector<MoonLine>& moons, const KernelRecord& kernel) {
  return first_where(moons, [&](const MoonRecord& each) {
    return each.kernel.backend == kernel.backend && each.kernel.threads == kernel.threads;
  });
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
  TrainingContest contest(run, data);
  for (const int threads : available_cpus() > 1 ? std::vector<int>{1, available_cpus()} : std::vector<int>{1}) {
    const std::string ours = "Lockstep, " + kernels_on(Backend::simd, threads);
    if (Variant* const added = contest.add(ours, deep_network(), deep_options(Backend::simd, threads, 512)))
      added->baseline = ours;
    try {
      Variant torch = torch_variant(*python, script->string(), threads, run.quick);
      torch.baseline = ours;
      contest.add(std::move(torch));
    } catch (const std::exception& error) {  // of the program, or of what it said
      run.left_out(fmt::format("PyTorch on {} threads", threads), error.what());
    }
  }
  contest.time(kPeerTimes,
               {.share = 0.03, .least = run.quick ? 3 : 6, .most = 30, .budget_seconds = run.quick ? 6.0 : 40.0});
}

void describe_pytorch(const Findings& findings, Document& document) {
  const auto timings = findings.series<PeerRecord>(kPeerTimes);
  Table table{.title = "An epoch of the network of the timings, batches of 512",
              .columns = {column("Program"),
                          column("Time", seconds()),
                          {.title = "Lockstep is", .unit = "times as fast", .format = ratio()},
                          column("Moons: 99 % in epoch"),
                          column("At the end", percent(1))}};
  std::string version;
  // Both learn the moons for as many epochs; results may come from elsewhere.
  const auto moons = findings.series<MoonRecord>(kMoonCurves);
  for (const PeerLine& each : timings) {
    const Result* ours = each.baseline.empty() ? nullptr : findings.find(each.baseline);
    std::optional<double> reached = each.moons_reached_in_epoch, epochs = each.moons_epochs,
                          accuracy = each.moons_accuracy;
    if (ours != nullptr) {
      version = each.version;
    } else if (const MoonLine* const same = moons_of(moons, each.kernel)) {
      reached = double(same->reached_in_epoch.value_or(0));
      accuracy = series_of(*same, &MoonRecord::accuracy).back();
      epochs = double(same->accuracy.size());
    }
    table.rows.push_back({.cells = {Cell(short_name(each)).noted(each.tried), time_cell(each),
                                    ours == nullptr ? Cell() : Cell(median_of(each) / median_of(*ours)),
                                    !reached       ? Cell()
                                    : *reached > 0 ? Cell(*reached).as(integer())
                                                   : Cell(fmt::format("not in {:.0f}", epochs.value_or(0))),
                                    accuracy},
                          .tone = ours == nullptr ? Tone::simd : Tone::peer});
  }
  if (version.empty()) return;
  table.notes = {
      fmt::format("PyTorch {}, the fastest of the variants below its name, epoch by epoch in turns with Lockstep. "
                  "Moons: 2-3-3-1, {} epochs in both programs, each on its own draw of the same figure.",
                  version, moon_epochs())};
  document.section("PyTorch on the same processors")
      .add(Paragraph{
          "The paper proposed PyTorch as its yardstick and did not come to it; here it is. For larger networks, "
          "and JAX, there is `make peers`."})
      .add(std::move(table));
}

}  // namespace lockstep::cli
