// Layer normalisation. Forward and dx: a vector of samples at a time goes down the features, so every sum is the naive
// chain; the columns of one vector stay in L1 or L2 between the passes. dgamma and dbeta: the 16 virtual lanes of a
// slot are 16 columns side by side, and a vector of features goes through the lane tree together. Limit: the memory.

#include "lockstep/kernels/layer_norm.hpp"

#include "lockstep/kernels/simd/lanes.hpp"
#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

/// dbeta and dgamma of a vector of features, in one slot or over several.
template <class T>
struct FeatureSums {
  Vec<T> dbeta, dgamma;
  LOCKSTEP_INLINE FeatureSums operator+(const FeatureSums& o) const { return {dbeta + o.dbeta, dgamma + o.dgamma}; }
};

/// The virtual lanes of one feature in one slot. Columns that are not there load as 0, which adds nothing.
template <class T>
LOCKSTEP_INLINE void sum_lanes(const LayerNormBackward<T>& a, std::int64_t feature, std::int64_t slot, T* dbeta,
                               T* dgamma) {
  Vec<T> sums[kLaneVecs<T>], products[kLaneVecs<T>];
  for (int v = 0; v < kLaneVecs<T>; ++v) sums[v] = products[v] = zero<T>();
  const T *x = a.x.row(feature), *dy = a.dy.row(feature);
  int v = 0;
  for_vectors<T>(a.slots.begin(slot), a.slots.end(slot), [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const Vec<T> gradient = load(dy + c, end);
    const Vec<T> h = (load(x + c, end) - load(a.mean + c, end)) * load(a.inv_std + c, end);
    sums[v] = sums[v] + gradient;
    products[v] = fma(gradient, h, products[v]);
    v = (v + 1) % kLaneVecs<T>;
  });
  for (int i = 0; i < kLaneVecs<T>; ++i) {
    store(dbeta + i * Vec<T>::kWidth, sums[i]);
    store(dgamma + i * Vec<T>::kWidth, products[i]);
  }
}

template <class T>
LOCKSTEP_NOINLINE FeatureSums<T> sum_slot(const LayerNormBackward<T>& a, std::int64_t first, std::int64_t count,
                                          std::int64_t slot) {
  T dbeta[Vec<T>::kWidth * kLanes] = {}, dgamma[Vec<T>::kWidth * kLanes] = {};
  for (std::int64_t i = 0; i < count; ++i) sum_lanes(a, first + i, slot, dbeta + i * kLanes, dgamma + i * kLanes);
  return {lane_trees(dbeta), lane_trees(dgamma)};
}

}  // namespace

template <class T>
void layer_norm_forward(const LayerNormForward<T>& a, KernelContext&) {
  const Vec<T> share = broadcast(T(1) / T(a.x.rows)), one = broadcast(T(1)), eps = broadcast(a.eps);
  for_vectors<T>(0, a.x.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    Vec<T> sum = zero<T>(), squares = zero<T>();
    for (std::int64_t f = 0; f < a.x.rows; ++f) sum = sum + load(a.x.row(f) + c, end);
    const Vec<T> mean = sum * share;
    for (std::int64_t f = 0; f < a.x.rows; ++f) {
      const Vec<T> d = load(a.x.row(f) + c, end) - mean;
      squares = fma(d, d, squares);
    }
    const Vec<T> inv_std = one / sqrt(squares * share + eps);
    for (std::int64_t f = 0; f < a.x.rows; ++f) {
      const Vec<T> h = (load(a.x.row(f) + c, end) - mean) * inv_std;
      store(a.y.row(f) + c, fma(h, broadcast(a.gamma[f]), broadcast(a.beta[f])), end);
    }
    if (a.mean == nullptr) return;
    store(a.mean + c, mean, end);
    store(a.inv_std + c, inv_std, end);
  });
}

template <class T>
void layer_norm_backward(const LayerNormBackward<T>& a, KernelContext&) {
  for (std::int64_t first = 0; first < a.x.rows; first += Vec<T>::kWidth) {
    const std::int64_t count = least(Vec<T>::kWidth, a.x.rows - first);
    const auto leaf = [&](std::int64_t slot) { return sum_slot(a, first, count, slot); };
    const FeatureSums<T> sums = slot_tree(leaf, 0, a.slots.count());
    for (std::int64_t i = 0; i < count; ++i) {
      a.dbeta[first + i] = sums.dbeta.v[i];
      a.dgamma[first + i] = sums.dgamma.v[i];
    }
  }
  if (a.dx.data == nullptr) return;
  const Vec<T> share = broadcast(T(1) / T(a.x.rows));
  for_vectors<T>(0, a.x.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const Vec<T> mean = load(a.mean + c, end), inv_std = load(a.inv_std + c, end);
    Vec<T> p = zero<T>(), q = zero<T>();
    for (std::int64_t f = 0; f < a.x.rows; ++f) {
      const Vec<T> gamma = broadcast(a.gamma[f]), dy = load(a.dy.row(f) + c, end);
      p = fma(gamma, dy, p);
      q = fma(gamma * dy, (load(a.x.row(f) + c, end) - mean) * inv_std, q);
    }
    for (std::int64_t f = 0; f < a.x.rows; ++f) {
      const Vec<T> h = (load(a.x.row(f) + c, end) - mean) * inv_std;
      const Vec<T> rest = -(fma(h, q, p) * share);
      store(a.dx.row(f) + c, inv_std * fma(broadcast(a.gamma[f]), load(a.dy.row(f) + c, end), rest), end);
    }
  });
}

LOCKSTEP_SIMD_INSTANTIATE(layer_norm_forward, LayerNormForward)
LOCKSTEP_SIMD_INSTANTIATE(layer_norm_backward, LayerNormBackward)

}  // namespace lockstep::LOCKSTEP_SIMD
