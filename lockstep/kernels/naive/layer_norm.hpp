#pragma once
#include "lockstep/kernels/layer_norm.hpp"
#include "lockstep/kernels/naive/lanes.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
void layer_norm_forward(const LayerNormForward<T>& a) {
  const T share = T(1) / T(a.x.rows);
  for (std::int64_t s = 0; s < a.x.cols; ++s) {
    T sum = T(0), squares = T(0);
    for (std::int64_t f = 0; f < a.x.rows; ++f) sum = sum + a.x(f, s);
    const T mean = sum * share;
    for (std::int64_t f = 0; f < a.x.rows; ++f) squares = fma(a.x(f, s) - mean, a.x(f, s) - mean, squares);
    const T inv_std = T(1) / square_root(squares * share + a.eps);
    for (std::int64_t f = 0; f < a.x.rows; ++f) a.y(f, s) = fma((a.x(f, s) - mean) * inv_std, a.gamma[f], a.beta[f]);
    if (a.mean == nullptr) continue;
    a.mean[s] = mean;
    a.inv_std[s] = inv_std;
  }
}

template <class T>
void layer_norm_backward(const LayerNormBackward<T>& a) {
  const auto h = [&](std::int64_t f, std::int64_t s) { return (a.x(f, s) - a.mean[s]) * a.inv_std[s]; };
  for (std::int64_t f = 0; f < a.x.rows; ++f) {
    a.dbeta[f] = sum_over_slots<T>(a.slots, {1, 1},
                                   [&](std::int64_t, std::int64_t, std::int64_t s, T sum) { return sum + a.dy(f, s); });
    a.dgamma[f] = sum_over_slots<T>(a.slots, {1, 1}, [&](std::int64_t, std::int64_t, std::int64_t s, T sum) {
      return fma(a.dy(f, s), h(f, s), sum);
    });
  }
  if (a.dx.data == nullptr) return;
  const T share = T(1) / T(a.x.rows);
  for (std::int64_t s = 0; s < a.x.cols; ++s) {
    T p = T(0), q = T(0);
    for (std::int64_t f = 0; f < a.x.rows; ++f) {
      p = fma(a.gamma[f], a.dy(f, s), p);
      q = fma(a.gamma[f] * a.dy(f, s), h(f, s), q);
    }
    for (std::int64_t f = 0; f < a.x.rows; ++f)
      a.dx(f, s) = a.inv_std[s] * fma(a.gamma[f], a.dy(f, s), -(fma(h(f, s), q, p) * share));
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
