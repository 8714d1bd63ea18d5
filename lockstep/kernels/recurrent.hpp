#pragma once
// One step of a recurrent cell, over all samples of a chunk: what follows the two products of the step. Every operation
// is element-wise or a copy; the sums of a recurrence are those of linear.hpp (docs/design/0027-sequences.md).
//   zi = weight_ih x + bias_ih, zh = weight_hh h_before + bias_hh   [gates * hidden, samples]   one chain each
//   c, h and their gradients                                       [hidden, samples]
// A state without data is 0: that before the first step. Gates stand in PyTorch's order.

#include "lockstep/kernels/cost.hpp"
#include "lockstep/kernels/slots.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

/// With z = zi + zh in four blocks of rows: i = sigmoid(z0), f = sigmoid(z1), g = tanh(z2), o = sigmoid(z3)
///   c = fma(f, c_before, i * g)   (without c_before: i * g)   h = o * tanh(c)
/// gates may be zi itself.
template <class T>
struct LstmForward {
  ConstMatrix<T> zi, zh, c_before;
  Matrix<T> gates, c, h;
};

/// With t = tanh(c) and d = fma(dh * o, fma(-t, t, 1), dc_after)   (without dc_after: (dh * o) * fma(-t, t, 1)):
///   dz0 = (d * g) * (i * (1 - i))         dz1 = (d * c_before) * (f * (1 - f))   (without c_before: 0)
///   dz2 = (d * i) * fma(-g, g, 1)         dz3 = (dh * t) * (o * (1 - o))         dc_before = d * f
/// dz may be gates, dc_before may be dc_after.
template <class T>
struct LstmBackward {
  ConstMatrix<T> gates, c, c_before, dh, dc_after;
  Matrix<T> dz, dc_before;
};

/// With three blocks of rows: r = sigmoid(zi0 + zh0), z = sigmoid(zi1 + zh1), n = tanh(fma(r, zh2, zi2))
///   h = fma(z, h_before - n, n)   (without h_before: fma(z, -n, n))
/// gates may be zi itself.
template <class T>
struct GruForward {
  ConstMatrix<T> zi, zh, h_before;
  Matrix<T> gates, h;
};

/// With b = h_before (or 0) and dn = (dh * (1 - z)) * fma(-n, n, 1):
///   dzi2 = dn    dzh2 = dn * r    dzi0 = dzh0 = (dn * zh2) * (r * (1 - r))
///   dzi1 = dzh1 = (dh * (b - n)) * (z * (1 - z))    dh_before = dh * z: the part that does not pass weight_hh
/// dzi may be gates, dzh may be zh, dh_before may be dh.
template <class T>
struct GruBackward {
  ConstMatrix<T> gates, zh, h_before, dh;
  Matrix<T> dzi, dzh, dh_before;
};

/// Steps of all samples in the order in which weight gradients add them up: slot by slot, in a slot step by step, in a
/// step sample by sample. `from` is [rows, steps * step_stride]: column t * step_stride + s is step t of sample s.
///   to(r, steps * begin + t * size + j) = from(r, (t + shift) * step_stride + begin + j), for sample j of a slot of
///   `size` samples that begins at sample `begin`; 0 where step t + shift does not exist
/// The slots of `to` have the bounds of the slots times `steps`.
template <class T>
struct PackSteps {
  ConstMatrix<T> from;
  std::int64_t steps = 1, step_stride = 0, shift = 0;
  Slots slots;
  Matrix<T> to;
};

/// Columns whose sequence has ended, step >= lengths[s], take the values of `ended` (without data: 0); others stay.
template <class T>
struct EndSteps {
  std::int64_t step = 0;
  const std::int64_t* lengths = nullptr;  // one per column, where the kernels work
  ConstMatrix<T> ended;
  Matrix<T> y;
};

/// Of a layer in one direction: both products and ten operations per exponential.
constexpr Cost recurrent_cost(std::int64_t in, std::int64_t hidden, std::int64_t gates, std::int64_t steps,
                              std::int64_t samples, std::size_t scalar) {
  const double n = double(samples) * double(steps), i = double(in), h = double(hidden), g = double(gates) * h;
  return {.flops = 2 * n * g * (i + h) + 10 * n * (g + h),
          .bytes = double(scalar) * (n * (i + 2 * g + 2 * h) + g * (i + double(steps) * h))};
}

}  // namespace lockstep
