#include "cli/bench/bench.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "cli/bench/cases.hpp"
#include "cli/bench/machine.hpp"
#include "cli/bench/primitives.hpp"
#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/lab/text_table.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep::cli {

namespace {

// About 120 kernels times a handful of backends in less than two minutes.
constexpr MeasureOptions kUsual{.seconds = 0.1, .sample_seconds = 1e-3, .least = 3, .most = 31};
constexpr MeasureOptions kQuick{.seconds = 0.01, .sample_seconds = 2e-4, .least = 1, .most = 7};
/// A backend that needs longer for one call gets a part of the problem, where there is one.
constexpr double kLongestCall = 0.5;

/// A backend, and where its problems lie.
struct BenchBackend {
  Backend backend = Backend::simd;
  std::shared_ptr<Device> device{};        // null: the host
  double float_peak = 0, double_peak = 0;  // of what it runs on: a thread of the host, or a whole device
};

/// One kernel under one backend.
struct BenchResult {
  Backend backend = Backend::simd;
  std::string kernel;  // "simd.avx2"
  std::string bits;    // "same" as naive's, or how far off: "2e-07" of the largest
  bool part = false;   // measured on a part of the problem
  double peak = 0;     // operations per second, at most
  Cost cost{};         // of what was measured
  Summary seconds{};   // per call

  double flops_per_second() const { return cost.flops / seconds.median; }
};

/// The named backends, or all of the host; those that this machine cannot run are left out with a note.
std::vector<BenchBackend> chosen_backends(const std::vector<std::string>& wanted, Console& console) {
  std::vector<BenchBackend> backends;
  for (const std::string& name : wanted.empty() ? backend_names() : wanted) {
    const Backend backend = backend_named(name);
    // Of another machine and with problems of another size: only where they are asked for.
    if (on_device(backend) && wanted.empty()) continue;
    try {
      static_cast<void>(make_table<float>(backend));
      backends.push_back({backend, on_device(backend) ? open_device(backend) : nullptr});
    } catch (const Error& error) {
      if (!wanted.empty()) throw;
      console.note(fmt::format("left out: {}", error.what()));
    }
  }
  return backends;
}

/// True where `backend` borrows its kernel from another of the backends: "simd.avx2" belongs to simd, and what a
/// library of a device lacks is the device's own.
bool borrows(BenchProblem& problem, Backend backend, const std::vector<BenchBackend>& backends) {
  const std::string kernel = problem.kernel(backend);
  const bool fills_in = !keeps_the_promise(backend) && kernel == backend_info(backend).name;
  return std::any_of(backends.begin(), backends.end(), [&](const BenchBackend& other) {
    if (other.backend == backend) return false;
    const std::string name = backend_info(other.backend).name;
    return kernel == name || kernel.starts_with(name + ".") || (fills_in && kernel == name + "-library");
  });
}

/// What a backend computes beside naive: "same", or the largest distance as a share of the largest number.
std::string check_bits(const BenchCase& one, Precision precision, const BenchBackend& backend,
                       const std::vector<double>& expected) {
  const auto problem = one.make(backend.device.get());
  problem->run(backend.backend);
  const std::vector<double> actual = problem->numbers();
  double largest = 0, distance = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (actual[i] == expected[i]) continue;
    const double away = std::abs(actual[i] - expected[i]);
    distance = std::isnan(away) ? away : std::max(distance, away);
  }
  if (distance == 0) return "same";
  for (const double number : expected) largest = std::max(largest, std::abs(number));
  const double share = distance / largest;
  // Sums of random terms in another order are a few roundings off; a thousand leave room for long ones and no mistake.
  const double rounding =
      precision == Precision::float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  if (keeps_the_promise(backend.backend) || !(share <= 1e3 * rounding))
    throw Error(ErrorCode::bug, fmt::format("{} {} by {}: {:.2g} of the largest number away from naive", one.kernel,
                                            one.shape, backend_info(backend.backend).name, share));
  return fmt::format("{:.0e}", share);
}

/// One backend's calls, by its clock.
TimedBody timed_run(BenchProblem& problem, const BenchBackend& backend) {
  if (backend.device == nullptr) return timed([&problem, which = backend.backend] { problem.run(which); });
  return timed_on(*backend.device, [&problem, which = backend.backend] { problem.run(which); });
}

/// The problems of a case in one place, made on first use.
struct Problems {
  std::unique_ptr<BenchProblem> part{}, whole{};
};

/// Measures the backends in turns, those on devices by the device's clock. Error(bug) where one that keeps the promise
/// has other bits than naive, or another is farther off than rounding explains. A backend that would take too long for
/// the whole problem gets its part. One that has no kernel of its own for it, but that of another backend here, is left
/// out.
std::vector<BenchResult> measure_case(const BenchCase& one, Precision precision,
                                      const std::vector<BenchBackend>& backends, bool quick) {
  const BenchCase& smaller = one.part ? *one.part : one;  // what is checked
  const auto reference = smaller.make(nullptr);
  reference->run(Backend::naive);
  const std::vector<double> expected = reference->numbers();
  std::map<Device*, Problems> places;
  std::vector<BenchResult> results;
  std::vector<TimedBody> bodies;
  for (const BenchBackend& backend : backends) {
    Device* const device = backend.device.get();
    Problems& there = places[device];
    const auto part = [&]() -> BenchProblem& {
      if (!there.part) there.part = smaller.make(device);
      return *there.part;
    };
    if (borrows(part(), backend.backend, backends)) continue;
    BenchResult result{.backend = backend.backend,
                       .kernel = part().kernel(backend.backend),
                       .bits = check_bits(smaller, precision, backend, expected),
                       .peak = precision == Precision::float32 ? backend.float_peak : backend.double_peak};
    // A backend that would take too long for the whole problem.
    result.part = one.part && timed_run(part(), backend)(1) * one.cost.flops / smaller.cost.flops > kLongestCall;
    result.cost = result.part ? smaller.cost : one.cost;
    if (one.part && !result.part && !there.whole) there.whole = one.make(device);
    bodies.push_back(timed_run(one.part && !result.part ? *there.whole : part(), backend));
    results.push_back(std::move(result));
  }
  const auto samples = measure_in_turns(bodies, quick ? kQuick : kUsual);
  for (std::size_t i = 0; i < results.size(); ++i) results[i].seconds = summarise(samples[i]);
  return results;
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
    std::vector<BenchBackend> backends = chosen_backends(arguments_.backends, console_);
    const bool devices = std::any_of(backends.begin(), backends.end(), [](const auto& one) { return one.device; });
    const std::vector<BenchGroup> groups =
        only_machine ? std::vector<BenchGroup>{} : bench_groups(arguments_.name, devices);
    const int threads = arguments_.threads > 0 ? arguments_.threads : available_cpus();
    machine_ = measure_machine(threads, arguments_.quick);
    measure_peaks(backends);
    if (!console_.json()) console_.print(machine_text(machine_));
    for (const BenchGroup& group : groups) run(group, backends);
    if (console_.json())
      console_.print(fmt::format("{}\n", Json{{"machine", machine_json(machine_)}, {"kernels", kernels_}}.dump(
                                             2, ' ', false, Json::error_handler_t::replace)));
    else if (!groups.empty())
      console_.print(footnote());
  }

 private:
  /// Of a thread, or of each device.
  void measure_peaks(std::vector<BenchBackend>& backends) {
    for (BenchBackend& one : backends) {
      one.float_peak = machine_.float_peak;
      one.double_peak = machine_.double_peak;
      if (!one.device) continue;
      const std::string id = device_id(*one.device);
      auto rate = std::find_if(machine_.devices.begin(), machine_.devices.end(),
                               [&](const DeviceRate& known) { return known.id == id; });
      if (rate == machine_.devices.end())
        rate = machine_.devices.insert(machine_.devices.end(), measure_device(*one.device));
      one.float_peak = rate->float_peak;
      one.double_peak = rate->double_peak;
    }
  }

  void run(const BenchGroup& group, const std::vector<BenchBackend>& backends) {
    TextTable table("lllrrrrrrr");
    table.row(
        {"kernel", "shape", "backend", "GFLOP/s", "95 % interval", "of peak", "GB/s", "x naive", "bits", "samples"});
    for (const BenchCase& one : group.cases) {
      console_.draw(fmt::format("{}: {} {}", group.name, one.kernel, one.shape));
      const std::vector<BenchResult> results = measure_case(one, group.precision, backends, arguments_.quick);
      for (std::size_t i = 0; i < results.size(); ++i) {
        table.row(cells(i == 0 ? one.kernel : "", i == 0 ? one.shape : "", results[i], results));
        kernels_.push_back(json(group, one, results[i], results));
      }
    }
    if (!console_.json()) console_.print(fmt::format("\n{}\n{}", group.title, table.str(2)));
  }

  static std::vector<std::string> cells(const std::string& kernel, const std::string& shape, const BenchResult& result,
                                        const std::vector<BenchResult>& all) {
    const double rate = result.flops_per_second(), giga = 1e-9;
    const auto& interval = result.seconds.interval;
    const auto ratio = times_naive(result, all);
    return {kernel,
            shape,
            result.kernel,
            fmt::format("{}{:.2f}", result.part ? "~" : "", rate * giga),
            interval ? fmt::format("{:.2f} - {:.2f}", result.cost.flops / interval->high * giga,
                                   result.cost.flops / interval->low * giga)
                     : too_few_text(result.seconds.count),
            fmt::format("{:.1f} %", 100 * rate / result.peak),
            fmt::format("{:.1f}", result.cost.bytes / result.seconds.median * giga),
            ratio ? fmt::format("{:.2f}", *ratio) : "-",
            result.bits,
            std::to_string(result.seconds.count)};
  }

  Json json(const BenchGroup& group, const BenchCase& one, const BenchResult& result,
            const std::vector<BenchResult>& all) const {
    const Summary& s = result.seconds;
    Json json = {{"network", group.name},
                 {"kernel", one.kernel},
                 {"shape", one.shape},
                 {"precision", to_string(group.precision)},
                 {"backend", backend_info(result.backend).name},
                 {"implementation", result.kernel},
                 {"bits", result.bits},
                 {"part", result.part},
                 {"flops", result.cost.flops},
                 {"bytes", result.cost.bytes}};
    json["seconds"] = {{"median", s.median}, {"mad", s.mad}, {"min", s.min}, {"max", s.max}, {"count", s.count}};
    if (s.interval)
      json["seconds"].update(
          {{"low", s.interval->low}, {"high", s.interval->high}, {"coverage", s.interval->coverage}});
    json["gflops_per_second"] = result.flops_per_second() * 1e-9;
    json["share_of_peak"] = result.flops_per_second() / result.peak;
    if (const auto ratio = times_naive(result, all)) json["times_naive"] = *ratio;
    return json;
  }

  static std::string footnote() {
    return "\nOne thread; a device: all of it, by its own clock, without the launches. Medians of samples taken in "
           "turns; interval: 95 % for the\nmedian, from order statistics, n = 2 where there are too few samples. of "
           "peak: "
           "of the measured multiply-add peak of one thread, or of the\ndevice. GB/s: operands once, wherever they "
           "lie. "
           "~: measured on a part of the problem. bits: the same as naive's, checked here; a number:\nof a library, "
           "how "
           "far off, as a share of the largest result.\n";
  }

  const BenchArguments& arguments_;
  Console& console_;
  MachineReport machine_{};
  Json kernels_ = Json::array();
};

}  // namespace

RunCommand bench_command(Options& options) {
  const auto arguments = std::make_shared<BenchArguments>();
  options.examples(R"(Examples:
  lockstep bench                            all of it, one to two minutes
  lockstep bench machine                    the machine only: multiply-adds, memory, OpenBLAS
  lockstep bench lenet5 --quick             one network: mlp, mlp-wide, lenet5, bn-cnn, digits, image
  lockstep bench conv2d --backend naive     one kind of kernel, one backend
  lockstep bench mlp --backend opencl       kernels on a device, by its own clock
  lockstep bench max                        the classic exercises, from interpreted Python to a device: max, xxt)");
  options.optional_argument("name", arguments->name,
                            {"NAME", "A network, a part of a kernel's name, max or xxt; default: every network"});
  options.texts("--backend", arguments->backends,
                {"NAME", fmt::format("Only these kernels; may be repeated: {}; default: all but those of devices",
                                     fmt::join(backend_names(), ", "))});
  options.integer("--threads", arguments->threads, 1, kMaxThreads,
                  {"N", "Of the machine's second column; default: all cores"});
  options.flag("--quick", arguments->quick, "Shorter measurements: a first impression");
  return [arguments](Console& console) {
    if (is_primitive(arguments->name)) return run_primitives(*arguments, console);
    BenchRun(*arguments, console).run();
  };
}

}  // namespace lockstep::cli
