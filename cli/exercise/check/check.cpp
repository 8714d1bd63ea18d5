#include "cli/exercise/check/check.hpp"

#include <future>
#include <random>

#include <fmt/format.h>

#include "cli/exercise/check/diagnose.hpp"
#include "cli/exercise/check/speed.hpp"
#include "cli/process/tools.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/lab/measure.hpp"

namespace lockstep::cli {

namespace {

constexpr int kCheckThreads = 3;  // of the cases: a number that divides little

class Check {
 public:
  Check(const Exercise& exercise, const Track& track, const CheckOptions& options, Console& console)
      : exercise_(exercise), track_(track), options_(options), console_(console), folder_("check") {
    verdict_.exercise = exercise.name;
    verdict_.track = track.name;
    const std::string text = read_text(options.source, kMostSource, ErrorCode::usage);
    verdict_.source_hash = sha256_hex(std::as_bytes(std::span(text)));
    verdict_.secret_seed = options.secret_seed ? *options.secret_seed : std::random_device{}() | 1U << 20;
    request_ = {.exercise = &exercise,
                .track = &track,
                .source = options.source,
                .folder = folder_.path(),
                .compiler = find_compiler(options.compiler)};
  }

  Verdict run() {
    const double seconds = timed_seconds([&] { run_parts(); });
    verdict_.seconds = seconds;
    return std::move(verdict_);
  }

 private:
  void run_parts() {
    console_.draw("building");
    const auto start_build = [&](BuildKind kind) {
      return std::async(std::launch::async, [this, kind] { return build_kernel(request_, kind); });
    };
    std::future<Built> addresses, threads;
    if (options_.sanitize && track_.sanitizers) addresses = start_build(BuildKind::address);
    if (track_.threads) threads = start_build(BuildKind::thread);
    plain_ = build_kernel(request_, BuildKind::plain);
    if (!plain_.error.empty()) {
      verdict_.tier = Tier::not_built;
      verdict_.cause = "compiler";
      verdict_.words = {plain_.error};
      return;
    }
    if (!plain_.replaced.empty()) {
      verdict_.tier = Tier::rejected;
      verdict_.cause = "replaces-library";
      verdict_.words = {
          fmt::format("It brings a version of its own of {}, a function of the C library.", plain_.replaced)};
      return;
    }
    const bool right = sweep();
    if (!printed_.empty()) verdict_.checks.push_back("It prints text; what a kernel prints counts for nothing.");
    if (!right) return;
    if (track_.threads && !sanitize(threads.get(), "thread sanitizer, random delays")) return;
    if (track_.cuda && !other_orders()) return;
    if (addresses.valid() && !sanitize(addresses.get(), "address and undefined-behaviour sanitizers")) return;
    if (!options_.speed || !exercise_.fast) return;
    if (!track_.timed) {
      verdict_.checks.push_back(!track_.cuda ? "speed: not measured on this track"
                                             : "speed: not measured, the emulator's time says nothing about a device");
      return;
    }
    console_.draw("measuring");
    measure_speed(exercise_, track_, session_maker(), {.seed = verdict_.secret_seed}, verdict_);
  }

  StartSession session_maker() const {
    return [this](int threads) { return open(plain_, threads); };
  }

  std::unique_ptr<RunnerSession> open(const Built& built, int threads) const {
    RunnerStart start = built.start;
    start.call_seconds = options_.call_seconds;
    start.environment.emplace_back("OMP_NUM_THREADS", std::to_string(threads > 0      ? threads
                                                                     : track_.threads ? kCheckThreads
                                                                                      : 1));
    return std::make_unique<RunnerSession>(start);
  }

  /// All cases; false where one is wrong.
  bool sweep() {
    console_.draw("calling it on many shapes");
    const auto session = open(plain_, 0);
    const Observations seen =
        run_cases(exercise_, make_cases(exercise_, verdict_.secret_seed, track_.python || track_.opencl), *session);
    verdict_.cases = seen.cases;
    verdict_.right_cases = seen.right_cases;
    printed_ = session->printed();
    if (!seen.any_wrong() && !seen.died_at) {
      verdict_.checks.push_back(fmt::format("{} cases, each called twice,{} public and secret numbers: all right",
                                            seen.cases, track_.python || track_.opencl ? "" : " between guard pages,"));
      return true;
    }
    console_.draw("looking for the cause");
    diagnose(exercise_, track_, seen, session_maker(), verdict_);
    if (track_.cuda && verdict_.cause.empty()) blame_the_order(seen);
    return false;
  }

  /// Other results where threads run in another order: a race, or a barrier that is missing.
  void blame_the_order(const Observations& seen) {
    Built built = plain_;
    built.start.environment.emplace_back("LOCKSTEP_CUDA_EMULATOR", "reverse");
    const auto session = open(built, 0);
    for (const Observation& call : seen.calls) {
      if (call.right) continue;
      CaseArguments again = call.given;
      if (!session->place(again, true).ok() || !session->call(again).ok() || same_results(again, call.got)) continue;
      verdict_.cause = "race";
      verdict_.words = {
          "The results depend on the order in which threads run: a __syncthreads() is missing, or two threads share an "
          "element."};
      return;
    }
  }

  /// Blocks and threads of the emulator from the last to the first, and in random order.
  bool other_orders() {
    for (const char* const order : {"reverse", "random"}) {
      console_.draw(fmt::format("blocks and threads in {} order", order));
      Built built = plain_;
      built.start.environment.emplace_back("LOCKSTEP_CUDA_EMULATOR", order);
      const auto session = open(built, 0);
      const Observations seen = run_cases(exercise_, make_cases(exercise_, verdict_.secret_seed, true), *session);
      if (!seen.any_wrong() && !seen.died_at) continue;
      diagnose(
          exercise_, track_, seen, [&](int threads) { return open(built, threads); }, verdict_);
      if (!seen.died_at) {
        verdict_.tier = Tier::wrong;
        verdict_.cause = "race";
        verdict_.words = {
            fmt::format("It is right only as long as blocks and threads run one after the other; in {} order it is "
                        "wrong: a barrier is missing, or two threads share an element.",
                        order)};
      }
      return false;
    }
    verdict_.checks.push_back("blocks and threads in reverse and in random order: nothing found");
    return true;
  }

  bool sanitize(Built built, const std::string& what) {
    if (!built.error.empty()) {
      verdict_.checks.push_back(fmt::format("{}: left out, it cannot be built for them", what));
      return true;
    }
    console_.draw("under sanitizers");
    built.start.memory_bytes = 0;  // a sanitizer reserves terabytes
    const auto session = open(built, 0);
    const Observations seen = run_cases(exercise_, make_cases(exercise_, verdict_.secret_seed, true), *session);
    if (!seen.any_wrong() && !seen.died_at) {
      verdict_.checks.push_back(fmt::format("{}: {} cases, nothing found", what, seen.cases));
      return true;
    }
    diagnose(
        exercise_, track_, seen, [&](int threads) { return open(built, threads); }, verdict_);
    if (seen.died_at)
      verdict_.words = {fmt::format("Its results are right, but there is a fault: {}.",
                                    describe_fault(seen.outcome, seen.died_at->given))};
    if (verdict_.cause == "crash") verdict_.cause = "sanitizer";
    if (seen.outcome.said.find("data race") != std::string::npos) {
      verdict_.tier = Tier::wrong;
      verdict_.cause = "race";
    }
    return false;
  }

  const Exercise& exercise_;
  const Track& track_;
  const CheckOptions& options_;
  Console& console_;
  TemporaryFolder folder_;
  BuildRequest request_{};
  Built plain_{};
  Verdict verdict_{};
  std::string printed_{};
};

}  // namespace

Verdict check_kernel(const Exercise& exercise, const Track& track, const CheckOptions& options, Console& console) {
  Check check(exercise, track, options, console);
  Verdict verdict = check.run();
  console.draw("");
  return verdict;
}

}  // namespace lockstep::cli
