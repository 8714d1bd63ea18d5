// Recurrent cells: one pass, a vector of samples of one hidden unit at a time. Limit: the polynomials and divisions of
// the exponentials. The formulas are those of naive/recurrent.hpp in the same order.

#include "lockstep/kernels/recurrent.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

/// work(row, column, end) for vectors of all units.
template <class T, class Work>
LOCKSTEP_INLINE void for_units(std::int64_t hidden, std::int64_t cols, const Work& work) {
  for (std::int64_t r = 0; r < hidden; ++r)
    for_vectors<T>(0, cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA { work(r, c, end); });
}

/// y (1 - y): the slope of a sigmoid with the value y.
template <class T>
LOCKSTEP_INLINE Vec<T> sigmoid_slope(Vec<T> y) {
  return y * (broadcast(T(1)) - y);
}

template <class T>
LOCKSTEP_INLINE Vec<T> tanh_slope(Vec<T> y) {
  return fma(-y, y, broadcast(T(1)));
}

}  // namespace

template <class T>
void lstm_forward(const LstmForward<T>& a, KernelContext&) {
  const std::int64_t hidden = a.h.rows;
  for_units<T>(hidden, a.h.cols, [&](std::int64_t r, std::int64_t s, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const auto z = [&](std::int64_t gate) LOCKSTEP_INLINE_LAMBDA {
      return load(a.zi.row(gate * hidden + r) + s, end) + load(a.zh.row(gate * hidden + r) + s, end);
    };
    const Vec<T> i = math::sigmoid(z(0)), f = math::sigmoid(z(1)), g = math::tanh(z(2)), o = math::sigmoid(z(3));
    const Vec<T> c = a.c_before.data == nullptr ? i * g : fma(f, load(a.c_before.row(r) + s, end), i * g);
    store(a.gates.row(r) + s, i, end);
    store(a.gates.row(hidden + r) + s, f, end);
    store(a.gates.row(2 * hidden + r) + s, g, end);
    store(a.gates.row(3 * hidden + r) + s, o, end);
    store(a.c.row(r) + s, c, end);
    store(a.h.row(r) + s, o * math::tanh(c), end);
  });
}

template <class T>
void lstm_backward(const LstmBackward<T>& a, KernelContext&) {
  const std::int64_t hidden = a.c.rows;
  for_units<T>(hidden, a.c.cols, [&](std::int64_t r, std::int64_t s, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const auto gate = [&](std::int64_t k) LOCKSTEP_INLINE_LAMBDA { return load(a.gates.row(k * hidden + r) + s, end); };
    const Vec<T> i = gate(0), f = gate(1), g = gate(2), o = gate(3);
    const Vec<T> t = math::tanh(load(a.c.row(r) + s, end)), dh = load(a.dh.row(r) + s, end), slope = tanh_slope(t);
    const Vec<T> d =
        a.dc_after.data == nullptr ? (dh * o) * slope : fma(dh * o, slope, load(a.dc_after.row(r) + s, end));
    store(a.dz.row(r) + s, (d * g) * sigmoid_slope(i), end);
    store(a.dz.row(hidden + r) + s,
          a.c_before.data == nullptr ? zero<T>() : (d * load(a.c_before.row(r) + s, end)) * sigmoid_slope(f), end);
    store(a.dz.row(2 * hidden + r) + s, (d * i) * tanh_slope(g), end);
    store(a.dz.row(3 * hidden + r) + s, (dh * t) * sigmoid_slope(o), end);
    store(a.dc_before.row(r) + s, d * f, end);
  });
}

template <class T>
void gru_forward(const GruForward<T>& a, KernelContext&) {
  const std::int64_t hidden = a.h.rows;
  for_units<T>(hidden, a.h.cols, [&](std::int64_t row, std::int64_t s, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const auto zi = [&](std::int64_t k) LOCKSTEP_INLINE_LAMBDA { return load(a.zi.row(k * hidden + row) + s, end); };
    const auto zh = [&](std::int64_t k) LOCKSTEP_INLINE_LAMBDA { return load(a.zh.row(k * hidden + row) + s, end); };
    const Vec<T> r = math::sigmoid(zi(0) + zh(0)), z = math::sigmoid(zi(1) + zh(1));
    const Vec<T> n = math::tanh(fma(r, zh(2), zi(2)));
    const Vec<T> change = a.h_before.data == nullptr ? -n : load(a.h_before.row(row) + s, end) - n;
    store(a.gates.row(row) + s, r, end);
    store(a.gates.row(hidden + row) + s, z, end);
    store(a.gates.row(2 * hidden + row) + s, n, end);
    store(a.h.row(row) + s, fma(z, change, n), end);
  });
}

template <class T>
void gru_backward(const GruBackward<T>& a, KernelContext&) {
  const std::int64_t hidden = a.dh.rows;
  const Vec<T> one = broadcast(T(1));
  for_units<T>(hidden, a.dh.cols, [&](std::int64_t row, std::int64_t s, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const auto gate = [&](std::int64_t k)
                          LOCKSTEP_INLINE_LAMBDA { return load(a.gates.row(k * hidden + row) + s, end); };
    const Vec<T> r = gate(0), z = gate(1), n = gate(2), dh = load(a.dh.row(row) + s, end);
    const Vec<T> before = a.h_before.data == nullptr ? zero<T>() : load(a.h_before.row(row) + s, end);
    const Vec<T> dn = (dh * (one - z)) * tanh_slope(n);
    const Vec<T> dr = (dn * load(a.zh.row(2 * hidden + row) + s, end)) * sigmoid_slope(r);
    const Vec<T> dz = (dh * (before - n)) * sigmoid_slope(z);
    store(a.dzi.row(row) + s, dr, end);
    store(a.dzh.row(row) + s, dr, end);
    store(a.dzi.row(hidden + row) + s, dz, end);
    store(a.dzh.row(hidden + row) + s, dz, end);
    store(a.dzi.row(2 * hidden + row) + s, dn, end);
    store(a.dzh.row(2 * hidden + row) + s, dn * r, end);
    store(a.dh_before.row(row) + s, dh * z, end);
  });
}

LOCKSTEP_SIMD_INSTANTIATE(lstm_forward, LstmForward)
LOCKSTEP_SIMD_INSTANTIATE(lstm_backward, LstmBackward)
LOCKSTEP_SIMD_INSTANTIATE(gru_forward, GruForward)
LOCKSTEP_SIMD_INSTANTIATE(gru_backward, GruBackward)

}  // namespace lockstep::LOCKSTEP_SIMD
