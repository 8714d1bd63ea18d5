#pragma once
// The register tile under linear and conv2d: kRows outputs by kVecs vectors of samples, all in registers. Each step
// loads kVecs vectors, broadcasts kRows weights and does kRows * kVecs fmas; a tile of 12 vectors keeps two fma units
// of latency 4 busy and leaves room for the operands in 16 registers: 6 x 2, or 12 x 1 where one vector holds all.

#include "lockstep/kernels/simd/mask.hpp"

namespace lockstep::LOCKSTEP_SIMD {

/// Rows of a tile that is kVecs vectors wide.
template <int kVecs>
inline constexpr int kTileRows = kVecs == 1 || kRegisters == 32 ? 12 : 6;

template <class T, int kRows, int kVecs>
struct Tile {
  Vec<T> acc[kRows][kVecs];
};

/// Element (row, k) is at data[row * row_step + k * k_step].
template <class T>
struct Broadcasts {
  const T* data;
  std::int64_t row_step, k_step;
};

template <int kRows, int kVecs, class T>
LOCKSTEP_INLINE void clear(Tile<T, kRows, kVecs>& tile) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) tile.acc[r][v] = zero<T>();
}

/// Each row starts from its own value: the bias.
template <int kRows, int kVecs, class T>
LOCKSTEP_INLINE void fill(Tile<T, kRows, kVecs>& tile, const T* values) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) tile.acc[r][v] = broadcast(values[r]);
}

/// End is Whole or Tail: whether the last vector of each row reaches beyond the matrix.
template <int kRows, int kVecs, class T, class End>
LOCKSTEP_INLINE void load_tile(Tile<T, kRows, kVecs>& tile, const T* from, std::int64_t stride, const End& end) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v + 1 < kVecs; ++v) tile.acc[r][v] = load(from + r * stride + v * Vec<T>::kWidth);
    tile.acc[r][kVecs - 1] = load(from + r * stride + (kVecs - 1) * Vec<T>::kWidth, end);
  }
}

/// The vectors of a row go to places v_step apart.
template <int kRows, int kVecs, class T, class End>
LOCKSTEP_INLINE void store_tile(const Tile<T, kRows, kVecs>& tile, T* to, std::int64_t stride, const End& end,
                                std::int64_t v_step = Vec<T>::kWidth) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v + 1 < kVecs; ++v) store(to + r * stride + v * v_step, tile.acc[r][v]);
    store(to + r * stride + (kVecs - 1) * v_step, tile.acc[r][kVecs - 1], end);
  }
}

/// Asks for the lines that store_tile will write, so that the stores do not wait for memory.
template <int kRows, class T>
LOCKSTEP_INLINE void prefetch_tile(const T* to, std::int64_t stride) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) __builtin_prefetch(to + r * stride, 1);
}

template <int kRows, int kVecs, class T>
LOCKSTEP_INLINE void add_tile(Tile<T, kRows, kVecs>& tile, const Tile<T, kRows, kVecs>& left) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) tile.acc[r][v] = left.acc[r][v] + tile.acc[r][v];
}

/// Each sum becomes left + sum, for the left siblings that wait at `left`.
template <int kRows, int kVecs, class T>
LOCKSTEP_INLINE void add_tile(Tile<T, kRows, kVecs>& tile, const T* left, std::int64_t stride) {
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) tile.acc[r][v] = load(left + r * stride + v * Vec<T>::kWidth) + tile.acc[r][v];
}

/// One step: acc[r][v] = fma(a[r * row_step], b[v], acc[r][v]). The vectors of b lie b_step apart.
template <int kRows, int kVecs, class T, class End>
LOCKSTEP_INLINE void step(Tile<T, kRows, kVecs>& tile, const T* a, std::int64_t row_step, const T* b, const End& end,
                          std::int64_t b_step = Vec<T>::kWidth) {
  Vec<T> samples[kVecs];
#pragma GCC unroll 4
  for (int v = 0; v + 1 < kVecs; ++v) samples[v] = load(b + v * b_step);
  samples[kVecs - 1] = load(b + (kVecs - 1) * b_step, end);
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const Vec<T> weight = broadcast(a[r * row_step]);
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) tile.acc[r][v] = fma(weight, samples[v], tile.acc[r][v]);
  }
}

/// The chain over k = 0 .. count-1: row k of b is at b + k * b_stride.
template <int kRows, int kVecs, class T, class End>
LOCKSTEP_INLINE void multiply_add(Tile<T, kRows, kVecs>& tile, Broadcasts<T> a, const T* b, std::int64_t b_stride,
                                  std::int64_t count, const End& end, std::int64_t b_step = Vec<T>::kWidth) {
  for (std::int64_t k = 0; k < count; ++k) {
    step(tile, a.data, a.row_step, b, end, b_step);
    a.data += a.k_step;
    b += b_stride;
  }
}

/// The same, asking for the rows of b some steps ahead: neighbours of what is loaded lie a row apart, which is more
/// than the hardware looks ahead when they have to come from far away.
template <int kRows, int kVecs, class T, class End>
LOCKSTEP_INLINE void multiply_add_from_far(Tile<T, kRows, kVecs>& tile, Broadcasts<T> a, const T* b,
                                           std::int64_t b_stride, std::int64_t count, const End& end) {
  constexpr std::int64_t kAhead = 16, kLine = 64, kBytes = kVecs * kVectorBytes;
  for (std::int64_t k = 0; k < count; ++k) {
    const char* const ahead = reinterpret_cast<const char*>(b + kAhead * b_stride);
#pragma GCC unroll 4
    for (std::int64_t byte = 0; byte < kBytes; byte += kLine) __builtin_prefetch(ahead + byte);
    step(tile, a.data, a.row_step, b, end);
    a.data += a.k_step;
    b += b_stride;
  }
}

/// Calls run.template operator()<kRows>() with the compile-time value of rows, 1 .. kMost.
template <int kMost, class Run>
LOCKSTEP_INLINE void with_rows(std::int64_t rows, const Run& run) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return with_rows<kMost - 1>(rows, run);
  }
  run.template operator()<kMost>();
}

/// `rows` cut into tiles of at most kMost. A small rest would leave the fma units waiting, so the last two tiles share
/// their rows evenly.
template <int kMost>
struct RowTiles {
  std::int64_t rows;

  LOCKSTEP_INLINE std::int64_t count() const { return (rows + kMost - 1) / kMost; }
  LOCKSTEP_INLINE std::int64_t first(std::int64_t tile) const {
    const std::int64_t last = count() - 1;
    return tile < last || last == 0 ? tile * kMost : tile * kMost - (kMost - shared()) / 2;
  }
  LOCKSTEP_INLINE std::int64_t size(std::int64_t tile) const {
    return (tile + 1 < count() ? first(tile + 1) : rows) - first(tile);
  }

 private:
  LOCKSTEP_INLINE std::int64_t shared() const { return rows - (count() - 1) * kMost; }  // of the last tile, uncorrected
};

/// run.template operator()<kRows>(first row) for every tile.
template <int kMost, class Run>
LOCKSTEP_INLINE void for_row_tiles(std::int64_t rows, const Run& run) {
  const RowTiles<kMost> tiles{rows};
  for (std::int64_t t = 0; t < tiles.count(); ++t)
    with_rows<kMost>(tiles.size(t), [&]<int kRows>() { run.template operator()<kRows>(tiles.first(t)); });
}

}  // namespace lockstep::LOCKSTEP_SIMD
