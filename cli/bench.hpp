#pragma once
// lockstep bench [NAME]: the machine, then every kernel of the example networks under every backend.

#include <string>
#include <vector>

#include "cli/bench_cases.hpp"
#include "cli/bench_machine.hpp"
#include "cli/console.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep::cli {

struct BenchArguments {
  std::string name{};                   // what to measure: a network, a kernel, "machine"; empty: everything
  std::vector<std::string> backends{};  // empty: all that this machine can run
  int threads = 0;                      // of the machine's second column; 0: as many as this process may use
  bool quick = false;                   // shorter measurements, wider intervals
};

/// One kernel under one backend.
struct BenchResult {
  Backend backend = Backend::simd;
  std::string kernel;  // "simd.avx2"
  bool part = false;   // measured on a part of the problem
  Cost cost{};         // of what was measured
  Summary seconds{};   // per call

  double flops_per_second() const { return cost.flops / seconds.median; }
};

/// Measures the backends in turns. A backend that would take too long for the whole problem gets its part. One that has
/// no kernel of its own for it, but that of another backend here, is left out.
std::vector<BenchResult> measure_case(const BenchCase& one, const std::vector<Backend>& backends, bool quick);

void run_bench(const BenchArguments& arguments, Console& console);

}  // namespace lockstep::cli
