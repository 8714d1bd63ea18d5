#pragma once
#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/primitives/elementwise_max.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

inline void elementwise_max(const ElementwiseMax& a) {
  for (std::int64_t r = 0; r < a.c.rows; ++r)
    for (std::int64_t c = 0; c < a.c.cols; ++c) a.c(r, c) = a.a(r, c) > a.b(r, c) ? a.a(r, c) : a.b(r, c);
}

}  // namespace lockstep::LOCKSTEP_NAIVE
