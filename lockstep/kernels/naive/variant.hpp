#pragma once
// The naive kernels define the right answers: serial, plain loops, templates on the scalar. They are compiled three
// times, each time into a namespace of its own, so that the baseline is a fair one on every machine:
//   naive_fma       -O3 with the hardware's fma instruction
//   naive_portable  -O3 for any machine; fma is the C library's, exact and slow
//   naive_o0        no optimisation: what an untuned build of the same loops costs
// The build defines LOCKSTEP_NAIVE as the namespace.

#ifndef LOCKSTEP_NAIVE
#define LOCKSTEP_NAIVE naive_portable
#endif

#include <cstdint>

#include "lockstep/core/inline.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

LOCKSTEP_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
LOCKSTEP_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
LOCKSTEP_INLINE float square_root(float x) { return __builtin_sqrtf(x); }
LOCKSTEP_INLINE double square_root(double x) { return __builtin_sqrt(x); }

}  // namespace lockstep::LOCKSTEP_NAIVE
