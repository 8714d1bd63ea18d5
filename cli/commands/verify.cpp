// lockstep verify RUN: whether a run is what it claims to be, by computing it again; or, for a certificate, whether its
// chain holds and ends with the weights of the model. Exit code 9 when something is false.

#include <filesystem>
#include <memory>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/output/progress.hpp"
#include "cli/process/stop_signal.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/run/directory.hpp"
#include "lockstep/run/verify.hpp"

namespace lockstep::cli {

namespace {

/// The progress of the training that is computed again.
class PrintedReplay final : public RunObserver {
 public:
  explicit PrintedReplay(Console& console) : console_(console) {}
  void warn(const std::string& line) override { console_.fail(fmt::format("lockstep: warning: {}", line)); }
  void begin(std::int64_t samples, std::int64_t epochs) override {
    progress_.emplace(console_, samples, epochs);
    catch_stop_signals();
  }
  void step(const StepReport& report) override { progress_->step(report); }
  void epoch(const EpochReport& report) override { progress_->epoch(report); }

 private:
  Console& console_;
  std::optional<Progress> progress_{};
};

struct VerifyArguments {
  std::string what{}, model{};
  int segments = 0, seed = -1;
  VerifyOptions options{};
};

Verification verify(const VerifyArguments& arguments, Console& console) {
  const std::filesystem::path path = arguments.what;
  if (std::filesystem::is_regular_file(path))
    return verify_certificate(
        path, arguments.model.empty() ? path.parent_path() / kModelFile : std::filesystem::path(arguments.model));
  if (!arguments.model.empty())
    throw Error(ErrorCode::usage, "--model belongs to a certificate, not to a run directory");
  VerifyOptions options = arguments.options;
  options.segments = arguments.segments;
  options.seed = arguments.seed >= 0 ? static_cast<std::uint64_t>(arguments.seed) : std::random_device()() % 1'000'000;
  if (options.segments > 0)
    console.note(fmt::format("segments drawn with seed {}: --seed {} draws the same", options.seed, options.seed));
  PrintedReplay observer(console);
  options.observer = &observer;
  options.stop = stop_requested;
  return verify_run(path, options);
}

void run_verify(const VerifyArguments& arguments, Console& console) {
  const Verification found = verify(arguments, console);
  console.print(console.json() ? found.json() : found.text());
  if (found.holds()) return;
  for (const Claim& each : found.claims)
    if (!each.holds)
      throw Error(ErrorCode::integrity,
                  fmt::format("{}: {}: {}", one_line(found.name), each.what, one_line(each.detail)));
}

}  // namespace

RunCommand verify_command(Options& options) {
  const auto arguments = std::make_shared<VerifyArguments>();
  options.examples(R"(Examples:
  lockstep verify runs/moons-1                          # compute the whole training again, and compare every bit
  lockstep verify runs/moons-1 --segments 3             # three parts between kept checkpoints (checkpoint.keep = 0)
  lockstep verify runs/moons-1 --files                  # compare the files with each other only
  lockstep verify runs/moons-1/certificate.json --model model.safetensors

Any backend that keeps the bits will do, on any machine and any number of threads; the data must be where the run
found them. The run directory is not changed. Exit code 9: something is not what the run claims.)");
  options.argument("run", arguments->what, {"RUN", "A run directory, or the certificate.json of one"});
  options.backend(arguments->options.backend);
  options.threads(arguments->options.threads);
  options.integer("--segments", arguments->segments, 0, 1'000'000,
                  {"N", "Compute N segments between checkpoints, drawn at random; 0: the whole training"});
  options.integer("--seed", arguments->seed, -1, 1'000'000'000, {"N", "Of that draw; default: another one each time"});
  options.flag("--files", arguments->options.files_only, "Compute nothing: checkpoints, metrics and model only");
  options.text("--model", arguments->model,
               {"FILE", "The model of a certificate; default: model.safetensors beside it"});
  return [arguments](Console& console) { run_verify(*arguments, console); };
}

}  // namespace lockstep::cli
