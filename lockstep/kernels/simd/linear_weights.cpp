// Linear weight gradient: dw = dy x^T, a chain over the samples of each slot, then the tree over slots.
//
// Lanes run over `in`, so no lane splits a sum: a panel of 2 vectors of inputs is transposed to [samples][inputs] and
// serves all outputs. Tile: 6 outputs x 2 vectors; dy is broadcast. The sums of sibling slots meet in registers (one
// of them waits in L1), so dw is written once. Limit: the fma units; transposing costs about 1/outputs of the time.

#include "lockstep/kernels/linear.hpp"
#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/tile.hpp"
#include "lockstep/kernels/simd/transpose.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

constexpr std::int64_t kPanelBytes = 16 * 1024;  // of L1, for the panels that a tile's rows of dy serve
constexpr std::int64_t kNearBytes = 128 * 1024;  // a dy that stays in L2 needs no more than one panel at a time

/// kVecs vectors of inputs in the order [samples][inputs].
template <class T>
struct Panel {
  const T* x;
  Slots slots;
  ConstMatrix<T> dy;
  T* waiting;  // one tile per level of the tree over slots
};

/// Takes the sum of a finished subtree (number `node` on its level, leftmost 0) to its left siblings, as far as they
/// are complete. True when it was the last: the tile holds the root. Else the tile waits for its right sibling.
template <int kRows, int kVecs, class T>
LOCKSTEP_INLINE bool climb(Tile<T, kRows, kVecs>& tile, std::int64_t node, std::int64_t nodes, T* waiting) {
  constexpr std::int64_t kWide = kVecs * Vec<T>::kWidth, kSize = kRows * kWide;
  for (std::int64_t up = node; (up & 1) != 0; up >>= 1, waiting += kSize) add_tile(tile, waiting, kWide);
  if (node + 1 == nodes) return true;
  store_tile(tile, waiting, kWide, Whole{});
  return false;
}

/// Asks for the part of dw that will be written some tiles later: when another core had it, it is far away.
template <int kRows, class T>
LOCKSTEP_INLINE void prefetch_ahead(const Panel<T>& panel, std::int64_t row, const T* dw, std::int64_t stride) {
  constexpr std::int64_t kAhead = 4 * kRows;
  prefetch_tile<kRows>(dw + least(kAhead, panel.dy.rows - kRows - row) * stride, stride);
}

/// Rows [row, row + kRows) of dw, the panel's columns, slot by slot.
template <int kRows, int kVecs, class T, class End>
LOCKSTEP_NOINLINE void slot_tiles(const Panel<T>& panel, std::int64_t row, T* dw, std::int64_t stride, const End& end) {
  constexpr std::int64_t kWide = kVecs * Vec<T>::kWidth;
  const std::int64_t row_step = panel.dy.stride;
  const T* dy = panel.dy.row(row);
  prefetch_ahead<kRows>(panel, row, dw, stride);
  for (std::int64_t slot = 0;; ++slot) {
    const std::int64_t begin = panel.slots.begin(slot);
    Tile<T, kRows, kVecs> tile;
    clear(tile);
    multiply_add(tile, {dy + begin, row_step, 1}, panel.x + begin * kWide, kWide, panel.slots.size(slot), Whole{});
    if (climb(tile, slot, panel.slots.count(), panel.waiting)) return store_tile(tile, dw, stride, end);
  }
}

/// The same for slots of equal sizes, two siblings at a time, each in half of the registers, so that the first level
/// of the tree needs no memory: on Zen 3 a store of a vector holds up both fma units.
template <int kRows, int kVecs, class T, class End>
LOCKSTEP_NOINLINE void pair_tiles(const Panel<T>& panel, std::int64_t row, T* dw, std::int64_t stride, const End& end) {
  constexpr std::int64_t kWide = kVecs * Vec<T>::kWidth;
  const std::int64_t size = panel.slots.size(0), pairs = panel.slots.count() / 2, row_step = panel.dy.stride;
  const T *dy = panel.dy.row(row) + panel.slots.begin(0), *x = panel.x + panel.slots.begin(0) * kWide;
  prefetch_ahead<kRows>(panel, row, dw, stride);
  for (std::int64_t pair = 0;; ++pair) {
    Tile<T, kRows, kVecs> left, right;
    clear(left);
    clear(right);
    for (std::int64_t k = 0; k < size; ++k) {
      step(left, dy, row_step, x, Whole{});
      step(right, dy + size, row_step, x + size * kWide, Whole{});
      ++dy;
      x += kWide;
    }
    dy += size;
    x += size * kWide;
    add_tile(right, left);
    if (climb(right, pair, pairs, panel.waiting)) return store_tile(right, dw, stride, end);
  }
}

LOCKSTEP_INLINE bool equal_pairs(const Slots& slots) {
  for (std::int64_t slot = 1; slot < slots.count(); ++slot)
    if (slots.size(slot) != slots.size(0)) return false;
  return slots.count() > 1;
}

/// Panels side by side that a few rows of dy serve while they are in L1.
template <class T>
struct PanelGroup {
  const LinearBackwardWeights<T>& a;
  T* x;  // [panel][samples][inputs]
  T* waiting;
};

/// Columns from `col` on of dw: `panels` panels of kVecs vectors; `cols` columns are left for the last of them.
template <int kVecs, class T, class End>
LOCKSTEP_INLINE void weight_panels(const PanelGroup<T>& group, std::int64_t col, std::int64_t panels, std::int64_t cols,
                                   const End& end) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth, kWide = kVecs * kWidth;
  const LinearBackwardWeights<T>& a = group.a;
  const std::int64_t size = a.x.cols * kWide;
  for (std::int64_t p = 0; p < panels; ++p)
    for (int v = 0; v < kVecs; ++v)
      transpose_strip(a.x.row(col + p * kWide + v * kWidth), a.x.stride, least(kWidth, cols - v * kWidth), a.x.cols,
                      group.x + p * size + v * kWidth, kWide);
  const auto for_panels = [&](std::int64_t row, const auto& tile) {
    for (std::int64_t p = 0; p < panels; ++p)
      tile(Panel<T>{group.x + p * size, a.slots, a.dy, group.waiting}, a.dw.row(row) + col + p * kWide);
  };
  if (equal_pairs(a.slots))
    for_row_tiles<kTileRows<kVecs> / 2>(a.dw.rows, [&]<int kRows>(std::int64_t row) {
      for_panels(row,
                 [&](const Panel<T>& panel, T* dw) { pair_tiles<kRows, kVecs>(panel, row, dw, a.dw.stride, end); });
    });
  else
    for_row_tiles<kTileRows<kVecs>>(a.dw.rows, [&]<int kRows>(std::int64_t row) {
      for_panels(row,
                 [&](const Panel<T>& panel, T* dw) { slot_tiles<kRows, kVecs>(panel, row, dw, a.dw.stride, end); });
    });
}

/// db: lanes over outputs, dy transposed.
template <class T>
LOCKSTEP_INLINE void bias(const LinearBackwardWeights<T>& a, T* transposed) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  for (std::int64_t row = 0; row < a.dy.rows; row += kWidth) {
    const std::int64_t rows = least(kWidth, a.dy.rows - row);
    transpose_strip(a.dy.row(row), a.dy.stride, rows, a.dy.cols, transposed, kWidth);
    const auto slot_sum = [&](std::int64_t slot) {
      Vec<T> sum = zero<T>();
      for (std::int64_t s = a.slots.begin(slot); s < a.slots.end(slot); ++s) sum = sum + load(transposed + s * kWidth);
      return sum;
    };
    store(a.db + row, slot_tree(slot_sum, 0, a.slots.count()), tail_of<T>(rows));
  }
}

}  // namespace

template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>& a, KernelContext& context) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth, kWide = 2 * kWidth;
  constexpr std::int64_t levels = 16;  // kMaxSlots is 2^12
  const std::int64_t panel = a.x.cols * kWide, scalar = static_cast<std::int64_t>(sizeof(T));
  const bool near = a.dy.rows * a.dy.stride * scalar <= kNearBytes;
  const std::int64_t most_panels = near ? 1 : most(1, kPanelBytes / (panel * scalar));
  T* x = simd_scratch_of<T>(context, most_panels * panel + levels * kTileRows<1> * kWide);
  const PanelGroup<T> group = {a, x, x + most_panels * panel};
  std::int64_t col = 0;
  while (col + kWide <= a.dw.cols) {
    const std::int64_t panels = least(most_panels, (a.dw.cols - col) / kWide);
    weight_panels<2>(group, col, panels, kWide, Whole{});
    col += panels * kWide;
  }
  const std::int64_t rest = a.dw.cols - col;
  if (rest > kWidth)
    weight_panels<2>(group, col, 1, rest, tail_of<T>(rest - kWidth));
  else if (rest > 0)
    weight_panels<1>(group, col, 1, rest, tail_of<T>(rest));
  if (a.db != nullptr) bias(a, x);
}

LOCKSTEP_SIMD_INSTANTIATE(linear_backward_weights, LinearBackwardWeights)

}  // namespace lockstep::LOCKSTEP_SIMD
