// Convolution weight gradient: dw[oc,ic,ky,kx] = sum over samples and output pixels of dy * x.
//
// Per slot and block of 16 samples, each weight has 16 lanes of its own in scratch memory (in the order of dw); a tile
// of 12 such sums (conv2d_weights_tile.hpp) runs over a band of output rows that stays in L1 together with the input
// rows under it. Then the lane trees, a vector of weights at a time, and the tree over slots.
// Limit: the fma units, less the tile's loads and stores per band. Measured: see docs/design/0002-simd.md.

#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/kernels/simd/conv2d_weights_tile.hpp"
#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/tile.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

constexpr std::int64_t kBandBytes = 24 * 1024;  // of L1, for the rows of dy and x that a tile reads

/// Output channels of a tile with this many taps.
template <int kTaps>
constexpr int kTileOuts = kRegisters == 32 ? 24 / kTaps : (kTaps == 1 ? 8 : 12 / kTaps);

/// The block of at most 16 samples from `column` on, and the output rows [top, bottom), that are summed now. `first`:
/// the sums start here.
struct Part {
  std::int64_t column, samples, top, bottom;
  bool first;
};

template <class T>
struct Gradient {
  const Conv2dBackwardWeights<T>& a;
  TapRange* ranges;  // [out_width]
  T *dw_lanes, *db_lanes;

  LOCKSTEP_INLINE std::int64_t weights_per_out() const {
    return a.geometry.in_per_group() * a.geometry.kernel_h * a.geometry.kernel_w;
  }
  LOCKSTEP_INLINE std::int64_t input_row(std::int64_t oy, std::int64_t ky) const {
    return oy * a.geometry.stride_h + ky * a.geometry.dilation_h - a.geometry.pad_h;
  }
};

/// The taps of a tile: kx and its neighbours, or, in a kernel that is 1 wide, input channel ic and its neighbours.
struct TapGroup {
  std::int64_t first, count;
  bool channels;
};

/// Which taps of the group lie in the image, per output column, and the columns where all do.
template <class T>
LOCKSTEP_INLINE void find_ranges(const Gradient<T>& w, const TapGroup& group, GradientTile<T>& tile) {
  const Conv2dGeometry& g = w.a.geometry;
  const auto inside = [&](std::int64_t ox, std::int64_t tap) {
    const std::int64_t kx = group.channels ? 0 : group.first + tap;
    const std::int64_t ix = ox * g.stride_w + kx * g.dilation_w - g.pad_w;
    return ix >= 0 && ix < g.in_width;
  };
  tile.inner = tile.outer = 0;
  for (std::int64_t ox = 0; ox < tile.columns; ++ox) {
    std::int64_t low = 0, high = group.count;
    while (low < high && !inside(ox, low)) ++low;
    while (low < high && !inside(ox, high - 1)) --high;
    if (low == high) low = high = 0;
    w.ranges[ox] = {static_cast<std::int32_t>(low), static_cast<std::int32_t>(high)};
    if (low > 0 || high < group.count) continue;
    if (tile.outer == 0) tile.inner = ox;
    tile.outer = ox + 1;
  }
  tile.ranges = w.ranges;
}

/// What the tiles of a tap group have in common.
template <class T>
LOCKSTEP_INLINE GradientTile<T> tile_shape(const Gradient<T>& w, const TapGroup& group) {
  const Conv2dGeometry& g = w.a.geometry;
  const std::int64_t dy_stride = w.a.dy.stride, x_stride = w.a.x.stride;
  GradientTile<T> tile{};
  tile.columns = g.out_width();
  tile.dy_column = dy_stride;
  tile.dy_row = g.out_width() * dy_stride;
  tile.dy_out = g.out_height() * tile.dy_row;
  tile.x_column = g.stride_w * x_stride;
  tile.x_row = g.stride_h * g.in_width * x_stride;
  tile.x_tap = (group.channels ? g.in_height * g.in_width : g.dilation_w) * x_stride;
  tile.lanes_out = w.weights_per_out() * kLanes;
  tile.lanes_tap = (group.channels ? g.kernel_h : 1) * kLanes;
  find_ranges(w, group, tile);
  return tile;
}

/// Runs the tile for every vector of lanes; those without a sample hold 0.
template <int kOuts, int kTaps, class T>
LOCKSTEP_INLINE void run_lanes(GradientTile<T> tile, std::int64_t samples) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
    if (samples - lane >= kWidth) {
      gradient_tile<kOuts, kTaps>(tile, Whole{});
    } else if (samples > lane || tile.first) {
      if (samples <= lane) tile.rows = 0;
      gradient_tile<kOuts, kTaps>(tile, tail_of<T>(most(0, samples - lane)));
    }
    tile.dy += kWidth;
    tile.x += kWidth;
    tile.lanes += kWidth;
  }
}

/// The weights (oc .. oc + kOuts, ic, ky, the taps): the rows of the part whose tap row lies in the image.
template <int kOuts, int kTaps, class T>
LOCKSTEP_INLINE void run_tile(const Gradient<T>& w, const Part& part, GradientTile<T> tile, std::int64_t oc,
                              std::int64_t ic, std::int64_t ky, std::int64_t kx) {
  const Conv2dGeometry& g = w.a.geometry;
  std::int64_t top = part.top, bottom = part.bottom;
  while (top < bottom && w.input_row(top, ky) < 0) ++top;
  while (top < bottom && w.input_row(bottom - 1, ky) >= g.in_height) --bottom;
  if (top == bottom && !part.first) return;
  const std::int64_t channel = oc / g.out_per_group() * g.in_per_group() + ic;
  const std::int64_t iy = top < bottom ? w.input_row(top, ky) : 0;
  tile.dy = w.a.dy.data + oc * tile.dy_out + top * tile.dy_row + part.column;
  tile.x = w.a.x.data + part.column +
           ((channel * g.in_height + iy) * g.in_width + kx * g.dilation_w - g.pad_w) * w.a.x.stride;
  tile.rows = bottom - top;
  tile.first = part.first;
  tile.lanes = w.dw_lanes + oc * tile.lanes_out + ((ic * g.kernel_h + ky) * g.kernel_w + kx) * kLanes;
  run_lanes<kOuts, kTaps>(tile, part.samples);
}

/// One tap group of every output channel.
template <int kTaps, class T>
LOCKSTEP_INLINE void run_group(const Gradient<T>& w, const Part& part, const TapGroup& group) {
  const Conv2dGeometry& g = w.a.geometry;
  const GradientTile<T> shape = tile_shape(w, group);
  const std::int64_t ic_begin = group.channels ? group.first : 0;
  const std::int64_t ic_end = group.channels ? group.first + 1 : g.in_per_group();
  for (std::int64_t first = 0; first < g.out_channels; first += g.out_per_group())
    for_row_tiles<kTileOuts<kTaps>>(g.out_per_group(), [&]<int kOuts>(std::int64_t out) {
      for (std::int64_t ic = ic_begin; ic < ic_end; ++ic)
        for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
          run_tile<kOuts, kTaps>(w, part, shape, first + out, ic, ky, group.channels ? 0 : group.first);
    });
}

/// The lanes of db for kCount output channels, side by side so that the chains do not wait for each other; whole blocks.
template <int kCount, class T>
LOCKSTEP_INLINE void bias_chains(const Gradient<T>& w, const Part& part, std::int64_t oc) {
  constexpr int kVecs = kLaneVecs<T>, kWidth = Vec<T>::kWidth;
  const Conv2dGeometry& g = w.a.geometry;
  const std::int64_t stride = w.a.dy.stride, pixels = (part.bottom - part.top) * g.out_width();
  const std::int64_t plane = g.out_height() * g.out_width() * stride;
  const T* dy = w.a.dy.row((oc * g.out_height() + part.top) * g.out_width()) + part.column;
  T* lanes = w.db_lanes + oc * kLanes;
  Vec<T> sums[kCount][kVecs];
#pragma GCC unroll 8
  for (int c = 0; c < kCount; ++c)
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) sums[c][v] = part.first ? zero<T>() : load(lanes + c * kLanes + v * kWidth);
  for (std::int64_t p = 0; p < pixels; ++p, dy += stride)
#pragma GCC unroll 8
    for (int c = 0; c < kCount; ++c)
#pragma GCC unroll 8
      for (int v = 0; v < kVecs; ++v) sums[c][v] = sums[c][v] + load(dy + c * plane + v * kWidth);
#pragma GCC unroll 8
  for (int c = 0; c < kCount; ++c)
#pragma GCC unroll 8
    for (int v = 0; v < kVecs; ++v) store(lanes + c * kLanes + v * kWidth, sums[c][v]);
}

/// The same for a block that is not full: one channel and one vector at a time.
template <class T>
LOCKSTEP_INLINE void bias_rest(const Gradient<T>& w, const Part& part, std::int64_t oc) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  const Conv2dGeometry& g = w.a.geometry;
  const std::int64_t stride = w.a.dy.stride, pixels = (part.bottom - part.top) * g.out_width();
  for (std::int64_t lane = 0; lane < kLanes; lane += kWidth) {
    const T* dy = w.a.dy.row((oc * g.out_height() + part.top) * g.out_width()) + part.column + lane;
    T* lanes = w.db_lanes + oc * kLanes + lane;
    Vec<T> sum = part.first ? zero<T>() : load(lanes);
    const Tail<T> tail = tail_of<T>(most(0, least(kWidth, part.samples - lane)));
    for (std::int64_t p = 0; tail.count > 0 && p < pixels; ++p) sum = sum + load_or_nothing(dy + p * stride, tail);
    store(lanes, sum);
  }
}

template <class T>
LOCKSTEP_INLINE void run_bias(const Gradient<T>& w, const Part& part) {
  constexpr int kSide = kLaneVecs<T> >= 4 ? 2 : 8 / kLaneVecs<T>;
  const std::int64_t outs = w.a.geometry.out_channels;
  std::int64_t oc = 0;
  if (part.samples == kLanes) {
    for (; oc + kSide <= outs; oc += kSide) bias_chains<kSide>(w, part, oc);
    for (; oc < outs; ++oc) bias_chains<1>(w, part, oc);
  }
  for (; oc < outs; ++oc) bias_rest(w, part, oc);
}

template <class T>
LOCKSTEP_INLINE void run_part(const Gradient<T>& w, const Part& part) {
  const Conv2dGeometry& g = w.a.geometry;
  if (w.a.db != nullptr) run_bias(w, part);
  const bool channels = g.kernel_w == 1;
  const std::int64_t taps = channels ? g.in_per_group() : g.kernel_w, most_taps = channels ? 4 : 5;
  const std::int64_t groups = (taps + most_taps - 1) / most_taps;
  for (std::int64_t i = 0; i < groups; ++i) {
    const std::int64_t first = taps * i / groups, count = taps * (i + 1) / groups - first;
    with_rows<5>(count, [&]<int kTaps>() { run_group<kTaps>(w, part, {first, kTaps, channels}); });
  }
}

/// Output rows of a band.
template <class T>
LOCKSTEP_INLINE std::int64_t band_rows(const Conv2dGeometry& g) {
  const std::int64_t line = kLanes * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t outs = g.kernel_w == 1 || g.kernel_w > 3 ? 3 : 4, ins = g.kernel_w == 1 ? 4 : 1;
  const std::int64_t row_bytes = line * (outs * g.out_width() + ins * g.stride_h * g.in_width);
  const std::int64_t halo_bytes = line * ins * (g.kernel_h - 1) * g.dilation_h * g.in_width;
  return most(1, (kBandBytes - halo_bytes) / row_bytes);
}

/// totals[e] = the lane tree of sum e; then up the tree over slots, as climb does for tiles in linear_weights.cpp.
template <class T>
LOCKSTEP_INLINE void finish_slot(const T* lanes, std::int64_t count, std::int64_t slot, std::int64_t slots, T* waiting,
                                 T* out) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  for (std::int64_t e = 0; e < count; e += kWidth) {
    Vec<T> sum = lane_trees(lanes + e * kLanes);
    const Tail<T> tail = tail_of<T>(least(kWidth, count - e));
    T* level = waiting + e;
    for (std::int64_t up = slot; (up & 1) != 0; up >>= 1, level += count) sum = load(level, tail) + sum;
    store(slot + 1 == slots ? out + e : level, sum, tail);
  }
}

}  // namespace

template <class T>
void conv2d_backward_weights(const Conv2dBackwardWeights<T>& a, KernelContext& context) {
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t slots = a.slots.count(), kLevels = 12;  // kMaxSlots is 2^12
  const std::int64_t outs = g.out_channels, weights = outs * g.in_per_group() * g.kernel_h * g.kernel_w;
  const std::int64_t levels = slots > 1 ? kLevels : 0;
  // Lanes are read a vector of sums at a time, so there is room behind the last.
  const std::int64_t dw_lanes = round_up(weights, kLanes) * kLanes, db_lanes = round_up(outs, kLanes) * kLanes;
  T* memory = simd_scratch_of<T>(context, dw_lanes + db_lanes + levels * (weights + outs) + g.out_width() * 2 + kLanes);
  T *waiting = memory + dw_lanes + db_lanes, *waiting_bias = waiting + levels * weights;
  auto* ranges = reinterpret_cast<TapRange*>(memory + dw_lanes + db_lanes + levels * (weights + outs));
  const Gradient<T> w = {a, ranges, memory, memory + dw_lanes};
  const std::int64_t band = band_rows<T>(g), out_height = g.out_height();
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    std::int64_t column = a.slots.begin(slot);
    do {  // an empty slot is one block without samples
      const std::int64_t samples = least(kLanes, a.slots.end(slot) - column);
      for (std::int64_t top = 0; top < out_height; top += band)
        run_part(w, {column, samples, top, least(out_height, top + band), column == a.slots.begin(slot) && top == 0});
      column += kLanes;
    } while (column < a.slots.end(slot));
    finish_slot(w.dw_lanes, weights, slot, slots, waiting, a.dw);
    if (a.db != nullptr) finish_slot(w.db_lanes, outs, slot, slots, waiting_bias, a.db);
  }
}

LOCKSTEP_SIMD_INSTANTIATE(conv2d_backward_weights, Conv2dBackwardWeights)

}  // namespace lockstep::LOCKSTEP_SIMD
