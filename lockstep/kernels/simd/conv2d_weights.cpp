// Convolution weight gradient: dw[oc,ic,ky,kx] = sum over samples and output pixels of dy * x.
//
// The weights are cut into blocks (some output channels x some input channels). Each weight of a block has its 16 lanes
// in scratch memory, and a block is small enough that its lanes stay in L1, or in L2 for large images. For each slot:
// tiles of about 24 sums (conv2d_weights_tile.hpp) run over the samples, a vector of lanes at a time, and over bands of
// output rows, whose dy stays in L1; then the lane trees, a vector of weights at a time, and the tree over slots. So dw
// is written once, and what a slot leaves behind never goes further than L2. Where a tile ends with whole sums (a slot
// of one vector, one band), it does the upper half of the trees in its registers and leaves a quarter of the lanes. dy
// and x come as one vector of samples per pixel (conv2d_weights_pack.hpp). Limit: the fma units; with few pixels the
// lane trees, a move, an addition and two choices per weight and slot, and writing dw. Measured: see
// docs/design/0046-few-pixels.md.

#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/kernels/simd/conv2d_weights_pack.hpp"
#include "lockstep/kernels/simd/conv2d_weights_tile.hpp"
#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/ops.hpp"
#include "lockstep/kernels/simd/tile.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

template <class T>
constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));  // elements of a line of the cache
// Of L1, for the rows of dy and x that a tile reads; a pair of input channels comes and goes, and may fill it.
constexpr std::int64_t kBandBytes = 24 * 1024, kPairBandBytes = 32 * 1024;
// For the lanes of a block: of L1 where each of its tiles is done at once, of L2 where it goes on from band to band.
constexpr std::int64_t kLanesBytes = 20 * 1024, kFarLanesBytes = 160 * 1024;
constexpr int kMostTaps = 5, kMostChannels = 4;  // of a tile: taps along kx, or input channels where kernels are 1 wide

/// Output channels of a tile with this many taps: with them and the operands it fills the registers.
template <int kTaps>
constexpr int kTileOuts = kRegisters == 32 ? 24 / kTaps
                                           : (kTaps == 1   ? 8
                                              : kTaps == 2 ? 4
                                                           : 12 / kTaps);

/// Where registers allow it, three taps of two input channels: fewer pixels of dy have to stay in L1 than with 8
/// channels, and each vector of a pixel is loaded once.
constexpr int kPairTaps = kRegisters == 32 ? 3 : 0, kPairOuts = 4;

constexpr int kMostFoldedOuts = 8;  // of a tile

LOCKSTEP_INLINE constexpr std::int64_t tile_outs(std::int64_t taps) {
  constexpr std::int64_t kOuts[] = {kTileOuts<1>, kTileOuts<2>, kTileOuts<3>, kTileOuts<4>, kTileOuts<5>};
  return kOuts[taps - 1];
}

/// The taps of a tile: kx and its neighbours.
struct TapGroup {
  std::int64_t first, count;
};

/// How the taps of a row of the kernel are cut into groups.
struct TapGroups {
  std::int64_t taps, count;

  LOCKSTEP_INLINE TapGroup operator[](std::int64_t i) const {
    const std::int64_t first = taps * i / count;
    return {first, taps * (i + 1) / count - first};
  }
};

/// Where sums are folded, a block has the output channels of one tile.
template <int kTaps, bool kFold>
constexpr int kSingleOuts = kFold&& kTileOuts<kTaps> > kMostFoldedOuts ? kMostFoldedOuts : kTileOuts<kTaps>;

/// Weights that are summed together: `outs` output channels from `out` on (of each of `groups` groups, where these are
/// whole), and `ins` input channels of their group from `in` on. In scratch memory: [out][in][ky][kx].
struct Block {
  std::int64_t group, groups, out, outs, in, ins;
};

/// The output rows [top, bottom) that are summed now. `first`: the sums start here.
struct Band {
  std::int64_t top, bottom;
  bool first;
};

template <class T>
struct Gradient {
  const Conv2dGeometry& geometry;
  Pixels<T> dy, x;
  TapGroups groups;
  bool channels;     // the kernel is 1 wide: a tile has neighbouring input channels instead of taps
  TapRange* ranges;  // of each group [out_width], and behind them its columns [inner, outer)
  std::int64_t band_rows;
  T* lanes;  // of the sums of a block, 16 each

  LOCKSTEP_INLINE std::int64_t kernel() const { return geometry.kernel_h * geometry.kernel_w; }
  LOCKSTEP_INLINE std::int64_t input_row(std::int64_t oy, std::int64_t ky) const {
    return oy * geometry.stride_h + ky * geometry.dilation_h - geometry.pad_h;
  }
  LOCKSTEP_INLINE TapRange* ranges_of(std::int64_t group) const { return ranges + group * (geometry.out_width() + 1); }
};

/// Which taps of the group lie in the image, per output column, and the columns where all do.
LOCKSTEP_INLINE void find_ranges(const Conv2dGeometry& g, const TapGroup& group, TapRange* ranges) {
  const auto inside = [&](std::int64_t ox, std::int64_t tap) {
    const std::int64_t ix = ox * g.stride_w + (group.first + tap) * g.dilation_w - g.pad_w;
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

/// What the tiles of a tap group in row ky of the kernel have in common: the rows of the band whose tap row lies in the
/// image. The pointers are those of the first channels.
template <class T>
LOCKSTEP_INLINE GradientTile<T> tile_shape(const Gradient<T>& w, const Block& block, const Band& band, const Unit& unit,
                                           std::int64_t group, std::int64_t ky) {
  const Conv2dGeometry& g = w.geometry;
  const std::int64_t kx = w.groups[group].first;
  const TapRange* ranges = w.ranges_of(group);
  std::int64_t top = band.top, bottom = unit.samples > 0 ? band.bottom : band.top;
  while (top < bottom && w.input_row(top, ky) < 0) ++top;
  while (top < bottom && w.input_row(bottom - 1, ky) >= g.in_height) --bottom;
  GradientTile<T> tile{};
  tile.rows = bottom - top;
  tile.columns = g.out_width();
  tile.inner = ranges[tile.columns].low;
  tile.outer = ranges[tile.columns].high;
  tile.ranges = ranges;
  tile.dy_column = w.dy.pixel;
  tile.dy_row = g.out_width() * w.dy.pixel;
  tile.dy_out = w.dy.channel;
  tile.dy = w.dy.at(unit) + top * tile.dy_row;
  tile.x_column = g.stride_w * w.x.pixel;
  tile.x_row = g.stride_h * g.in_width * w.x.pixel;
  tile.x_tap = w.channels ? w.x.channel : g.dilation_w * w.x.pixel;
  tile.x_in = w.x.channel;
  tile.x = w.x.at(unit) + (kx * g.dilation_w - g.pad_w) * w.x.pixel;
  if (top < bottom) tile.x += w.input_row(top, ky) * g.in_width * w.x.pixel;
  tile.lanes_out = block.ins * w.kernel() * kLanes;
  tile.lanes_tap = (w.channels ? g.kernel_h : 1) * kLanes;
  tile.lanes_in = w.kernel() * kLanes;
  tile.lanes = w.lanes + unit.lane + (ky * g.kernel_w + kx) * kLanes;
  tile.first = band.first;
  return tile;
}

/// The tiles of some rows of taps, and where they begin for the first channels.
template <class T>
struct TapRows {
  static constexpr std::int64_t kMost = 16;
  GradientTile<T> tiles[kMost];
  struct {
    const T *dy, *x;
    T* lanes;
  } begin[kMost];
  std::int64_t count;
};

/// The sums of all output channels of a block and the taps of a tile, for `repeats` times `step` input channels from
/// `in` of the block on. All rows of taps use the same dy, which stays in L1.
template <int kMostOuts, int kIns, int kTaps, bool kFold, class T>
LOCKSTEP_INLINE void run_tiles(const Gradient<T>& w, const Block& block, TapRows<T>& rows, std::int64_t in,
                               std::int64_t step, std::int64_t repeats) {
  const Conv2dGeometry& g = w.geometry;
  for (std::int64_t row = 0; row < rows.count; ++row) {
    rows.tiles[row].repeats = repeats;
    rows.tiles[row].x_repeat = step * w.x.channel;
    rows.tiles[row].lanes_repeat = step * w.kernel() * kLanes;
  }
  for (std::int64_t group = 0; group < block.groups; ++group) {
    const std::int64_t number = block.group + group;
    const std::int64_t x = (number * g.in_per_group() + block.in + in) * w.x.channel;
    for_row_tiles<kMostOuts>(block.outs, [&]<int kOuts>(std::int64_t out) {
      const std::int64_t dy = (number * g.out_per_group() + block.out + out) * w.dy.channel;
      const std::int64_t lanes = ((group * block.outs + out) * block.ins + in) * w.kernel() * kLanes;
      for (std::int64_t row = 0; row < rows.count; ++row) {
        GradientTile<T>& tile = rows.tiles[row];
        if (tile.rows == 0 && !tile.first) continue;
        tile.dy = rows.begin[row].dy + dy;
        tile.x = rows.begin[row].x + x;
        tile.lanes = rows.begin[row].lanes + lanes;
        gradient_tile<kOuts, kIns, kTaps, kFold>(tile);
      }
    });
  }
}

/// The same for a group of taps along kx and all input channels of the block, in pairs where kTaps allows it.
template <int kTaps, bool kFold, class T>
LOCKSTEP_INLINE void run_taps(const Gradient<T>& w, const Block& block, TapRows<T>& rows) {
  std::int64_t in = 0;
  if constexpr (kTaps == kPairTaps) {
    in = block.ins & ~std::int64_t{1};
    if (in > 0) run_tiles<kPairOuts, 2, kTaps, kFold>(w, block, rows, 0, 2, in / 2);
  }
  if (in < block.ins) run_tiles<kSingleOuts<kTaps, kFold>, 1, kTaps, kFold>(w, block, rows, in, 1, block.ins - in);
}

/// A band of one vector of samples. Where kernels are 1 wide, tiles have input channels side by side: whole ones and a
/// rest.
template <bool kFold, class T>
LOCKSTEP_INLINE void run_band(const Gradient<T>& w, const Block& block, const Band& band, const Unit& unit) {
  const std::int64_t whole = block.ins / kMostChannels, rest = block.ins % kMostChannels;
  TapRows<T> rows;
  for (std::int64_t i = 0; i < w.groups.count; ++i)
    for (std::int64_t ky = 0; ky < w.geometry.kernel_h; ky += rows.count) {
      rows.count = least(TapRows<T>::kMost, w.geometry.kernel_h - ky);
      for (std::int64_t row = 0; row < rows.count; ++row) {
        const GradientTile<T>& tile = rows.tiles[row] = tile_shape(w, block, band, unit, i, ky + row);
        rows.begin[row] = {tile.dy, tile.x, tile.lanes};
      }
      if (!w.channels) {
        with_rows<kMostTaps>(w.groups[i].count, [&]<int kTaps>() { run_taps<kTaps, kFold>(w, block, rows); });
        continue;
      }
      if (whole > 0)
        run_tiles<kTileOuts<kMostChannels>, 1, kMostChannels, kFold>(w, block, rows, 0, kMostChannels, whole);
      if (rest > 0)
        with_rows<kMostChannels - 1>(rest, [&]<int kTaps>() {
          run_tiles<kSingleOuts<kTaps, kFold>, 1, kTaps, kFold>(w, block, rows, whole * kMostChannels, kTaps, 1);
        });
    }
}

/// db for kCount output channels, side by side so that the chains do not wait for each other.
template <int kCount, class T>
LOCKSTEP_INLINE void bias_chains(const Pixels<T>& dy, const Unit& unit, std::int64_t pixels, std::int64_t oc,
                                 T* lanes) {
  const T* pixel = dy.at(unit) + oc * dy.channel;
  Vec<T> sums[kCount];
#pragma GCC unroll 8
  for (int c = 0; c < kCount; ++c) sums[c] = unit.first ? zero<T>() : load(lanes + c * kLanes);
  if (unit.samples > 0)
    for (std::int64_t p = 0; p < pixels; ++p, pixel += dy.pixel)
#pragma GCC unroll 8
      for (int c = 0; c < kCount; ++c) sums[c] = sums[c] + load(pixel + c * dy.channel);
#pragma GCC unroll 8
  for (int c = 0; c < kCount; ++c) store(lanes + c * kLanes, sums[c]);
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

/// What finish_slot does, for sums that tiles left folded: [four output channels][weight of a row of the block]. The
/// totals of four weights of four channels share a vector on their way up the tree over slots.
template <class T>
LOCKSTEP_INLINE void finish_folded(const T* lanes, std::int64_t outs, std::int64_t row, std::int64_t slot,
                                   std::int64_t slots, T* waiting, T* out, std::int64_t out_row) {
  const std::int64_t count = round_up(outs, kFolded) * round_up(row, kFolded);
  for (std::int64_t o = 0; o < outs; o += kFolded, lanes += row * kLanes)
    for (std::int64_t e = 0; e < row; e += kFolded, waiting += kLanes) {
      Vec<T> sum = fold_lower(lanes + e * kLanes);
      T* level = waiting;
      for (std::int64_t up = slot; (up & 1) != 0; up >>= 1, level += count) sum = load(level) + sum;
      if (slot + 1 < slots)
        store(level, sum);
      else
        store_totals(sum, out + o * out_row + e, out_row, least(kFolded, outs - o), least(kFolded, row - e));
    }
}

/// The sums of a block, slot by slot, to dw. `waiting` has room for the levels of the tree over slots, and for the
/// block itself.
template <bool kFold, class T>
LOCKSTEP_INLINE void run_block(const Gradient<T>& w, const Block& block, const Units& units, T* waiting, T* dw) {
  const Conv2dGeometry& g = w.geometry;
  const std::int64_t per_out = g.in_per_group() * w.kernel(), row = block.ins * w.kernel();
  const std::int64_t outs = block.groups * block.outs, count = outs * row;
  T* to = dw + (block.group * g.out_per_group() + block.out) * per_out + block.in * w.kernel();
  T* sums = row == per_out ? to : waiting;  // rows of dw that lie together are written as they are
  if (!kFold && sums == waiting) waiting += round_up(count, kLanes);
  for (std::int64_t out = 0; out < outs; ++out)  // asked for now, written when the tiles are done
    for (std::int64_t i = 0; i < row; i += kLine<T>) __builtin_prefetch(to + out * per_out + i, 1);
  for (std::int64_t slot = 0; slot < units.slots; ++slot) {
    for (const Unit* unit = units.begin(slot); unit != units.end(slot); ++unit)
      for (std::int64_t top = 0; top < g.out_height(); top += w.band_rows)
        run_band<kFold>(w, block, {top, least(g.out_height(), top + w.band_rows), unit->first && top == 0}, *unit);
    if constexpr (kFold)
      finish_folded(w.lanes, outs, row, slot, units.slots, waiting, to, per_out);
    else
      finish_slot(w.lanes, count, slot, units.slots, waiting, sums);
  }
  if (kFold || sums == to) return;
  for (std::int64_t out = 0; out < outs; ++out)
    for_vectors<T>(0, row, [&](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      store(to + out * per_out + i, load(sums + out * row + i, end), end);
    });
}

/// Output rows of a band.
LOCKSTEP_INLINE std::int64_t rows_of_band(const Conv2dGeometry& g) {
  const bool pairs = g.kernel_w == kPairTaps && g.in_per_group() > 1;
  const std::int64_t outs = pairs ? kPairOuts : g.kernel_w > 3 ? 2 : 3, ins = pairs ? 2 : g.kernel_w == 1 ? 4 : 1;
  const std::int64_t row_bytes = kVectorBytes * (outs * g.out_width() + ins * g.stride_h * g.in_width);
  const std::int64_t halo_bytes = kVectorBytes * ins * (g.kernel_h - 1) * g.dilation_h * g.in_width;
  return least(g.out_height(), most(1, ((pairs ? kPairBandBytes : kBandBytes) - halo_bytes) / row_bytes));
}

/// The largest block: whole groups, or some output channels of a group, or of these some input channels. Where there
/// are several bands, more output channels share the rows of x that are in L1. Where sums are folded, four of them take
/// the room of one.
template <class T>
LOCKSTEP_INLINE Block largest_block(const Conv2dGeometry& g, std::int64_t taps, bool several_bands, bool folded) {
  constexpr std::int64_t kTiles = 4;
  const std::int64_t fitting = (folded ? kFolded : 1) * (several_bands ? kFarLanesBytes : kLanesBytes) /
                               (kLanes * static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t kernel = g.kernel_h * g.kernel_w;
  const bool pairs = g.kernel_w > 1 && taps == kPairTaps && g.in_per_group() > 1;
  const std::int64_t tile = pairs ? kPairOuts : tile_outs(taps);
  const std::int64_t most_outs = g.kernel_w > kMostTaps ? kTileOuts<kMostTaps> : kMostFoldedOuts;
  const std::int64_t outs =
      least(g.out_per_group(), folded ? least(tile, most_outs) : (several_bands ? kTiles : 1) * tile);
  Block block = {.group = 0, .groups = 1, .out = 0, .outs = outs, .in = 0, .ins = g.in_per_group()};
  if (outs * block.ins * kernel > fitting) {
    const std::int64_t unit = pairs ? 2 : g.kernel_w == 1 ? kMostChannels : 1;
    block.ins = least(g.in_per_group(), most(1, fitting / (outs * kernel * unit)) * unit);
  } else if (!folded) {
    block.outs = least(g.out_per_group(), fitting / (block.ins * kernel) / outs * outs);
    if (block.outs == g.out_per_group()) block.groups = most(1, fitting / (block.ins * kernel * block.outs));
  }
  return block;
}

/// run(block) for all weights. The rests of rows of blocks are evened out.
template <class Run>
LOCKSTEP_INLINE void for_blocks(const Conv2dGeometry& g, const Block& largest, const Run& run) {
  const std::int64_t cuts = (g.out_per_group() + largest.outs - 1) / largest.outs;
  for (std::int64_t group = 0; group < g.groups; group += largest.groups)
    for (std::int64_t cut = 0; cut < cuts; ++cut) {
      const std::int64_t out = g.out_per_group() * cut / cuts, end = g.out_per_group() * (cut + 1) / cuts;
      for (std::int64_t in = 0; in < g.in_per_group(); in += largest.ins)
        run(Block{.group = group,
                  .groups = least(largest.groups, g.groups - group),
                  .out = out,
                  .outs = end - out,
                  .in = in,
                  .ins = least(largest.ins, g.in_per_group() - in)});
    }
}

}  // namespace

template <class T>
void conv2d_backward_weights(const Conv2dBackwardWeights<T>& a, KernelContext& context) {
  constexpr std::int64_t kLevels = 12;  // kMaxSlots is 2^12
  const Conv2dGeometry& g = a.geometry;
  const bool channels = g.kernel_w == 1;
  const TapGroups groups = {g.kernel_w, (g.kernel_w + kMostTaps - 1) / kMostTaps};
  const std::int64_t band_rows = rows_of_band(g);
  const std::int64_t outs = g.out_channels, pixels = g.out_height() * g.out_width(), slots = a.slots.count();
  const std::int64_t unit_count = count_units<T>(a.slots);
  // The sums of a tile are whole when it ends: one vector of samples in a slot, one band.
  const bool folded =
      kLaneVecs<T> == 1 && unit_count == slots && band_rows == g.out_height() && g.out_per_group() >= kFolded;
  const Block largest = largest_block<T>(g, channels ? least(kMostChannels, g.in_per_group()) : groups[0].count,
                                         band_rows < g.out_height(), folded);
  const std::int64_t levels = slots > 1 ? kLevels : 0;
  // Where a vector of dy serves few fmas, copying it does not pay.
  constexpr std::int64_t kFew = 64;
  const bool few = g.in_per_group() * g.kernel_h * g.kernel_w < kFew;
  const Packing dy_packing = packing_of<T>(a.dy, a.slots, outs, pixels, few ? kLanes : 0);
  const Packing x_packing = packing_of<T>(a.x, a.slots, g.in_channels, g.in_height * g.in_width, Vec<T>::kWidth);
  // Lanes and sums are read a vector at a time, or four, so there is room behind the last.
  const std::int64_t block = round_up(
      round_up(largest.groups * largest.outs, kFolded) * round_up(largest.ins * g.kernel_h * g.kernel_w, kFolded),
      kLanes);
  const std::int64_t lanes = most(block, round_up(outs, kLanes));
  const std::int64_t structs = unit_count * static_cast<std::int64_t>(sizeof(Unit)) +
                               (slots + 1) * static_cast<std::int64_t>(sizeof(std::int64_t)) +
                               groups.count * (g.out_width() + 1) * static_cast<std::int64_t>(sizeof(TapRange));
  T* memory = simd_scratch_of<T>(
      context, lanes * (kLanes + levels + 1) + dy_packing.elements + x_packing.elements +
                   round_up(structs, static_cast<std::int64_t>(sizeof(T))) / static_cast<std::int64_t>(sizeof(T)));
  T *waiting = memory + lanes * kLanes, *dy = waiting + lanes * (levels + 1), *x = dy + dy_packing.elements;
  auto* unit_memory = reinterpret_cast<Unit*>(x + x_packing.elements);
  auto* slot_memory = reinterpret_cast<std::int64_t*>(unit_memory + unit_count);
  auto* ranges = reinterpret_cast<TapRange*>(slot_memory + slots + 1);
  const Units units = make_units<T>(a.slots, unit_memory, slot_memory);
  const Gradient<T> w = {.geometry = g,
                         .dy = pack(a.dy, dy_packing, units, -T(0), dy),
                         .x = pack(a.x, x_packing, units, T(0), x),
                         .groups = groups,
                         .channels = channels,
                         .ranges = ranges,
                         .band_rows = band_rows,
                         .lanes = memory};
  for (std::int64_t i = 0; i < groups.count; ++i) find_ranges(g, groups[i], w.ranges_of(i));
  for_blocks(g, largest, [&](const Block& each) {
    if constexpr (kLaneVecs<T> == 1)
      if (folded) return run_block<true>(w, each, units, waiting, a.dw);
    run_block<false>(w, each, units, waiting, a.dw);
  });
  if (a.db == nullptr) return;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    for (const Unit* unit = units.begin(slot); unit != units.end(slot); ++unit)
      for_row_tiles<8>(outs, [&]<int kCount>(std::int64_t oc) {
        bias_chains<kCount>(w.dy, *unit, pixels, oc, w.lanes + oc * kLanes + unit->lane);
      });
    finish_slot(w.lanes, outs, slot, slots, waiting, a.db);
  }
}

LOCKSTEP_SIMD_INSTANTIATE(conv2d_backward_weights, Conv2dBackwardWeights)

}  // namespace lockstep::LOCKSTEP_SIMD
