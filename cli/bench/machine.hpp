#pragma once
// The first part of `lockstep bench`: what the machine can do at best.

#include <optional>
#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "cli/output/json.hpp"
#include "lockstep/lab/machine.hpp"

namespace lockstep::cli {

/// One rate, on one thread and on all.
struct MachineRate {
  std::string name;  // "fma float32 avx2"
  std::string unit;  // "GFLOP/s", "GB/s"
  double one = 0, all = 0;
};

/// What a device can do at best, in operations per second; 0: it has no such numbers.
struct DeviceRate {
  std::string id, name;  // "opencl 0:0"
  double float_peak = 0, double_peak = 0;
};

struct MachineReport {
  MachineDescription description;
  int threads = 1;  // "all"
  std::vector<MachineRate> rates{};
  double float_peak = 0, double_peak = 0;  // operations per second, one thread, widest instruction set
  std::string openblas{};                  // empty: absent
  std::vector<DeviceRate> devices{};       // those whose kernels are measured
};

/// A few seconds; `quick`: below one.
MachineReport measure_machine(int threads, bool quick);

std::string machine_text(const MachineReport& report);
Json machine_json(const MachineReport& report);

}  // namespace lockstep::cli
