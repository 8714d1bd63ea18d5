#pragma once
// lockstep bench [NAME]: the machine, then every kernel of the example networks under every backend. Each is checked
// against naive before it is measured.

#include <string>
#include <vector>

#include "cli/bench/cases.hpp"
#include "cli/bench/machine.hpp"
#include "cli/command_line/options.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep::cli {

struct BenchArguments {
  std::string name{};                   // what to measure: a network, a kernel, "machine"; empty: everything
  std::vector<std::string> backends{};  // empty: all of the host that this machine can run
  int threads = 0;                      // of the machine's second column; 0: as many as this process may use
  bool quick = false;                   // shorter measurements, wider intervals
};

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

/// Measures the backends in turns, those on devices by the device's clock. Error(bug) where one that keeps the promise
/// has other bits than naive, or another is farther off than rounding explains. A backend that would take too long for
/// the whole problem gets its part. One that has no kernel of its own for it, but that of another backend here, is left
/// out.
std::vector<BenchResult> measure_case(const BenchCase& one, Precision precision,
                                      const std::vector<BenchBackend>& backends, bool quick);

RunCommand bench_command(Options& options);

}  // namespace lockstep::cli
