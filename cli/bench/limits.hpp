#pragma once
// What this machine allows a primitive, measured on the spot, and from that, in words, what limits a result.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/json.hpp"
#include "lockstep/kernels/cost.hpp"
#include "lockstep/lab/record.hpp"

namespace lockstep::cli {

enum class PrimitiveKind { python, python_library, trivial, unoptimised, simd, library, device };

/// What ran.
struct PrimitiveSubject {
  PrimitiveKind kind = PrimitiveKind::trivial;
  std::string name;    // "simd, symmetric"
  std::string kernel;  // "simd.avx2"
  int threads = 1;
  bool symmetric = false;
  Cost cost{};              // of what it computes
  double steps = 0;         // elements, or multiply-adds
  std::int64_t blocks = 0;  // of a device; 0: no device
};

/// On that many threads.
struct ThreadLimits {
  double bandwidth = 0;     // bytes per second between memory and processors
  double peak = 0;          // float32 operations per second
  double team_seconds = 0;  // to start a team that does nothing and wait for its end
};

struct PrimitiveLimits {
  int cpus = 1;
  std::int64_t cache_bytes = 0;              // of the largest cache
  double chain_seconds = 0;                  // one multiply-add that waits for the one before
  std::map<int, ThreadLimits> on_threads{};  // more threads than processors have the rates of `cpus`
  std::optional<double> launch_seconds{};    // of an empty kernel on the device
  int device_units = 0;                      // that work at the same time
  std::string device{};                      // its name
  bool device_is_cpu = false;                // it is these processors, under another name
};

/// A few seconds; `quick`: below one. The caller fills in the device's part.
PrimitiveLimits measure_limits(const std::vector<int>& threads, bool quick);

Json limits_json(const PrimitiveLimits& limits);

/// One line: which limit `seconds` per call come near, by how much. `trivial_seconds`: of the compiled plain loops.
std::string what_limits(const PrimitiveSubject& subject, double seconds, double trivial_seconds,
                        const PrimitiveLimits& limits);

}  // namespace lockstep::cli

template <>
inline constexpr std::array lockstep::kNames<lockstep::cli::PrimitiveKind> = {
    "python", "python library", "trivial", "unoptimised", "simd", "library", "device"};
