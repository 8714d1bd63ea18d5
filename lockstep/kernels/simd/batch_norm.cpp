// Batch normalisation: the 16 virtual lanes of a slot are 16 columns side by side, a few vectors; each is a chain over
// (block, pixel). Additions wait for each other along a chain, so kChannels channels go side by side until four vectors
// are under way: enough to keep up with L2. Each slot of those channels is read by one pass after the other while it is
// in cache: sum, squares, output; backward: both sums in one pass, then dx. Limit: the memory.

#include "lockstep/kernels/batch_norm.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

template <class T>
inline constexpr int kBlockVecs = static_cast<int>(kLanes) / Vec<T>::kWidth;
template <class T>
inline constexpr int kChannels = kBlockVecs<T> < 4 ? 4 / kBlockVecs<T> : 1;

/// The vectors of a block of 16 samples: all there, or only the first few of them. `kept` gives +0 in the other lanes.
template <class T>
struct WholeBlock {
  LOCKSTEP_INLINE Whole end(int) const { return {}; }
  LOCKSTEP_INLINE Vec<T> kept(Vec<T> a, int) const { return a; }
};
template <class T>
struct PartBlock {
  Tail<T> tails[kBlockVecs<T>];

  LOCKSTEP_INLINE explicit PartBlock(std::int64_t samples) {
    for (int v = 0; v < kBlockVecs<T>; ++v)
      tails[v] = tail_of<T>(least(most(samples - v * Vec<T>::kWidth, 0), Vec<T>::kWidth));
  }
  LOCKSTEP_INLINE const Tail<T>& end(int v) const { return tails[v]; }
  LOCKSTEP_INLINE Vec<T> kept(Vec<T> a, int v) const { return keep(tails[v].mask, a); }
};

/// The columns [begin, end) of a slot in the rows of channels that lie side by side.
struct Group {
  std::int64_t first_row, pixels, begin, end;
};

/// visit(k, row, column, v, block) for all vectors of kCount channels: blocks, then pixels, then channels k and the
/// vectors v of a block, ascending.
template <class T, int kCount, class Visit>
LOCKSTEP_INLINE void for_blocks(const Group& group, const Visit& visit) {
  const auto block = [&](std::int64_t column, const auto& lanes) LOCKSTEP_INLINE_LAMBDA {
    for (std::int64_t row = group.first_row; row < group.first_row + group.pixels; ++row)
#pragma GCC unroll 4
      for (int k = 0; k < kCount; ++k)
#pragma GCC unroll 16
        for (int v = 0; v < kBlockVecs<T>; ++v) visit(k, row + k * group.pixels, column + v * Vec<T>::kWidth, v, lanes);
  };
  std::int64_t column = group.begin;
  for (; column + kLanes <= group.end; column += kLanes) block(column, WholeBlock<T>{});
  if (column < group.end) block(column, PartBlock<T>(group.end - column));
}

/// Four vectors under way, or one block where that has more.
template <class T, int kCount>
using Sums = Vec<T>[kCount][kBlockVecs<T>];

template <class T, int kCount>
LOCKSTEP_INLINE void clear(Sums<T, kCount>& sums) {
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k)
#pragma GCC unroll 16
    for (int v = 0; v < kBlockVecs<T>; ++v) sums[k][v] = zero<T>();
}

/// Lane l becomes lane l + lane l + kDistance, for the lanes that have such a partner.
template <int kDistance, class T, int... kLane>
LOCKSTEP_INLINE Vec<T> fold(Vec<T> a, std::integer_sequence<int, kLane...>) {
  return {a.v + __builtin_shufflevector(a.v, a.v, ((kLane + kDistance) % Vec<T>::kWidth)...)};
}
template <int kDistance, class T>
LOCKSTEP_INLINE T fold_to_one(Vec<T> a) {
  if constexpr (kDistance == 0)
    return a.v[0];
  else
    return fold_to_one<kDistance / 2>(fold<kDistance>(a, detail::Lanes<T>{}));
}

/// lane_tree of slots.hpp: whole vectors first, then within one.
template <class T>
LOCKSTEP_INLINE T sum_of_lanes(Vec<T> (&sums)[kBlockVecs<T>]) {
#pragma GCC unroll 4
  for (int half = kBlockVecs<T> / 2; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int v = 0; v < half; ++v) sums[v] = sums[v] + sums[v + half];
  return fold_to_one<Vec<T>::kWidth / 2>(sums[0]);
}

template <class T>
LOCKSTEP_INLINE T square_root(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}

/// Two numbers for each of kCount channels: what the tree over slots adds.
template <class T, int kCount>
struct Pairs {
  T first[kCount], second[kCount];

  LOCKSTEP_INLINE Pairs operator+(const Pairs& o) const {
    Pairs sum;
    for (int k = 0; k < kCount; ++k) {
      sum.first[k] = first[k] + o.first[k];
      sum.second[k] = second[k] + o.second[k];
    }
    return sum;
  }
};

/// A number for each of kCount channels.
template <class T, int kCount>
struct Numbers {
  T of[kCount];

  LOCKSTEP_INLINE Numbers operator+(const Numbers& o) const {
    Numbers sum;
    for (int k = 0; k < kCount; ++k) sum.of[k] = of[k] + o.of[k];
    return sum;
  }
};

/// The channels [channel, channel + kCount) in one slot. Returns what it adds to sum_mean and sum_var.
template <class T, int kCount>
LOCKSTEP_NOINLINE Pairs<T, kCount> forward_slot(const BatchNormForward<T>& a, std::int64_t channel, std::int64_t slot) {
  const Group group = {channel * a.pixels, a.pixels, a.slots.begin(slot), a.slots.end(slot)};
  const std::int64_t count = a.pixels * (group.end - group.begin);
  T *mean = a.mean + slot * a.channels + channel, *inv_std = a.inv_std + slot * a.channels + channel;
  if (count == 0) {
    for (int k = 0; k < kCount; ++k) mean[k] = inv_std[k] = T(0);
    return {};
  }
  const T share = T(1) / T(count);
  const ConstMatrix<T> x = a.x;
  const Matrix<T> y = a.y;
  Pairs<T, kCount> result;
  Vec<T> means[kCount], scales[kCount], betas[kCount];
  Sums<T, kCount> sums, squares;
  clear<T, kCount>(sums);
  clear<T, kCount>(squares);
  for_blocks<T, kCount>(group,
                        [&](int k, std::int64_t row, std::int64_t c, int v, const auto& block)
                            LOCKSTEP_INLINE_LAMBDA { sums[k][v] = sums[k][v] + load(x.row(row) + c, block.end(v)); });
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k) {
    mean[k] = share * sum_of_lanes(sums[k]);
    means[k] = broadcast(mean[k]);
    result.first[k] = T(count) * mean[k];
  }
  for_blocks<T, kCount>(group,
                        [&](int k, std::int64_t row, std::int64_t c, int v, const auto& block) LOCKSTEP_INLINE_LAMBDA {
                          const Vec<T> d = block.kept(load(x.row(row) + c, block.end(v)) - means[k], v);
                          squares[k][v] = fma(d, d, squares[k][v]);
                        });
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k) {
    const T var = share * sum_of_lanes(squares[k]);
    inv_std[k] = T(1) / square_root(var + a.eps);
    scales[k] = broadcast(a.gamma[channel + k] * inv_std[k]);
    betas[k] = broadcast(a.beta[channel + k]);
    result.second[k] = T(count) * (count < 2 ? T(0) : var * (T(count) / T(count - 1)));
  }
  for_blocks<T, kCount>(group,
                        [&](int k, std::int64_t row, std::int64_t c, int v, const auto& block) LOCKSTEP_INLINE_LAMBDA {
                          const Vec<T> centred = load(x.row(row) + c, block.end(v)) - means[k];
                          store(y.row(row) + c, fma(centred, scales[k], betas[k]), block.end(v));
                        });
  return result;
}

/// The channels [channel, channel + kCount) in one slot. Returns what it adds to dbeta and dgamma.
template <class T, int kCount>
LOCKSTEP_NOINLINE Pairs<T, kCount> backward_slot(const BatchNormBackward<T>& a, std::int64_t channel,
                                                 std::int64_t slot) {
  const Group group = {channel * a.pixels, a.pixels, a.slots.begin(slot), a.slots.end(slot)};
  if (group.begin == group.end) return {};
  const T *mean = a.mean + slot * a.channels + channel, *inv_std = a.inv_std + slot * a.channels + channel;
  const T share = T(1) / T(a.pixels * (group.end - group.begin));
  const ConstMatrix<T> x = a.x, dy = a.dy;
  const Matrix<T> dx = a.dx;
  Vec<T> means[kCount], scales[kCount], slopes[kCount], shifts[kCount];
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k) means[k] = broadcast(mean[k]);
  Sums<T, kCount> sums, products;
  clear<T, kCount>(sums);
  clear<T, kCount>(products);
  for_blocks<T, kCount>(group,
                        [&](int k, std::int64_t row, std::int64_t c, int v, const auto& block) LOCKSTEP_INLINE_LAMBDA {
                          const Vec<T> gradient = load(dy.row(row) + c, block.end(v));
                          const Vec<T> centred = block.kept(load(x.row(row) + c, block.end(v)) - means[k], v);
                          sums[k][v] = sums[k][v] + gradient;
                          products[k][v] = fma(gradient, centred, products[k][v]);
                        });
  Pairs<T, kCount> result;
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k) {
    const T p = sum_of_lanes(sums[k]), q = inv_std[k] * sum_of_lanes(products[k]);
    const T scale = a.gamma[channel + k] * inv_std[k];
    scales[k] = broadcast(scale);
    slopes[k] = broadcast(-(scale * inv_std[k]) * (q * share));
    shifts[k] = broadcast(-scale * (p * share));
    result.first[k] = p;
    result.second[k] = q;
  }
  if (dx.data == nullptr) return result;
  for_blocks<T, kCount>(
      group, [&](int k, std::int64_t row, std::int64_t c, int v, const auto& block) LOCKSTEP_INLINE_LAMBDA {
        const Vec<T> centred = load(x.row(row) + c, block.end(v)) - means[k];
        const Vec<T> rest = fma(slopes[k], centred, shifts[k]);
        store(dx.row(row) + c, fma(scales[k], load(dy.row(row) + c, block.end(v)), rest), block.end(v));
      });
  return result;
}

/// The sums of the channels [channel, channel + kCount) over one slot.
template <class T, int kCount>
LOCKSTEP_NOINLINE Numbers<T, kCount> sum_slot(const BatchNormSums<T>& a, std::int64_t channel, std::int64_t slot) {
  const Group group = {channel * a.pixels, a.pixels, a.slots.begin(slot), a.slots.end(slot)};
  if (group.begin == group.end) return {};
  const ConstMatrix<T> x = a.x;
  Sums<T, kCount> sums;
  clear<T, kCount>(sums);
  if (a.centre == nullptr) {
    for_blocks<T, kCount>(group,
                          [&](int k, std::int64_t row, std::int64_t c, int v, const auto& block)
                              LOCKSTEP_INLINE_LAMBDA { sums[k][v] = sums[k][v] + load(x.row(row) + c, block.end(v)); });
  } else {
    Vec<T> centres[kCount];
#pragma GCC unroll 4
    for (int k = 0; k < kCount; ++k) centres[k] = broadcast(a.centre[channel + k]);
    for_blocks<T, kCount>(
        group, [&](int k, std::int64_t row, std::int64_t c, int v, const auto& block) LOCKSTEP_INLINE_LAMBDA {
          const Vec<T> d = block.kept(load(x.row(row) + c, block.end(v)) - centres[k], v);
          sums[k][v] = fma(d, d, sums[k][v]);
        });
  }
  Numbers<T, kCount> result;
#pragma GCC unroll 4
  for (int k = 0; k < kCount; ++k) result.of[k] = sum_of_lanes(sums[k]);
  return result;
}

/// work<kCount>(channel) for all channels: kChannels at a time, and the rest one by one.
template <class T, class Work>
LOCKSTEP_INLINE void for_channels(std::int64_t channels, const Work& work) {
  std::int64_t channel = 0;
  for (; channel + kChannels<T> <= channels; channel += kChannels<T>) work.template operator()<kChannels<T>>(channel);
  for (; channel < channels; ++channel) work.template operator()<1>(channel);
}

}  // namespace

template <class T>
void batch_norm_forward(const BatchNormForward<T>& a, KernelContext&) {
  for_channels<T>(a.channels, [&]<int kCount>(std::int64_t channel) {
    const auto leaf = [&](std::int64_t slot) { return forward_slot<T, kCount>(a, channel, slot); };
    const Pairs<T, kCount> sums = slot_tree(leaf, 0, a.slots.count());
    for (int k = 0; k < kCount; ++k) {
      a.sum_mean[channel + k] = sums.first[k];
      a.sum_var[channel + k] = sums.second[k];
    }
  });
}

template <class T>
void batch_norm_backward(const BatchNormBackward<T>& a, KernelContext&) {
  for_channels<T>(a.channels, [&]<int kCount>(std::int64_t channel) {
    const auto leaf = [&](std::int64_t slot) { return backward_slot<T, kCount>(a, channel, slot); };
    const Pairs<T, kCount> sums = slot_tree(leaf, 0, a.slots.count());
    for (int k = 0; k < kCount; ++k) {
      a.dbeta[channel + k] = sums.first[k];
      a.dgamma[channel + k] = sums.second[k];
    }
  });
}

template <class T>
void batch_norm_inference(const BatchNormInference<T>& a, KernelContext&) {
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const Vec<T> scale = broadcast(a.gamma[channel] / square_root(a.running_var[channel] + a.eps));
    const Vec<T> mean = broadcast(a.running_mean[channel]), beta = broadcast(a.beta[channel]);
    map(
        a.y.rows_from(channel * a.pixels, a.pixels),
        [=](Vec<T> x) LOCKSTEP_INLINE_LAMBDA { return fma(x - mean, scale, beta); },
        a.x.rows_from(channel * a.pixels, a.pixels));
  }
}

template <class T>
void batch_norm_sums(const BatchNormSums<T>& a, KernelContext&) {
  for_channels<T>(a.channels, [&]<int kCount>(std::int64_t channel) {
    const auto leaf = [&](std::int64_t slot) { return sum_slot<T, kCount>(a, channel, slot); };
    const Numbers<T, kCount> sums = slot_tree(leaf, 0, a.slots.count());
    for (int k = 0; k < kCount; ++k) a.sum[channel + k] = sums.of[k];
  });
}

template <class T>
void batch_norm_normalise(const BatchNormNormalise<T>& a, KernelContext&) {
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const Vec<T> scale = broadcast(a.gamma[channel] * a.inv_std[channel]);
    const Vec<T> mean = broadcast(a.mean[channel]), beta = broadcast(a.beta[channel]);
    map(
        a.y.rows_from(channel * a.pixels, a.pixels),
        [=](Vec<T> x) LOCKSTEP_INLINE_LAMBDA { return fma(x - mean, scale, beta); },
        a.x.rows_from(channel * a.pixels, a.pixels));
  }
}

template <class T>
void batch_norm_backward_data(const BatchNormBackwardData<T>& a, KernelContext&) {
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const T inv_std = a.inv_std[channel], scale = a.gamma[channel] * inv_std;
    const Vec<T> slope = broadcast(-(scale * inv_std) * (a.q[channel] * a.share));
    const Vec<T> shift = broadcast(-scale * (a.p[channel] * a.share));
    const Vec<T> mean = broadcast(a.mean[channel]), scales = broadcast(scale);
    map(
        a.dx.rows_from(channel * a.pixels, a.pixels),
        [=](Vec<T> dy, Vec<T> x) LOCKSTEP_INLINE_LAMBDA { return fma(scales, dy, fma(slope, x - mean, shift)); },
        a.dy.rows_from(channel * a.pixels, a.pixels), a.x.rows_from(channel * a.pixels, a.pixels));
  }
}

LOCKSTEP_SIMD_INSTANTIATE(batch_norm_forward, BatchNormForward)
LOCKSTEP_SIMD_INSTANTIATE(batch_norm_backward, BatchNormBackward)
LOCKSTEP_SIMD_INSTANTIATE(batch_norm_inference, BatchNormInference)
LOCKSTEP_SIMD_INSTANTIATE(batch_norm_sums, BatchNormSums)
LOCKSTEP_SIMD_INSTANTIATE(batch_norm_normalise, BatchNormNormalise)
LOCKSTEP_SIMD_INSTANTIATE(batch_norm_backward_data, BatchNormBackwardData)

}  // namespace lockstep::LOCKSTEP_SIMD
