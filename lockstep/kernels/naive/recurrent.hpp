#pragma once
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/recurrent.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
void lstm_forward(const LstmForward<T>& a) {
  const std::int64_t hidden = a.h.rows;
  for (std::int64_t r = 0; r < hidden; ++r)
    for (std::int64_t s = 0; s < a.h.cols; ++s) {
      const auto z = [&](std::int64_t gate) { return a.zi(gate * hidden + r, s) + a.zh(gate * hidden + r, s); };
      const T i = math::sigmoid(z(0)), f = math::sigmoid(z(1)), g = math::tanh(z(2)), o = math::sigmoid(z(3));
      const T c = a.c_before.data == nullptr ? i * g : fma(f, a.c_before(r, s), i * g);
      a.gates(r, s) = i;
      a.gates(hidden + r, s) = f;
      a.gates(2 * hidden + r, s) = g;
      a.gates(3 * hidden + r, s) = o;
      a.c(r, s) = c;
      a.h(r, s) = o * math::tanh(c);
    }
}

template <class T>
void lstm_backward(const LstmBackward<T>& a) {
  const std::int64_t hidden = a.c.rows;
  for (std::int64_t r = 0; r < hidden; ++r)
    for (std::int64_t s = 0; s < a.c.cols; ++s) {
      const T i = a.gates(r, s), f = a.gates(hidden + r, s), g = a.gates(2 * hidden + r, s),
              o = a.gates(3 * hidden + r, s);
      const T t = math::tanh(a.c(r, s)), dh = a.dh(r, s), slope = fma(-t, t, T(1));
      const T d = a.dc_after.data == nullptr ? (dh * o) * slope : fma(dh * o, slope, a.dc_after(r, s));
      a.dz(r, s) = (d * g) * (i * (T(1) - i));
      a.dz(hidden + r, s) = a.c_before.data == nullptr ? T(0) : (d * a.c_before(r, s)) * (f * (T(1) - f));
      a.dz(2 * hidden + r, s) = (d * i) * fma(-g, g, T(1));
      a.dz(3 * hidden + r, s) = (dh * t) * (o * (T(1) - o));
      a.dc_before(r, s) = d * f;
    }
}

template <class T>
void gru_forward(const GruForward<T>& a) {
  const std::int64_t hidden = a.h.rows;
  for (std::int64_t row = 0; row < hidden; ++row)
    for (std::int64_t s = 0; s < a.h.cols; ++s) {
      const T r = math::sigmoid(a.zi(row, s) + a.zh(row, s));
      const T z = math::sigmoid(a.zi(hidden + row, s) + a.zh(hidden + row, s));
      const T n = math::tanh(fma(r, a.zh(2 * hidden + row, s), a.zi(2 * hidden + row, s)));
      a.gates(row, s) = r;
      a.gates(hidden + row, s) = z;
      a.gates(2 * hidden + row, s) = n;
      a.h(row, s) = fma(z, a.h_before.data == nullptr ? -n : a.h_before(row, s) - n, n);
    }
}

template <class T>
void gru_backward(const GruBackward<T>& a) {
  const std::int64_t hidden = a.dh.rows;
  for (std::int64_t row = 0; row < hidden; ++row)
    for (std::int64_t s = 0; s < a.dh.cols; ++s) {
      const T r = a.gates(row, s), z = a.gates(hidden + row, s), n = a.gates(2 * hidden + row, s);
      const T before = a.h_before.data == nullptr ? T(0) : a.h_before(row, s), dh = a.dh(row, s);
      const T dn = (dh * (T(1) - z)) * fma(-n, n, T(1));
      const T dr = (dn * a.zh(2 * hidden + row, s)) * (r * (T(1) - r));
      const T dz = (dh * (before - n)) * (z * (T(1) - z));
      a.dzi(row, s) = a.dzh(row, s) = dr;
      a.dzi(hidden + row, s) = a.dzh(hidden + row, s) = dz;
      a.dzi(2 * hidden + row, s) = dn;
      a.dzh(2 * hidden + row, s) = dn * r;
      a.dh_before(row, s) = dh * z;
    }
}

template <class T>
void pack_steps(const PackSteps<T>& a) {
  for (std::int64_t r = 0; r < a.to.rows; ++r)
    for (std::int64_t slot = 0; slot < a.slots.count(); ++slot) {
      T* to = a.to.row(r) + a.steps * a.slots.begin(slot);
      const std::int64_t size = a.slots.size(slot);
      for (std::int64_t t = a.shift; t < a.steps + a.shift; ++t, to += size) {
        const bool exists = t >= 0 && t < a.steps;
        const T* const from = a.from.row(r) + (exists ? t * a.step_stride + a.slots.begin(slot) : 0);
        if (exists)
          for (std::int64_t j = 0; j < size; ++j) to[j] = from[j];
        else
          for (std::int64_t j = 0; j < size; ++j) to[j] = T(0);
      }
    }
}

template <class T>
void end_steps(const EndSteps<T>& a) {
  for (std::int64_t s = 0; s < a.y.cols; ++s) {
    if (a.step < a.lengths[s]) continue;
    for (std::int64_t r = 0; r < a.y.rows; ++r) a.y(r, s) = a.ended.data == nullptr ? T(0) : a.ended(r, s);
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
