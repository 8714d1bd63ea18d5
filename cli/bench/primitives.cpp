#include "cli/bench/primitives.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/bench/machine.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace {

constexpr int kRounds = 3;
constexpr std::int64_t kCalls = 20, kQuickCalls = 3;
/// For all rounds of a variant; one whose calls are longer makes fewer.
constexpr double kSeconds = 3, kQuickSeconds = 0.3;
/// Beside such a call it does not matter that the first one finds cold caches: it is a sample, with --quick the only
/// one.
constexpr double kLongCall = 0.3;

std::string call_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3f} ms", seconds * 1e3) : fmt::format("{:.3f} s", seconds);
}

std::string ratio_text(const PrimitiveResult* baseline, const PrimitiveResult& result) {
  if (baseline == nullptr) return "-";
  const double ratio = baseline->best() / result.best();
  return ratio >= 100 ? fmt::format("{:.0f}", ratio) : fmt::format("{:.3g}", ratio);
}

std::string threads_text(const PrimitiveSubject& subject, const PrimitiveLimits& limits) {
  if (subject.kind == PrimitiveKind::device) return subject.blocks > 0 ? count_of(subject.blocks, "block") : "device";
  return fmt::format("{}{}", subject.threads, subject.threads > limits.cpus ? "*" : "");
}

/// "The classic claim": both ratios for the fastest here, and for the device.
std::string claim_text(const PrimitiveTimes& times) {
  const PrimitiveResult* python = times.find(PrimitiveKind::python);
  const PrimitiveResult* trivial = times.find(PrimitiveKind::trivial);
  std::string text =
      "The classic claim is \"at least 40 times\" from the trivial version to the GPU; its trivial version is "
      "interpreted Python.\n";
  const auto line = [&](const std::string& who, const PrimitiveResult& result) {
    text += fmt::format("  {} ({}): {} times Python's loops, {} times the compiled trivial loops\n", who,
                        result.subject.name, ratio_text(python, result), ratio_text(trivial, result));
  };
  line("fastest here", times.fastest());
  if (const PrimitiveResult* device = times.fastest(PrimitiveKind::device)) line("device", *device);
  if (python != nullptr && trivial != nullptr)
    text += fmt::format("  compiling the trivial loops alone: {} times Python's\n", ratio_text(python, *trivial));
  return text;
}

/// Best of 3 rounds of up to 20 calls; fewer where they would take too long, which the result says. Rounds interleave
/// the variants. Every variant is called and checked before.
std::vector<PrimitiveResult> measure_variants(const std::vector<PrimitiveVariant>& variants, bool quick,
                                              Console& console) {
  std::vector<PrimitiveResult> results;
  for (const PrimitiveVariant& variant : variants) {
    console.draw(variant.subject.name);
    const double first = timed_seconds(variant.run);
    PrimitiveResult result{.subject = variant.subject, .result = variant.check()};
    if (first > kLongCall) {
      result.samples.push_back(first);
    } else {
      const double budget = (quick ? kQuickSeconds : kSeconds) / kRounds;
      result.calls =
          std::clamp<std::int64_t>(static_cast<std::int64_t>(budget / std::max(timed_seconds(variant.run), 1e-9)), 1,
                                   quick ? kQuickCalls : kCalls);
    }
    results.push_back(std::move(result));
  }
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t v = 0; v < variants.size(); ++v) {
      const bool lengthy = !results[v].samples.empty() && results[v].samples.front() > kLongCall;
      if (lengthy && (quick || round == 0)) continue;
      console.draw(fmt::format("{}, round {} of {}", variants[v].subject.name, round + 1, kRounds));
      // The variant before it left its own data in the caches, and its own threads.
      if (!lengthy) variants[v].run();
      results[v].samples.push_back(timed(variants[v].run)(results[v].calls));
    }
  console.draw("");
  return results;
}

/// The table with both ratios and a line per result on what limits it.
std::string primitive_text(const PrimitiveTimes& times, const PrimitiveLimits& limits) {
  const PrimitiveResult* python = times.find(PrimitiveKind::python);
  const PrimitiveResult* trivial = times.find(PrimitiveKind::trivial);
  const bool product = times.name == "xxt";
  TextTable table("llrrrrrrl"), reasons("lrl");
  table.row({"variant", "kernel", "threads", "a call", product ? "GFLOP/s" : "GB/s", "x Python", "x trivial", "calls",
             "result"});
  for (const PrimitiveResult& result : times.results) {
    const PrimitiveSubject& subject = result.subject;
    const double rate = (product ? subject.cost.flops : subject.cost.bytes) / result.best() * 1e-9;
    table.row({subject.name, subject.kernel, threads_text(subject, limits), call_text(result.best()),
               fmt::format("{:.3g}", rate), ratio_text(python, result), ratio_text(trivial, result),
               fmt::format("{} x {}{}", result.samples.size(), result.calls, result.part < 1 ? "~" : ""),
               result.result});
    reasons.row({subject.name, threads_text(subject, limits), result.why});
  }
  std::string text = fmt::format("{} {}, best of the rounds\n{}\nWhat limits each\n{}\n{}", times.name, times.shape,
                                 table.str(2), reasons.str(2), claim_text(times));
  for (const std::string& line : times.left_out) text += fmt::format("  left out: {}\n", line);
  return text;
}

Json primitive_json(const PrimitiveTimes& times) {
  const PrimitiveResult* python = times.find(PrimitiveKind::python);
  const PrimitiveResult* trivial = times.find(PrimitiveKind::trivial);
  Json results = Json::array();
  for (const PrimitiveResult& result : times.results) {
    const PrimitiveSubject& subject = result.subject;
    Json json = {{"variant", subject.name},
                 {"kind", enum_name(subject.kind)},
                 {"kernel", subject.kernel},
                 {"threads", subject.threads},
                 {"symmetric", subject.symmetric},
                 {"flops", subject.cost.flops},
                 {"bytes", subject.cost.bytes},
                 {"seconds", result.best()},
                 {"samples", result.samples},
                 {"calls_per_sample", result.calls},
                 {"part", result.part},
                 {"result", result.result},
                 {"limit", result.why}};
    if (subject.blocks > 0) json["blocks"] = subject.blocks;
    if (python != nullptr) json["times_python"] = python->best() / result.best();
    if (trivial != nullptr) json["times_trivial"] = trivial->best() / result.best();
    results.push_back(std::move(json));
  }
  return {{"primitive", times.name},
          {"shape", times.shape},
          {"classic_claim", 40},
          {"results", results},
          {"left_out", times.left_out}};
}

}  // namespace

double PrimitiveResult::best() const { return *std::min_element(samples.begin(), samples.end()); }

const PrimitiveResult* PrimitiveTimes::find(PrimitiveKind kind) const {
  const auto found = std::find_if(results.begin(), results.end(),
                                  [&](const PrimitiveResult& result) { return result.subject.kind == kind; });
  return found == results.end() ? nullptr : &*found;
}

const PrimitiveResult& PrimitiveTimes::fastest() const {
  return *std::min_element(results.begin(), results.end(),
                           [](const auto& a, const auto& b) { return a.best() < b.best(); });
}

const PrimitiveResult* PrimitiveTimes::fastest(PrimitiveKind kind) const {
  const PrimitiveResult* best = nullptr;
  for (const PrimitiveResult& result : results)
    if (result.subject.kind == kind && (best == nullptr || result.best() < best->best())) best = &result;
  return best;
}

void finish_measuring(PrimitiveTimes& times, const std::vector<PrimitiveVariant>& variants, PythonTimes python,
                      const PrimitiveOptions& options, const PrimitiveLimits& limits, Console& console) {
  const std::vector<PrimitiveResult> measured = measure_variants(variants, options.quick, console);
  for (PrimitiveResult& result : python.results) {
    // Python computes the whole, without the symmetry, on one thread: the cost of the trivial loops.
    result.subject.cost = variants.front().subject.cost;
    result.subject.steps = times.steps;
  }
  times.results = std::move(python.results);
  times.results.insert(times.results.end(), measured.begin(), measured.end());
  if (!python.missing.empty()) times.left_out.push_back(python.missing);
  if (!options.device) times.left_out.push_back(options.no_device);
  const PrimitiveResult* trivial = times.find(PrimitiveKind::trivial);
  for (PrimitiveResult& result : times.results)
    result.why = what_limits(result.subject, result.best(), trivial->best(), limits);
}

PrimitiveLimits measure_primitive_limits(PrimitiveOptions& options) {
  PrimitiveLimits limits = measure_limits(options.threads, options.quick);
  options.device = find_bench_device(options.no_device);
  if (options.device) measure_device_limits(*options.device, limits);
  return limits;
}

bool is_primitive(const std::string& name) { return name == "max" || name == "xxt"; }

void run_primitives(const BenchArguments& arguments, Console& console) {
  if (!arguments.backends.empty())
    throw Error(ErrorCode::usage,
                fmt::format("--backend: bench {} measures every backend; leave it out", arguments.name));
  PrimitiveOptions options{.quick = arguments.quick};
  if (arguments.threads > 0) std::erase_if(options.threads, [&](int count) { return count > arguments.threads; });
  const PrimitiveLimits limits = measure_primitive_limits(options);
  std::vector<PrimitiveTimes> all;
  if (arguments.name == "max")
    all = {measure_max(options, limits, console)};
  else
    all = {measure_xxt(784, 128, options, limits, console)};
  if (arguments.name == "xxt" && !options.quick) all.push_back(measure_xxt(1000, 1000, options, limits, console));
  if (console.json()) {
    Json problems = Json::array();
    for (const PrimitiveTimes& times : all) problems.push_back(primitive_json(times));
    console.print(fmt::format("{}\n", Json{{"limits", limits_json(limits)}, {"problems", problems}}.dump(
                                          2, ' ', false, Json::error_handler_t::replace)));
    return;
  }
  for (const PrimitiveTimes& times : all) console.print(primitive_text(times, limits) + "\n");
  console.print(fmt::format(
      "Best of 3 rounds, as the exercise is measured; --json has every sample. *: more threads than processors ({}).\n"
      "~: some of the rows, scaled. same: the bits of the trivial loops. Rates count what a variant computes.\n",
      limits.cpus));
}

}  // namespace lockstep::cli
