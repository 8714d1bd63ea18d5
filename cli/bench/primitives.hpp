#pragma once
// `lockstep bench max` and `lockstep bench xxt`: the first exercises of courses on parallel computing, from interpreted
// loops to a device, by the rule they are measured by there (best of 3 x 20 calls), and what limits each.

#include <functional>
#include <memory>
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

// python.cpp: the primitives in Python, where there is one: the interpreted loops that the classic claims are made
// against, and numpy and numba where they are installed.

struct PythonTimes {
  std::string version{};                   // "3.11.2"; empty: no Python
  std::vector<PrimitiveResult> results{};  // loops first
  std::string missing{};                   // what there is no result of, and why; empty: nothing
};

/// primitives.py: prints a line of JSON per way to compute a primitive. The number of rows is chosen so that a call of
/// the loops takes a fraction of a second; their time is scaled by what share of the rows that is.
const char* primitives_script();

/// `primitive` is max or xxt; k is not used for max. Loops that would take long run on some of the rows and are scaled.
/// Every result was checked in Python against another way to compute it.
PythonTimes measure_python(const std::string& primitive, std::int64_t n, std::int64_t k, bool quick);

/// Measures the variants, puts Python's results before them, and says of each what limits it.
void finish_measuring(PrimitiveTimes& times, const std::vector<PrimitiveVariant>& variants, PythonTimes python,
                      const PrimitiveOptions& options, const PrimitiveLimits& limits, Console& console);

/// True for "max" and "xxt".
bool is_primitive(const std::string& name);
void run_primitives(const BenchArguments& arguments, Console& console);

}  // namespace lockstep::cli
