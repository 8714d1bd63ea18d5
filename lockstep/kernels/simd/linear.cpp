// Linear forward and data gradient: a product of a matrix whose elements are broadcast (w, or w transposed) and one
// whose rows are vectors of samples.
//
// Tile: 6 outputs x 2 vectors on 16 registers, 12 x 2 on 32. Limit: the fma units; the measured share of it stands in
// docs/design/0002-simd.md. The block of samples a tile works on stays in L2 (64 floats x 512 terms: 128 KB), the rows
// of weights it broadcasts stay in L1. Sums leave the registers once per block of terms.

#include "lockstep/kernels/linear.hpp"

#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/ops.hpp"
#include "lockstep/kernels/simd/tile.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

constexpr std::int64_t kLine = 64, kSets = 64;  // of L1: bytes of a line, lines before the sets repeat

template <class T>
constexpr std::int64_t kBlockCols = 256 / static_cast<std::int64_t>(sizeof(T));

template <class Elements>
LOCKSTEP_INLINE Elements columns(const Elements& matrix, std::int64_t col, std::int64_t end_col) {
  return {matrix.data + col, matrix.rows, end_col - col, matrix.stride};
}

/// A block of the work: out[r, s] = start[r] + sum over k of a(r, k) * b[k, s].
template <class T>
struct Product {
  const T* start;  // null: 0
  ConstMatrix<T> b;
  Matrix<T> out;
};

/// The tiles of kRows rows from `row` on; `more`: the sums go on from what out holds. A function of its own: the tile
/// needs all registers.
template <int kRows, int kVecs, class T>
LOCKSTEP_NOINLINE void row_of_tiles(const Product<T>& p, const Broadcasts<T> a, std::int64_t row, bool more) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  const std::int64_t terms = p.b.rows, cols = p.out.cols, b_stride = p.b.stride, out_stride = p.out.stride;
  const T* b = p.b.data;
  T* out = p.out.row(row);
  const T* start = p.start == nullptr ? nullptr : p.start + row;
  const auto one_tile = [&]<int kWide>(std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    Tile<T, kRows, kWide> tile;
    if (more)
      load_tile(tile, out + c, out_stride, end);
    else if (start != nullptr)
      fill(tile, start);
    else
      clear(tile);
    multiply_add_from_far(tile, a, b + c, b_stride, terms, end);
    store_tile(tile, out + c, out_stride, end);
  };
  std::int64_t col = 0;
  for (; col + kVecs * kWidth <= cols; col += kVecs * kWidth) one_tile.template operator()<kVecs>(col, Whole{});
  const std::int64_t rest = cols - col;
  if (kVecs > 1 && rest > kWidth)
    one_tile.template operator()<kVecs>(col, tail_of<T>(rest - kWidth));
  else if (rest > 0)
    one_tile.template operator()<1>(col, tail_of<T>(rest));
}

/// Calls work(first, count) for the blocks of a sum of `terms`; once, with count 0, for an empty one.
template <class Work>
LOCKSTEP_INLINE void for_depth_blocks(std::int64_t terms, std::int64_t depth, const Work& work) {
  std::int64_t first = 0;
  do {
    const std::int64_t count = least(depth, terms - first);
    work(first, count);
    first += count;
  } while (first < terms);
}

/// Calls work<kVecs>(col, end_col) for the blocks of columns; one vector wide where that holds all of them.
template <class T, class Work>
LOCKSTEP_INLINE void for_column_blocks(std::int64_t cols, const Work& work) {
  for (std::int64_t col = 0; col < cols; col += kBlockCols<T>) {
    const std::int64_t end_col = least(col + kBlockCols<T>, cols);
    if (end_col - col <= Vec<T>::kWidth)
      work.template operator()<1>(col, end_col);
    else
      work.template operator()<2>(col, end_col);
  }
}

/// Whether `rows` lines, `stride` bytes apart, crowd into so few sets of L1 that they push each other out.
LOCKSTEP_INLINE bool crowded(std::int64_t rows, std::int64_t stride) {
  if (stride % kLine != 0) return false;
  const std::int64_t lines = stride / kLine;
  const std::int64_t step = lines == 0 ? kSets : lines & -lines;  // the power of two in it
  return rows > 4 * most(1, kSets / step);
}

/// Columns [0, width) of `count` rows of w, one cache line each, copied to consecutive lines.
template <class T>
LOCKSTEP_INLINE void copy_panel(const T* from, std::int64_t stride, std::int64_t width, std::int64_t count, T* to) {
  constexpr std::int64_t kPanel = kLine / static_cast<std::int64_t>(sizeof(T));
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  for (std::int64_t k = 0; k < count; ++k, from += stride, to += kPanel)
    if (width == kPanel)
#pragma GCC unroll 8
      for (std::int64_t i = 0; i < kPanel; i += kWidth) store(to + i, load(from + i));
    else
      for (std::int64_t i = 0; i < width; ++i) to[i] = from[i];
}

/// Whether copying blocks of samples together pays: where their rows are longer than a block, or lie whole pages apart,
/// as those of one step of sequences may (each then has the same sets of the caches), and serve enough outputs.
template <class T>
LOCKSTEP_INLINE bool wide(const ConstMatrix<T>& samples, std::int64_t outputs) {
  constexpr std::int64_t kPage = 4096 / static_cast<std::int64_t>(sizeof(T));
  return (samples.cols > kBlockCols<T> || samples.stride % kPage == 0) && outputs >= 32;
}

/// Rows [first, first + count), columns [col, end_col), copied to rows of kBlockCols.
template <class T>
LOCKSTEP_INLINE ConstMatrix<T> copy_block(const ConstMatrix<T>& from, std::int64_t first, std::int64_t count,
                                          std::int64_t col, std::int64_t end_col, T* to) {
  for (std::int64_t k = 0; k < count; ++k)
    for_vectors<T>(col, end_col, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      store(to + k * kBlockCols<T> + c - col, load(from.row(first + k) + c, end));
    });
  return {to, count, end_col - col, kBlockCols<T>};
}

}  // namespace

template <class T>
void linear_forward(const LinearForward<T>& a, KernelContext& context) {
  if (2 * a.y.cols <= Vec<T>::kWidth && !a.w_transposed.empty()) return linear_forward_transposed(a);
  // With most lanes empty, lanes run over outputs, as far as these fill vectors.
  const std::int64_t done = 2 * a.y.cols < Vec<T>::kWidth ? linear_forward_few(a) : 0;
  constexpr std::int64_t kDepth = 2048 / static_cast<std::int64_t>(sizeof(T));
  const Matrix<T> y = a.y.rows_from(done, a.y.rows - done);
  const ConstMatrix<T> w = a.w.rows_from(done, y.rows);
  const bool copy = wide(a.x, y.rows);
  T* memory = copy ? simd_scratch_of<T>(context, kDepth * kBlockCols<T>) : nullptr;
  for_column_blocks<T>(y.cols, [&]<int kVecs>(std::int64_t col, std::int64_t end_col) {
    for_depth_blocks(a.x.rows, kDepth, [&](std::int64_t first, std::int64_t count) {
      const Product<T> p = {.start = a.b == nullptr ? nullptr : a.b + done,
                            .b = copy ? copy_block(a.x, first, count, col, end_col, memory)
                                      : columns(a.x.rows_from(first, count), col, end_col),
                            .out = columns(y, col, end_col)};
      for_row_tiles<kTileRows<kVecs>>(y.rows, [&]<int kRows>(std::int64_t row) {
        row_of_tiles<kRows, kVecs, T>(p, {w.row(row) + first, w.stride, 1}, row, first > 0);
      });
    });
  });
}

/// Here a tile broadcasts from a column of lines of w: few enough terms at a time for L1, and where the row length
/// of w would put them all into the same sets of the cache, from a copy of the panel.
template <class T>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext& context) {
  constexpr std::int64_t kDepth = 256, kPanel = kLine / static_cast<std::int64_t>(sizeof(T));
  alignas(kLine) T panel[kDepth * kPanel];
  const bool copy_w = crowded(least(a.dy.rows, kDepth), a.w.stride * static_cast<std::int64_t>(sizeof(T)));
  const bool copy = wide(a.dy, a.dx.rows);
  T* memory = copy ? simd_scratch_of<T>(context, kDepth * round_up(a.dy.cols, kBlockCols<T>)) : nullptr;
  const std::int64_t band = copy_w ? kPanel : a.dx.rows;
  for_depth_blocks(a.dy.rows, kDepth, [&](std::int64_t first, std::int64_t count) {
    const auto block_of_dy = [&](std::int64_t col, std::int64_t end_col, bool fill) -> ConstMatrix<T> {
      if (!copy) return columns(a.dy.rows_from(first, count), col, end_col);
      T* const block = memory + kDepth * col;
      return fill ? copy_block(a.dy, first, count, col, end_col, block)
                  : ConstMatrix<T>{block, count, end_col - col, kBlockCols<T>};
    };
    for (std::int64_t top = 0; top < a.dx.rows; top += band) {
      const std::int64_t rows = least(band, a.dx.rows - top);
      if (copy_w) copy_panel(a.w.row(first) + top, a.w.stride, rows, count, panel);
      const Broadcasts<T> weights =
          copy_w ? Broadcasts<T>{panel, 1, kPanel} : Broadcasts<T>{a.w.row(first), 1, a.w.stride};
      for_column_blocks<T>(a.dx.cols, [&]<int kVecs>(std::int64_t col, std::int64_t end_col) {
        const Product<T> p = {.start = nullptr,
                              .b = block_of_dy(col, end_col, top == 0),
                              .out = columns(a.dx.rows_from(top, rows), col, end_col)};
        for_row_tiles<kTileRows<kVecs>>(rows, [&]<int kRows>(std::int64_t row) {
          row_of_tiles<kRows, kVecs, T>(p, {weights.data + row, 1, weights.k_step}, row, first > 0);
        });
      });
    }
  });
}

LOCKSTEP_SIMD_INSTANTIATE(linear_forward, LinearForward)
LOCKSTEP_SIMD_INSTANTIATE(linear_backward_data, LinearBackwardData)

}  // namespace lockstep::LOCKSTEP_SIMD
