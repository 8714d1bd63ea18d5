// Linear forward and data gradient: a product of a matrix whose elements are broadcast (w, or w transposed) and one
// whose rows are vectors of samples.
//
// Tile: 6 outputs x 2 vectors on 16 registers, 12 x 2 on 32. Limit: the fma units; the measured share of it stands in
// docs/design/0002-simd.md. The block of samples a tile works on stays in L2 (64 floats x 512 terms: 128 KB), the rows
// of weights it broadcasts stay in L1. Sums leave the registers once per block of terms.

#include "lockstep/kernels/linear.hpp"

#include "lockstep/kernels/simd/kernels.hpp"
#include "lockstep/kernels/simd/tile.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

constexpr std::int64_t kLine = 64, kSets = 64;  // of L1: bytes of a line, lines before the sets repeat

template <class T>
constexpr std::int64_t kBlockCols = 256 / static_cast<std::int64_t>(sizeof(T));

/// out[r, s] = start[r] + sum over k of a(r, k) * b[k, s].
template <class T>
struct Product {
  Broadcasts<T> a;
  const T* start;  // null: 0
  ConstMatrix<T> b;
  Matrix<T> out;
};

/// A piece of the work: rows from `row`, columns [col, end_col), terms [first, first + count).
struct Piece {
  std::int64_t row, col, end_col, first, count;
};

/// The tiles of kRows rows along the columns of the piece. A function of its own: the tile needs all registers.
template <int kRows, int kVecs, class T>
LOCKSTEP_NOINLINE void row_of_tiles(const Product<T>& p, const Broadcasts<T> a, const Piece piece) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  const std::int64_t b_stride = p.b.stride, out_stride = p.out.stride;
  const T* b = p.b.row(piece.first);
  T* out = p.out.row(piece.row);
  const T* start = p.start == nullptr ? nullptr : p.start + piece.row;
  const auto one_tile = [&]<int kWide>(std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    Tile<T, kRows, kWide> tile;
    if (piece.first > 0)
      load_tile(tile, out + c, out_stride, end);
    else if (start != nullptr)
      fill(tile, start);
    else
      clear(tile);
    multiply_add(tile, a, b + c, b_stride, piece.count, end);
    store_tile(tile, out + c, out_stride, end);
  };
  std::int64_t col = piece.col;
  for (; col + kVecs * kWidth <= piece.end_col; col += kVecs * kWidth)
    one_tile.template operator()<kVecs>(col, Whole{});
  const std::int64_t rest = piece.end_col - col;
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

}  // namespace

template <class T>
void linear_forward(const LinearForward<T>& a, KernelContext&) {
  // With most lanes empty, lanes run over outputs, as far as these fill vectors.
  const std::int64_t done = 2 * a.y.cols < Vec<T>::kWidth ? linear_forward_few(a) : 0;
  constexpr std::int64_t kDepth = 2048 / static_cast<std::int64_t>(sizeof(T));
  const Matrix<T> y = a.y.rows_from(done, a.y.rows - done);
  const ConstMatrix<T> w = a.w.rows_from(done, y.rows);
  const Product<T> p = {{w.data, w.stride, 1}, a.b == nullptr ? nullptr : a.b + done, a.x, y};
  for_column_blocks<T>(y.cols, [&]<int kVecs>(std::int64_t col, std::int64_t end_col) {
    for_depth_blocks(a.x.rows, kDepth, [&](std::int64_t first, std::int64_t count) {
      for_row_tiles<kTileRows<kVecs>>(y.rows, [&]<int kRows>(std::int64_t row) {
        row_of_tiles<kRows, kVecs, T>(p, {w.row(row) + first, w.stride, 1}, {row, col, end_col, first, count});
      });
    });
  });
}

/// Here a tile broadcasts from a column of lines of w: few enough terms at a time for L1, and where the row length
/// of w would put them all into the same sets of the cache, from a copy of the panel.
template <class T>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext&) {
  constexpr std::int64_t kDepth = 128, kPanel = kLine / static_cast<std::int64_t>(sizeof(T));
  alignas(kLine) T panel[kDepth * kPanel];
  const Product<T> p = {{a.w.data, 1, a.w.stride}, nullptr, a.dy, a.dx};
  const bool copy = crowded(least(a.dy.rows, kDepth), a.w.stride * static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t band = copy ? kPanel : a.dx.rows;
  for_depth_blocks(a.dy.rows, kDepth, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t top = 0; top < a.dx.rows; top += band) {
      const std::int64_t rows = least(band, a.dx.rows - top);
      if (copy) copy_panel(a.w.row(first) + top, a.w.stride, rows, count, panel);
      for_column_blocks<T>(a.dx.cols, [&]<int kVecs>(std::int64_t col, std::int64_t end_col) {
        for_row_tiles<kTileRows<kVecs>>(rows, [&]<int kRows>(std::int64_t row) {
          const Piece piece = {top + row, col, end_col, first, count};
          if (copy)
            row_of_tiles<kRows, kVecs, T>(p, {panel + row, 1, kPanel}, piece);
          else
            row_of_tiles<kRows, kVecs, T>(p, {a.w.row(first) + row, 1, a.w.stride}, piece);
        });
      });
    }
  });
}

LOCKSTEP_SIMD_INSTANTIATE(linear_forward, LinearForward)
LOCKSTEP_SIMD_INSTANTIATE(linear_backward_data, LinearBackwardData)

}  // namespace lockstep::LOCKSTEP_SIMD
