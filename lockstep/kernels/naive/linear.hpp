#pragma once
#include "lockstep/kernels/linear.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
void linear_forward(const LinearForward<T>& a) {
  for (std::int64_t o = 0; o < a.y.rows; ++o)
    for (std::int64_t s = 0; s < a.y.cols; ++s) {
      T sum = a.b ? a.b[o] : T(0);
      for (std::int64_t i = 0; i < a.x.rows; ++i) sum = fma(a.w(o, i), a.x(i, s), sum);
      a.y(o, s) = sum;
    }
}

template <class T>
void linear_backward_data(const LinearBackwardData<T>& a) {
  for (std::int64_t i = 0; i < a.dx.rows; ++i)
    for (std::int64_t s = 0; s < a.dx.cols; ++s) {
      T sum = T(0);
      for (std::int64_t o = 0; o < a.dy.rows; ++o) sum = fma(a.w(o, i), a.dy(o, s), sum);
      a.dx(i, s) = sum;
    }
}

template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>& a) {
  for (std::int64_t o = 0; o < a.dw.rows; ++o)
    for (std::int64_t i = 0; i < a.dw.cols; ++i) {
      const auto slot_sum = [&](std::int64_t slot) {
        T sum = T(0);
        for (std::int64_t s = a.slots.begin(slot); s < a.slots.end(slot); ++s) sum = fma(a.dy(o, s), a.x(i, s), sum);
        return sum;
      };
      a.dw(o, i) = slot_tree(slot_sum, 0, a.slots.count());
    }
  if (a.db == nullptr) return;
  for (std::int64_t o = 0; o < a.dw.rows; ++o) {
    const auto slot_sum = [&](std::int64_t slot) {
      T sum = T(0);
      for (std::int64_t s = a.slots.begin(slot); s < a.slots.end(slot); ++s) sum = sum + a.dy(o, s);
      return sum;
    };
    a.db[o] = slot_tree(slot_sum, 0, a.slots.count());
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
