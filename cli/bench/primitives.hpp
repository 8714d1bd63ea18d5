#pragma once
// `lockstep bench max` and `lockstep bench xxt`: the first exercises of courses on parallel computing, from interpreted
// loops to a device, by the rule they are measured by there (best of 3 x 20 calls), and what limits each.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/bench/bench.hpp"
#include "cli/bench/limits.hpp"
#include "cli/output/console.hpp"
#include "cli/output/json.hpp"
#include "lockstep/kernels/device/device.hpp"

namespace lockstep::cli {

/// One way to compute it.
struct PrimitiveVariant {
  PrimitiveSubject subject{};
  std::function<void()> run{};           // one call
  std::function<std::string()> check{};  // of what the last call left behind: "same", or how far off; Error(bug)
};

struct PrimitiveResult {
  PrimitiveSubject subject{};
  std::vector<double> samples{};  // seconds per call, each of `calls` calls in a row
  std::int64_t calls = 1;
  double part = 1;     // below 1: measured on this share of the problem, and scaled
  std::string result;  // "same", "within 2e-07": beside the trivial loops
  std::string why{};   // what limits it

  double best() const;
};

/// A problem with all its results; the ratios are of best times.
struct PrimitiveTimes {
  std::string name, shape;                 // "xxt", "784x128"
  double steps = 0;                        // elements, or multiply-adds of the whole product
  std::vector<PrimitiveResult> results{};  // Python's first, where there are any
  std::vector<std::string> left_out{};     // "device: no OpenCL device; ..."

  const PrimitiveResult* find(PrimitiveKind kind) const;  // the first of its kind
  const PrimitiveResult& fastest() const;
  const PrimitiveResult* fastest(PrimitiveKind kind) const;
};

struct PrimitiveOptions {
  std::vector<int> threads = {1, 2, 4, 8};
  bool quick = false;                // 3 x 3 calls
  std::shared_ptr<Device> device{};  // null: none
  std::string no_device{};           // why
};

/// What the machine allows on these numbers of threads, and its device where it has one: the options then hold it.
PrimitiveLimits measure_primitive_limits(PrimitiveOptions& options);

PrimitiveTimes measure_max(const PrimitiveOptions& options, const PrimitiveLimits& limits, Console& console);
PrimitiveTimes measure_xxt(std::int64_t n, std::int64_t k, const PrimitiveOptions& options,
                           const PrimitiveLimits& limits, Console& console);

struct PythonTimes;  // cli/bench/python.hpp

/// Best of 3 rounds of up to 20 calls; fewer where they would take too long, which the result says. Rounds interleave
/// the variants. Every variant is called and checked before.
std::vector<PrimitiveResult> measure_variants(const std::vector<PrimitiveVariant>& variants, bool quick,
                                              Console& console);

/// Measures the variants, puts Python's results before them, and says of each what limits it.
void finish_measuring(PrimitiveTimes& times, const std::vector<PrimitiveVariant>& variants, PythonTimes python,
                      const PrimitiveOptions& options, const PrimitiveLimits& limits, Console& console);

/// The table with both ratios and a line per result on what limits it.
std::string primitive_text(const PrimitiveTimes& times, const PrimitiveLimits& limits);
Json primitive_json(const PrimitiveTimes& times);

/// True for "max" and "xxt".
bool is_primitive(const std::string& name);
void run_primitives(const BenchArguments& arguments, Console& console);

}  // namespace lockstep::cli
