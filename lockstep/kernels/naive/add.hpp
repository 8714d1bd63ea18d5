#pragma once
#include "lockstep/kernels/add.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
void add(const Add<T>& a) {
  for (std::int64_t r = 0; r < a.y.rows; ++r)
    for (std::int64_t s = 0; s < a.y.cols; ++s) a.y(r, s) = a.a(r, s) + a.b(r, s);
}

}  // namespace lockstep::LOCKSTEP_NAIVE
