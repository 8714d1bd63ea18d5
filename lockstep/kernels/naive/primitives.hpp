#pragma once
#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/primitives/elementwise_max.hpp"
#include "lockstep/kernels/primitives/xxt.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

inline void elementwise_max(const ElementwiseMax& a) {
  for (std::int64_t r = 0; r < a.c.rows; ++r)
    for (std::int64_t c = 0; c < a.c.cols; ++c) a.c(r, c) = a.a(r, c) > a.b(r, c) ? a.a(r, c) : a.b(r, c);
}

inline void xxt(const Xxt& a) {
  for (std::int64_t i = 0; i < a.y.rows; ++i)
    for (std::int64_t j = 0; j < a.y.cols; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < a.x.cols; ++k) sum = fma(a.x(i, k), a.x(j, k), sum);
      a.y(i, j) = sum;
    }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
