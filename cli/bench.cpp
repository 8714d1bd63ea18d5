#include "cli/bench.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "cli/bench_primitives.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/devices.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

// About 120 kernels times a handful of backends in less than two minutes.
constexpr MeasureOptions kUsual{.seconds = 0.1, .sample_seconds = 1e-3, .least = 3, .most = 31};
constexpr MeasureOptions kQuick{.seconds = 0.01, .sample_seconds = 2e-4, .least = 1, .most = 7};
/// A backend that needs longer for one call gets a part of the problem, where there is one.
constexpr double kLongestCall = 0.5;

const std::string& name_of(Backend backend) { return backend_names()[static_cast<std::size_t>(backend)]; }

/// The named backends, or all; those that this machine cannot run are left out with a note.
std::vector<Backend> chosen_backends(const std::vector<std::string>& wanted, Console& console) {
  std::vector<Backend> backends;
  const std::vector<std::string>& known = backend_names();
  for (const std::string& name : wanted.empty() ? known : wanted) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw Error(ExitCode::usage, fmt::format("--backend {}: unknown name{}", name, suggestion(name, known)));
    const auto backend = static_cast<Backend>(found - known.begin());
    if (on_device(backend)) {  // its problems live in the memory of the host
      if (!wanted.empty()) throw Error(ExitCode::usage, fmt::format("bench has no problems on devices for {}", name));
      continue;
    }
    try {
      static_cast<void>(make_table<float>(backend));
      backends.push_back(backend);
    } catch (const Error& error) {
      if (!wanted.empty()) throw;
      console.note(fmt::format("left out: {}", error.what()));
    }
  }
  return backends;
}

/// True where the backend would take longer than kLongestCall for the whole problem.
bool too_long(const BenchCase& one, BenchProblem& part, Backend backend) {
  const auto start = std::chrono::steady_clock::now();
  part.run(backend);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return seconds * one.cost.flops / one.part->cost.flops > kLongestCall;
}

/// True where `backend` borrows its kernel from another of the backends: "simd.avx2" belongs to simd.
bool borrows(BenchProblem& problem, Backend backend, const std::vector<Backend>& backends) {
  const std::string kernel = problem.kernel(backend);
  return std::any_of(backends.begin(), backends.end(), [&](Backend other) {
    return other != backend && (kernel == name_of(other) || kernel.starts_with(name_of(other) + "."));
  });
}

/// Of the same case under naive; nothing where it was not measured.
std::optional<double> times_naive(const BenchResult& result, const std::vector<BenchResult>& all) {
  for (const BenchResult& other : all)
    if (other.backend == Backend::naive) return result.flops_per_second() / other.flops_per_second();
  return std::nullopt;
}

/// A whole run: prints group by group, or everything at the end as JSON.
class BenchRun {
 public:
  BenchRun(const BenchArguments& arguments, Console& console) : arguments_(arguments), console_(console) {}

  void run() {
    const bool only_machine = arguments_.name == "machine";
    const std::vector<BenchGroup> groups = only_machine ? std::vector<BenchGroup>{} : bench_groups(arguments_.name);
    const std::vector<Backend> backends = chosen_backends(arguments_.backends, console_);
    const int threads = arguments_.threads > 0 ? arguments_.threads : available_cpus();
    machine_ = measure_machine(threads, arguments_.quick);
    if (!console_.json()) console_.print(machine_text(machine_));
    for (const BenchGroup& group : groups) run(group, backends);
    if (console_.json())
      console_.print(fmt::format("{}\n", Json{{"machine", machine_json(machine_)}, {"kernels", kernels_}}.dump(
                                             2, ' ', false, Json::error_handler_t::replace)));
    else if (!groups.empty())
      console_.print(footnote());
  }

 private:
  double peak(const BenchGroup& group) const {
    return group.precision == Precision::float32 ? machine_.float_peak : machine_.double_peak;
  }

  void run(const BenchGroup& group, const std::vector<Backend>& backends) {
    TextTable table("lllrrrrrr");
    table.row({"kernel", "shape", "backend", "GFLOP/s", "95 % interval", "of peak", "GB/s", "x naive", "samples"});
    for (const BenchCase& one : group.cases) {
      console_.draw(fmt::format("{}: {} {}", group.name, one.kernel, one.shape));
      const std::vector<BenchResult> results = measure_case(one, backends, arguments_.quick);
      for (std::size_t i = 0; i < results.size(); ++i) {
        table.row(cells(i == 0 ? one.kernel : "", i == 0 ? one.shape : "", results[i], results, peak(group)));
        kernels_.push_back(json(group, one, results[i], results));
      }
    }
    if (!console_.json()) console_.print(fmt::format("\n{}\n{}", group.title, table.str(2)));
  }

  static std::vector<std::string> cells(const std::string& kernel, const std::string& shape, const BenchResult& result,
                                        const std::vector<BenchResult>& all, double peak) {
    const double rate = result.flops_per_second(), giga = 1e-9;
    const MedianInterval& interval = result.seconds.interval;
    const auto ratio = times_naive(result, all);
    return {kernel,
            shape,
            result.kernel,
            fmt::format("{}{:.2f}", result.part ? "~" : "", rate * giga),
            interval.coverage >= 0.95 ? fmt::format("{:.2f} - {:.2f}", result.cost.flops / interval.high * giga,
                                                    result.cost.flops / interval.low * giga)
                                      : "-",
            fmt::format("{:.1f} %", 100 * rate / peak),
            fmt::format("{:.1f}", result.cost.bytes / result.seconds.median * giga),
            ratio ? fmt::format("{:.2f}", *ratio) : "-",
            std::to_string(result.seconds.count)};
  }

  Json json(const BenchGroup& group, const BenchCase& one, const BenchResult& result,
            const std::vector<BenchResult>& all) const {
    const Summary& s = result.seconds;
    Json json = {{"network", group.name},
                 {"kernel", one.kernel},
                 {"shape", one.shape},
                 {"precision", to_string(group.precision)},
                 {"backend", name_of(result.backend)},
                 {"implementation", result.kernel},
                 {"part", result.part},
                 {"flops", result.cost.flops},
                 {"bytes", result.cost.bytes}};
    json["seconds"] = {{"median", s.median},
                       {"mad", s.mad},
                       {"min", s.min},
                       {"max", s.max},
                       {"low", s.interval.low},
                       {"high", s.interval.high},
                       {"coverage", s.interval.coverage},
                       {"count", s.count}};
    json["gflops_per_second"] = result.flops_per_second() * 1e-9;
    json["share_of_peak"] = result.flops_per_second() / peak(group);
    if (const auto ratio = times_naive(result, all)) json["times_naive"] = *ratio;
    return json;
  }

  static std::string footnote() {
    return "\nOne thread. Medians of samples taken in turns; interval: 95 % for the median, from order statistics, '-' "
           "where "
           "there are too few samples.\nof peak: of the measured multiply-add peak of one thread. GB/s: operands once, "
           "wherever they lie. ~: measured on a part of the problem.\nopenblas, onednn "
           "(backend library): libraries that agree with the other kernels within rounding, not bit for bit.\n";
  }

  const BenchArguments& arguments_;
  Console& console_;
  MachineReport machine_{};
  Json kernels_ = Json::array();
};

}  // namespace

std::vector<BenchResult> measure_case(const BenchCase& one, const std::vector<Backend>& backends, bool quick) {
  const std::unique_ptr<BenchProblem> part = one.part ? one.part->make() : nullptr;
  std::unique_ptr<BenchProblem> whole;  // made when somebody is fast enough for it
  std::vector<BenchResult> results;
  std::vector<std::function<void()>> bodies;
  for (const Backend backend : backends) {
    if (!whole && !part) whole = one.make();
    if (borrows(part ? *part : *whole, backend, backends)) continue;
    const bool partly = part && too_long(one, *part, backend);
    if (!partly && !whole) whole = one.make();
    BenchProblem* const problem = partly ? part.get() : whole.get();
    results.push_back({.backend = backend,
                       .kernel = problem->kernel(backend),
                       .part = partly,
                       .cost = partly ? one.part->cost : one.cost});
    bodies.emplace_back([problem, backend] { problem->run(backend); });
  }
  const auto samples = measure_in_turns(bodies, quick ? kQuick : kUsual);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].seconds = summarise(samples[i]);
  return results;
}

void run_bench(const BenchArguments& arguments, Console& console) {
  if (is_primitive(arguments.name)) return run_primitives(arguments, console);
  BenchRun(arguments, console).run();
}

}  // namespace lockstep::cli
