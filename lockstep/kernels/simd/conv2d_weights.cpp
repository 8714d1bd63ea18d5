// Convolution weight gradient: dw[oc,ic,ky,kx] = sum over samples and output pixels of dy * x.
//
// Per slot and block of 16 samples, each weight has 16 lanes of its own in scratch memory (in the order of dw). A
// vector of these lanes at a time, and a band of output rows: dy and the rows of x under it are copied together, one
// vector per pixel, and a tile of about 12 sums (conv2d_weights_tile.hpp) runs over the band, whose dy stays in L1.
// Then the lane trees, a vector of weights at a time, and the tree over slots. Limit: the fma units, less the tile's
// loads and stores per band. Measured: see docs/design/0002-simd.md.

#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/kernels/simd/conv2d_weights_tile.hpp"
#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/tile.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

constexpr std::int64_t kBandBytes = 24 * 1024;  // of L1, for the rows of dy and x that a tile reads

/// Output channels of a tile with this many taps: with them and the operands it fills the registers.
template <int kTaps>
constexpr int kTileOuts = kRegisters == 32 ? 24 / kTaps
                                           : (kTaps == 1   ? 8
                                              : kTaps == 2 ? 4
                                                           : 12 / kTaps);

/// The taps of a tile: kx and its neighbours, or, in a kernel that is 1 wide, input channel ic and its neighbours.
struct TapGroup {
  std::int64_t first, count;
};

/// How the taps of a kernel are cut into groups.
struct TapGroups {
  std::int64_t taps, count;
  bool channels;

  LOCKSTEP_INLINE TapGroup operator[](std::int64_t i) const {
    const std::int64_t first = taps * i / count;
    return {first, taps * (i + 1) / count - first};
  }
};

LOCKSTEP_INLINE TapGroups groups_of(const Conv2dGeometry& g) {
  const bool channels = g.kernel_w == 1;
  const std::int64_t taps = channels ? g.in_per_group() : g.kernel_w, most_taps = channels ? 4 : 5;
  return {taps, (taps + most_taps - 1) / most_taps, channels};
}

/// The output rows [top, bottom) that are summed now, and the input rows [in_top, in_bottom) under them. `first`: the
/// sums start here.
struct Band {
  std::int64_t top, bottom, in_top, in_bottom;
  bool first;
};

template <class T>
struct Gradient {
  const Conv2dBackwardWeights<T>& a;
  TapGroups groups;
  TapRange* ranges;        // of each group [out_width], and behind them its columns [inner, outer)
  T *dw_lanes, *db_lanes;  // 16 lanes of each sum
  T *dy, *x;               // copies of a band: [channel][row][column], one vector of samples each

  LOCKSTEP_INLINE const Conv2dGeometry& geometry() const { return a.geometry; }
  LOCKSTEP_INLINE std::int64_t input_row(std::int64_t oy, std::int64_t ky) const {
    return oy * a.geometry.stride_h + ky * a.geometry.dilation_h - a.geometry.pad_h;
  }
  LOCKSTEP_INLINE TapRange* ranges_of(std::int64_t group) const {
    return ranges + group * (a.geometry.out_width() + 1);
  }
};

/// Which taps of the group lie in the image, per output column, and the columns where all do.
template <class T>
LOCKSTEP_INLINE void find_ranges(const Gradient<T>& w, std::int64_t number) {
  const Conv2dGeometry& g = w.geometry();
  const TapGroup group = w.groups[number];
  TapRange* ranges = w.ranges_of(number);
  const auto inside = [&](std::int64_t ox, std::int64_t tap) {
    const std::int64_t kx = w.groups.channels ? 0 : group.first + tap;
    const std::int64_t ix = ox * g.stride_w + kx * g.dilation_w - g.pad_w;
    return ix >= 0 && ix < g.in_width;
  };
  std::int64_t inner = 0, outer = 0;
  for (std::int64_t ox = 0; ox < g.out_width(); ++ox) {
    std::int64_t low = 0, high = group.count;
    while (low < high && !inside(ox, low)) ++low;
    while (low < high && !inside(ox, high - 1)) --high;
    if (low == high) low = high = 0;
    ranges[ox] = {static_cast<std::int32_t>(low), static_cast<std::int32_t>(high)};
    if (low > 0 || high < group.count) continue;
    if (outer == 0) inner = ox;
    outer = ox + 1;
  }
  ranges[g.out_width()] = {static_cast<std::int32_t>(inner), static_cast<std::int32_t>(outer)};
}

/// Rows [top, bottom) of every channel, a vector of samples per pixel. Where a lane has no sample, dy gets -0 and x +0:
/// their product changes no sum.
template <class T>
LOCKSTEP_INLINE void copy_band(ConstMatrix<T> from, std::int64_t channels, std::int64_t height, std::int64_t width,
                               std::int64_t top, std::int64_t bottom, std::int64_t column, std::int64_t samples,
                               T nothing, T* to) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  const std::int64_t pixels = (bottom - top) * width;
  for (std::int64_t c = 0; c < channels; ++c) {
    const T* pixel = from.row((c * height + top) * width) + column;
    if (samples >= kWidth) {
      for (std::int64_t p = 0; p < pixels; ++p, pixel += from.stride, to += kWidth) store(to, load(pixel));
    } else {
      const Tail<T> tail = tail_of<T>(most(0, samples));
      for (std::int64_t p = 0; p < pixels; ++p, pixel += from.stride, to += kWidth)
        store(to, samples > 0 ? select(tail.mask, load(pixel, tail), broadcast(nothing)) : broadcast(nothing));
    }
  }
}

/// The dy of a band: where it lies, and its steps.
template <class T>
struct BandGradient {
  const T* data;
  std::int64_t column, row, channel;
};

/// Where a vector of dy serves few fmas, copying it does not pay, if rows are one block wide and all lanes in use.
template <class T>
LOCKSTEP_INLINE BandGradient<T> gradient_of(const Gradient<T>& w, const Band& band, std::int64_t column,
                                            std::int64_t samples) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth, kFew = 64;
  const Conv2dGeometry& g = w.geometry();
  const std::int64_t width = g.out_width(), stride = w.a.dy.stride;
  if (samples >= kWidth && stride == kLanes && g.in_per_group() * g.kernel_h * g.kernel_w < kFew)
    return {w.a.dy.row(band.top * width) + column, stride, width * stride, g.out_height() * width * stride};
  copy_band(w.a.dy, g.out_channels, g.out_height(), width, band.top, band.bottom, column, samples, -T(0), w.dy);
  return {w.dy, kWidth, width * kWidth, (band.bottom - band.top) * width * kWidth};
}

/// What the tiles of a tap group have in common.
template <class T>
LOCKSTEP_INLINE GradientTile<T> tile_shape(const Gradient<T>& w, const Band& band, const BandGradient<T>& dy,
                                           std::int64_t group) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  const Conv2dGeometry& g = w.geometry();
  const TapRange* ranges = w.ranges_of(group);
  GradientTile<T> tile{};
  tile.columns = g.out_width();
  tile.inner = ranges[tile.columns].low;
  tile.outer = ranges[tile.columns].high;
  tile.ranges = ranges;
  tile.dy = dy.data;
  tile.dy_column = dy.column;
  tile.dy_row = dy.row;
  tile.dy_out = dy.channel;
  tile.x_column = g.stride_w * kWidth;
  tile.x_row = g.stride_h * g.in_width * kWidth;
  tile.x_tap = (w.groups.channels ? (band.in_bottom - band.in_top) * g.in_width : g.dilation_w) * kWidth;
  tile.lanes_out = g.in_per_group() * g.kernel_h * g.kernel_w * kLanes;
  tile.lanes_tap = (w.groups.channels ? g.kernel_h : 1) * kLanes;
  tile.first = band.first;
  return tile;
}

/// The weights (oc .. oc + kOuts, ic, ky, the taps from kx on): the rows of the band whose tap row lies in the image.
template <int kOuts, int kTaps, class T>
LOCKSTEP_INLINE void run_tile(const Gradient<T>& w, const Band& band, std::int64_t lane, GradientTile<T> tile,
                              std::int64_t oc, std::int64_t ic, std::int64_t ky, std::int64_t kx) {
  const Conv2dGeometry& g = w.geometry();
  std::int64_t top = band.top, bottom = band.bottom;
  while (top < bottom && w.input_row(top, ky) < 0) ++top;
  while (top < bottom && w.input_row(bottom - 1, ky) >= g.in_height) --bottom;
  if (top == bottom && !band.first) return;
  const std::int64_t channel = oc / g.out_per_group() * g.in_per_group() + ic;
  const std::int64_t iy = top < bottom ? w.input_row(top, ky) - band.in_top : 0;
  tile.dy += oc * tile.dy_out + (top - band.top) * tile.dy_row;
  tile.x = w.x + ((channel * (band.in_bottom - band.in_top) + iy) * g.in_width + kx * g.dilation_w - g.pad_w) *
                     Vec<T>::kWidth;
  tile.rows = bottom - top;
  tile.lanes = w.dw_lanes + oc * tile.lanes_out + ((ic * g.kernel_h + ky) * g.kernel_w + kx) * kLanes + lane;
  gradient_tile<kOuts, kTaps>(tile);
}

/// One tap group of every output channel.
template <int kTaps, class T>
LOCKSTEP_INLINE void run_group(const Gradient<T>& w, const Band& band, const BandGradient<T>& dy, std::int64_t lane,
                               std::int64_t number) {
  const Conv2dGeometry& g = w.geometry();
  const TapGroup group = w.groups[number];
  const GradientTile<T> shape = tile_shape(w, band, dy, number);
  const std::int64_t ic_begin = w.groups.channels ? group.first : 0;
  const std::int64_t ic_end = w.groups.channels ? group.first + 1 : g.in_per_group();
  for (std::int64_t first = 0; first < g.out_channels; first += g.out_per_group())
    for_row_tiles<kTileOuts<kTaps>>(g.out_per_group(), [&]<int kOuts>(std::int64_t out) {
      for (std::int64_t ic = ic_begin; ic < ic_end; ++ic)
        for (std::int64_t ky = 0; ky < g.kernel_h; ++ky)
          run_tile<kOuts, kTaps>(w, band, lane, shape, first + out, ic, ky, w.groups.channels ? 0 : group.first);
    });
}

/// db for kCount output channels, side by side so that the chains do not wait for each other.
template <int kCount, class T>
LOCKSTEP_INLINE void bias_chains(const Gradient<T>& w, const Band& band, const BandGradient<T>& dy, std::int64_t lane,
                                 std::int64_t oc) {
  const std::int64_t pixels = (band.bottom - band.top) * w.geometry().out_width();
  const T* pixel = dy.data + oc * dy.channel;
  T* lanes = w.db_lanes + oc * kLanes + lane;
  Vec<T> sums[kCount];
#pragma GCC unroll 8
  for (int c = 0; c < kCount; ++c) sums[c] = band.first ? zero<T>() : load(lanes + c * kLanes);
  for (std::int64_t p = 0; p < pixels; ++p, pixel += dy.column)
#pragma GCC unroll 8
    for (int c = 0; c < kCount; ++c) sums[c] = sums[c] + load(pixel + c * dy.channel);
#pragma GCC unroll 8
  for (int c = 0; c < kCount; ++c) store(lanes + c * kLanes, sums[c]);
}

/// One vector of lanes, from sample `column` on, of which `samples` are there.
template <class T>
LOCKSTEP_INLINE void run_band(const Gradient<T>& w, const Band& band, std::int64_t lane, std::int64_t column,
                              std::int64_t samples) {
  const Conv2dGeometry& g = w.geometry();
  const BandGradient<T> dy = gradient_of(w, band, column, samples);
  copy_band(w.a.x, g.in_channels, g.in_height, g.in_width, band.in_top, band.in_bottom, column, samples, T(0), w.x);
  if (w.a.db != nullptr)
    for_row_tiles<8>(g.out_channels, [&]<int kCount>(std::int64_t oc) { bias_chains<kCount>(w, band, dy, lane, oc); });
  for (std::int64_t i = 0; i < w.groups.count; ++i)
    with_rows<5>(w.groups[i].count, [&]<int kTaps>() { run_group<kTaps>(w, band, dy, lane, i); });
}

/// Output rows of a band.
template <class T>
LOCKSTEP_INLINE std::int64_t band_rows(const Conv2dGeometry& g) {
  const std::int64_t outs = g.kernel_w > 3 ? 2 : 3, ins = g.kernel_w == 1 ? 4 : 1;
  const std::int64_t row_bytes = kVectorBytes * (outs * g.out_width() + ins * g.stride_h * g.in_width);
  const std::int64_t halo_bytes = kVectorBytes * ins * (g.kernel_h - 1) * g.dilation_h * g.in_width;
  return least(g.out_height(), most(1, (kBandBytes - halo_bytes) / row_bytes));
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

/// The lanes of all sums of a slot.
template <class T>
LOCKSTEP_INLINE void run_slot(const Gradient<T>& w, std::int64_t rows, std::int64_t begin, std::int64_t end) {
  const Conv2dGeometry& g = w.geometry();
  std::int64_t column = begin;
  do {  // an empty slot is one block without samples
    for (std::int64_t top = 0; top < g.out_height(); top += rows) {
      const std::int64_t bottom = least(g.out_height(), top + rows);
      const Band band = {.top = top,
                         .bottom = bottom,
                         .in_top = least(g.in_height, most(0, w.input_row(top, 0))),
                         .in_bottom = most(0, least(g.in_height, w.input_row(bottom - 1, g.kernel_h - 1) + 1)),
                         .first = column == begin && top == 0};
      for (std::int64_t lane = 0; lane < kLanes; lane += Vec<T>::kWidth)
        if (column + lane < end || band.first) run_band(w, band, lane, column + lane, end - column - lane);
    }
    column += kLanes;
  } while (column < end);
}

}  // namespace

template <class T>
void conv2d_backward_weights(const Conv2dBackwardWeights<T>& a, KernelContext& context) {
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t slots = a.slots.count(), kLevels = 12;  // kMaxSlots is 2^12
  const std::int64_t outs = g.out_channels, weights = outs * g.in_per_group() * g.kernel_h * g.kernel_w;
  const std::int64_t levels = slots > 1 ? kLevels : 0;
  const TapGroups groups = groups_of(g);
  const std::int64_t rows = band_rows<T>(g);
  const std::int64_t in_rows = least(g.in_height, (rows - 1) * g.stride_h + (g.kernel_h - 1) * g.dilation_h + 1);
  // Lanes are read a vector of sums at a time, so there is room behind the last.
  const std::int64_t dw_lanes = round_up(weights, kLanes) * kLanes, db_lanes = round_up(outs, kLanes) * kLanes;
  const std::int64_t dy_band = outs * rows * g.out_width() * Vec<T>::kWidth;
  const std::int64_t x_band = g.in_channels * in_rows * g.in_width * Vec<T>::kWidth;
  const std::int64_t range_room = groups.count * (g.out_width() + 1) * 2;
  T* memory =
      simd_scratch_of<T>(context, dw_lanes + db_lanes + dy_band + x_band + levels * (weights + outs) + range_room);
  T *dy = memory + dw_lanes + db_lanes, *x = dy + dy_band;
  T *waiting = x + x_band, *waiting_bias = waiting + levels * weights;
  auto* ranges = reinterpret_cast<TapRange*>(waiting_bias + levels * outs);
  const Gradient<T> w = {a, groups, ranges, memory, memory + dw_lanes, dy, x};
  for (std::int64_t i = 0; i < groups.count; ++i) find_ranges(w, i);
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    run_slot(w, rows, a.slots.begin(slot), a.slots.end(slot));
    finish_slot(w.dw_lanes, weights, slot, slots, waiting, a.dw);
    if (a.db != nullptr) finish_slot(w.db_lanes, outs, slot, slots, waiting_bias, a.db);
  }
}

LOCKSTEP_SIMD_INSTANTIATE(conv2d_backward_weights, Conv2dBackwardWeights)

}  // namespace lockstep::LOCKSTEP_SIMD
