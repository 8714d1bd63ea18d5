#include "lockstep/data/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/inline.hpp"

namespace lockstep {
namespace {

// The transposing copy goes through a small tile: reads follow each sample, writes follow each feature, and the
// stride of x (often a power of two, so that a column falls into one cache set) is met only by whole rows.
constexpr std::int64_t kFeatureTile = 64;

/// out[j] = scaled in[j]: the three cases of Scaling. The two do not overlap, and the loops are not unrolled: else GCC
/// takes the elements one by one instead of vectors.
template <class Raw, class T>
LOCKSTEP_INLINE void scale_row(const Raw* __restrict in, std::int64_t count, T scale, T offset, T* __restrict out) {
  if (offset != T{0}) {
#pragma GCC unroll 1
    for (std::int64_t j = 0; j < count; ++j) {
      if constexpr (sizeof(T) == 4)
        out[j] = __builtin_fmaf(static_cast<T>(in[j]), scale, offset);
      else
        out[j] = __builtin_fma(static_cast<T>(in[j]), scale, offset);
    }
  } else if (scale == T{1}) {
#pragma GCC unroll 1
    for (std::int64_t j = 0; j < count; ++j) out[j] = static_cast<T>(in[j]);
  } else {
#pragma GCC unroll 1
    for (std::int64_t j = 0; j < count; ++j) out[j] = static_cast<T>(in[j]) * scale;
  }
}

/// The elements that 16 bytes hold.
template <class Raw>
struct Line {
  static constexpr std::int64_t kWidth = 16 / static_cast<std::int64_t>(sizeof(Raw));
  using Vector __attribute__((vector_size(16))) = Raw;
};

/// The elements of the lower (kHalf 0) or upper (1) halves of two lines, in turns: a0 b0 a1 b1 ...
template <int kHalf, class Vector, int... kLane>
LOCKSTEP_INLINE Vector interleave(Vector a, Vector b, std::integer_sequence<int, kLane...>) {
  constexpr int kWidth = sizeof...(kLane);
  return __builtin_shufflevector(a, b, (kHalf * kWidth / 2 + kLane / 2 + kLane % 2 * kWidth)...);
}

/// A square of kWidth features of kWidth samples, turned around: tile[f][j] = rows[j][first + f]. Interleaving the
/// upper and the lower half of the lines, as often as an index has bits, swaps the two indices.
template <class Raw>
LOCKSTEP_INLINE void turn_square(const std::byte* const* rows, std::int64_t first, Raw (*tile)[kRowTile]) {
  constexpr int kWidth = static_cast<int>(Line<Raw>::kWidth);
  constexpr auto kLanes = std::make_integer_sequence<int, kWidth>{};
  using Vector = typename Line<Raw>::Vector;
  Vector v[kWidth], next[kWidth];
  for (int j = 0; j < kWidth; ++j)
    std::memcpy(&v[j], rows[j] + first * static_cast<std::int64_t>(sizeof(Raw)), sizeof(Vector));
  for (int bit = 1; bit < kWidth; bit *= 2) {
    for (int i = 0; i < kWidth / 2; ++i) {
      next[2 * i] = interleave<0>(v[i], v[i + kWidth / 2], kLanes);
      next[2 * i + 1] = interleave<1>(v[i], v[i + kWidth / 2], kLanes);
    }
    std::copy_n(next, kWidth, v);
  }
  for (int f = 0; f < kWidth; ++f) std::memcpy(tile[f], &v[f], sizeof(Vector));
}

/// The features [first, first + count) of up to kRowTile samples.
template <class Raw>
struct Tile {
  std::span<const std::byte* const> rows;
  std::int64_t first, count;
};

template <class Raw, class T>
LOCKSTEP_INLINE void scatter_tile_with(const Tile<Raw>& from, const Scaling& scaling, Matrix<T> x) {
  constexpr std::int64_t kSquare = Line<Raw>::kWidth;
  Raw tile[kFeatureTile][kRowTile];
  const auto samples = static_cast<std::int64_t>(from.rows.size());
  const std::int64_t squares = samples == kRowTile ? from.count / kSquare * kSquare : 0;  // features in whole squares
  for (std::int64_t j = 0; j < samples; j += kSquare)
    for (std::int64_t f = 0; f < squares; f += kSquare)
      turn_square<Raw>(from.rows.data() + j, from.first + f, reinterpret_cast<Raw(*)[kRowTile]>(&tile[f][j]));
  for (std::int64_t j = 0; j < samples; ++j) {
    const Raw* raw = reinterpret_cast<const Raw*>(from.rows[static_cast<std::size_t>(j)]) + from.first;
    for (std::int64_t f = squares; f < from.count; ++f) tile[f][j] = raw[f];
  }
  for (std::int64_t f = 0; f < from.count; ++f) {
    const auto scale = static_cast<T>(scaling.scale(from.first + f));
    const auto offset = static_cast<T>(scaling.offset(from.first + f));
    if (samples == kRowTile)  // a length that the compiler knows
      scale_row(tile[f], kRowTile, scale, offset, x.row(from.first + f));
    else
      scale_row(tile[f], samples, scale, offset, x.row(from.first + f));
  }
}

#if defined(__x86_64__)
/// With wider vectors and the machine's fma instruction: the same bits, without a library call per element.
template <class Raw, class T>
__attribute__((target("avx2,fma"))) void scatter_tile_avx2(const Tile<Raw>& from, const Scaling& scaling, Matrix<T> x) {
  scatter_tile_with(from, scaling, x);
}
#endif

template <class Raw, class T>
void scatter_tile(const Tile<Raw>& from, const Scaling& scaling, Matrix<T> x) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return scatter_tile_avx2(from, scaling, x);
#endif
  scatter_tile_with(from, scaling, x);
}

/// Asks for the elements [first, first + kFeatureTile) of every sample: a few lines of many rows are too little for the
/// hardware to guess what comes next.
template <class Raw>
void ask_for(std::span<const std::byte* const> rows, std::int64_t first, std::int64_t elements) {
  constexpr std::int64_t kLine = 64, kSize = static_cast<std::int64_t>(sizeof(Raw));
  const std::int64_t end = std::min(first + kFeatureTile, elements) * kSize;
  for (const std::byte* row : rows)
    for (std::int64_t b = first * kSize; b < end; b += kLine) __builtin_prefetch(row + b);
}

template <class Raw, class T>
void scatter(std::span<const std::byte* const> rows, const Scaling& scaling, Matrix<T> x) {
  ask_for<Raw>(rows, 0, x.rows);
  for (std::int64_t first = 0; first < x.rows; first += kFeatureTile) {
    ask_for<Raw>(rows, first + kFeatureTile, x.rows);
    scatter_tile<Raw>({rows, first, std::min(kFeatureTile, x.rows - first)}, scaling, x);
  }
}

}  // namespace

Scaling::Scaling(std::vector<double> scale, std::vector<double> offset)
    : scale_(std::move(scale)), offset_(std::move(offset)) {
  if (scale_.empty() || scale_.size() != offset_.size()) {
    throw Error(ErrorCode::bug, fmt::format("scaling: {} scales, {} offsets", scale_.size(), offset_.size()));
  }
}

bool Scaling::fits(std::int64_t features) const {
  return scale_.size() == 1 || static_cast<std::int64_t>(scale_.size()) == features;
}

template <class T>
void scatter_rows(ElementType type, std::span<const std::byte* const> rows, const Scaling& scaling, Matrix<T> x) {
  visit_element_type(type, [&](auto raw) { scatter<decltype(raw)>(rows, scaling, x); });
}

template void scatter_rows(ElementType, std::span<const std::byte* const>, const Scaling&, Matrix<float>);
template void scatter_rows(ElementType, std::span<const std::byte* const>, const Scaling&, Matrix<double>);

namespace {

/// Calls visit(x) with the samples of `data` in order, some hundred kilobytes at a time.
template <class Visit>
void for_each_block(const Dataset& data, const Visit& visit) {
  const std::int64_t features = data.features();
  const std::int64_t block = std::clamp<std::int64_t>((1 << 17) / std::max<std::int64_t>(features, 1), 1, 256);
  AlignedBuffer<double> buffer(features * block);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(block));
  for (std::int64_t first = 0; first < data.size(); first += block) {
    const std::int64_t count = std::min(block, data.size() - first);
    std::iota(ids.begin(), ids.end(), first);
    const Matrix<double> x{buffer.data(), features, count, block};
    data.gather(std::span(ids).first(static_cast<std::size_t>(count)), x);
    visit(ConstMatrix<double>(x));
  }
}

}  // namespace

Scaling standardising(const Dataset& data, double constant_scale) {
  const auto features = static_cast<std::size_t>(data.features());
  const auto samples = static_cast<double>(data.size());
  std::vector<double> mean(features, 0.0), variance(features, 0.0);
  for_each_block(data, [&](ConstMatrix<double> x) {
    for (std::size_t f = 0; f < features; ++f) {
      for (std::int64_t j = 0; j < x.cols; ++j) mean[f] += x(static_cast<std::int64_t>(f), j);
    }
  });
  for (double& m : mean) m /= samples;
  for_each_block(data, [&](ConstMatrix<double> x) {
    for (std::size_t f = 0; f < features; ++f) {
      for (std::int64_t j = 0; j < x.cols; ++j) {
        const double deviation = x(static_cast<std::int64_t>(f), j) - mean[f];
        variance[f] = std::fma(deviation, deviation, variance[f]);
      }
    }
  });
  std::vector<double> scale(features), offset(features);
  for (std::size_t f = 0; f < features; ++f) {
    scale[f] = variance[f] > 0 ? 1.0 / std::sqrt(variance[f] / samples) : constant_scale;
    offset[f] = -mean[f] * scale[f];
  }
  return {std::move(scale), std::move(offset)};
}

}  // namespace lockstep
