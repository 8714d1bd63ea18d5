#include "lockstep/data/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/inline.hpp"

namespace lockstep {
namespace {

// The transposing copy goes through a small tile: reads follow each sample, writes follow each feature, and the
// stride of x (often a power of two, so that a column falls into one cache set) is met only by whole rows.
constexpr std::int64_t kFeatureTile = 64;

/// out[j] = scaled in[j]: the three cases of Scaling.
template <class Raw, class T>
LOCKSTEP_INLINE void scale_row(const Raw* in, std::int64_t count, T scale, T offset, T* out) {
  if (offset != T{0}) {
    for (std::int64_t j = 0; j < count; ++j) {
      if constexpr (sizeof(T) == 4)
        out[j] = __builtin_fmaf(static_cast<T>(in[j]), scale, offset);
      else
        out[j] = __builtin_fma(static_cast<T>(in[j]), scale, offset);
    }
  } else if (scale == T{1}) {
    for (std::int64_t j = 0; j < count; ++j) out[j] = static_cast<T>(in[j]);
  } else {
    for (std::int64_t j = 0; j < count; ++j) out[j] = static_cast<T>(in[j]) * scale;
  }
}

/// Samples of a tile and the features [first, first + count) that it holds.
struct TileSize {
  std::int64_t samples, first, count;
};

/// The loop over a full tile has a length that the compiler knows.
template <class Raw, class T>
LOCKSTEP_INLINE void scale_tile_with(const Raw (*tile)[kRowTile], TileSize size, const Scaling& scaling, Matrix<T> x) {
  for (std::int64_t f = 0; f < size.count; ++f) {
    const auto scale = static_cast<T>(scaling.scale(size.first + f));
    const auto offset = static_cast<T>(scaling.offset(size.first + f));
    if (size.samples == kRowTile)
      scale_row(tile[f], kRowTile, scale, offset, x.row(size.first + f));
    else
      scale_row(tile[f], size.samples, scale, offset, x.row(size.first + f));
  }
}

#if defined(__x86_64__)
/// With wider vectors and the machine's fma instruction: the same bits, without a library call per element.
template <class Raw, class T>
__attribute__((target("avx2,fma"))) void scale_tile_avx2(const Raw (*tile)[kRowTile], TileSize size,
                                                         const Scaling& scaling, Matrix<T> x) {
  scale_tile_with(tile, size, scaling, x);
}
#endif

template <class Raw, class T>
void scale_tile(const Raw (*tile)[kRowTile], TileSize size, const Scaling& scaling, Matrix<T> x) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) return scale_tile_avx2(tile, size, scaling, x);
#endif
  scale_tile_with(tile, size, scaling, x);
}

typedef std::uint8_t Bytes __attribute__((vector_size(16)));

/// 16 bytes of each of 16 samples, turned around: tile[f][j] = rows[j][first + f]. Interleaving the upper and the lower
/// half of the lines four times moves every bit of the index by four places, which swaps the two indices.
void transpose_bytes(std::span<const std::byte* const> rows, std::int64_t first, std::uint8_t (*tile)[kRowTile]) {
  Bytes v[16], next[16];
  for (std::size_t j = 0; j < 16; ++j) std::memcpy(&v[j], rows[j] + first, 16);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = __builtin_shufflevector(v[i], v[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      next[2 * i + 1] =
          __builtin_shufflevector(v[i], v[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    std::copy_n(next, 16, v);
  }
  std::memcpy(tile, v, sizeof(v));
}

template <class Raw, class T>
void scatter(std::span<const std::byte* const> rows, const Scaling& scaling, Matrix<T> x) {
  Raw tile[kFeatureTile][kRowTile];
  const auto samples = static_cast<std::int64_t>(rows.size());
  for (std::int64_t first = 0; first < x.rows; first += kFeatureTile) {
    const std::int64_t count = std::min(kFeatureTile, x.rows - first);
    std::int64_t done = 0;
    if constexpr (sizeof(Raw) == 1)  // pictures, most of all
      for (; samples == kRowTile && done + 16 <= count; done += 16)
        transpose_bytes(rows, first + done, reinterpret_cast<std::uint8_t(*)[kRowTile]>(tile + done));
    for (std::int64_t j = 0; j < samples; ++j) {
      const Raw* raw = reinterpret_cast<const Raw*>(rows[static_cast<std::size_t>(j)]) + first;
      for (std::int64_t f = done; f < count; ++f) tile[f][j] = raw[f];
    }
    scale_tile(tile, {samples, first, count}, scaling, x);
  }
}

}  // namespace

Scaling::Scaling(std::vector<double> scale, std::vector<double> offset)
    : scale_(std::move(scale)), offset_(std::move(offset)) {
  if (scale_.empty() || scale_.size() != offset_.size()) {
    throw Error(ExitCode::bug, fmt::format("scaling: {} scales, {} offsets", scale_.size(), offset_.size()));
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
