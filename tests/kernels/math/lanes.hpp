#pragma once
// lanes.cpp is compiled once per instruction set; each copy applies the elementary functions to arrays with the
// widest vectors it has. lanes_test.cpp compares them with the scalars.

#include <cstdint>

namespace lockstep::math {

enum class LaneFunction { exp, log, log1p, tanh, sigmoid, sqrt };
inline constexpr LaneFunction kLaneFunctions[] = {LaneFunction::exp,  LaneFunction::log,     LaneFunction::log1p,
                                                  LaneFunction::tanh, LaneFunction::sigmoid, LaneFunction::sqrt};

/// y[i] = function(x[i]); count must be a multiple of 16.
#define LOCKSTEP_LANES(set)                                                          \
  namespace set {                                                                    \
  void apply(LaneFunction function, const float* x, float* y, std::int64_t count);   \
  void apply(LaneFunction function, const double* x, double* y, std::int64_t count); \
  }
LOCKSTEP_LANES(baseline)
LOCKSTEP_LANES(avx2)
LOCKSTEP_LANES(avx512)
#undef LOCKSTEP_LANES

}  // namespace lockstep::math
