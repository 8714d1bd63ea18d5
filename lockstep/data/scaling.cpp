#include "lockstep/data/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

// The transposing copy goes through a small tile: reads follow each sample, writes follow each feature, and the
// stride of x (often a power of two, so that a column falls into one cache set) is met only by whole rows.
constexpr std::int64_t kFeatureTile = 64;

template <class T>
void fma_row(const T* in, std::int64_t count, T scale, T offset, T* out) {
  for (std::int64_t j = 0; j < count; ++j) out[j] = std::fma(in[j], scale, offset);
}

#if defined(__x86_64__)
// The same loop with the machine's fma instruction: the same bits, without a library call per element.
template <class T>
__attribute__((target("avx2,fma"))) void fma_row_hardware(const T* in, std::int64_t count, T scale, T offset, T* out) {
  for (std::int64_t j = 0; j < count; ++j) {
    if constexpr (sizeof(T) == 4) {
      out[j] = __builtin_fmaf(in[j], scale, offset);
    } else {
      out[j] = __builtin_fma(in[j], scale, offset);
    }
  }
}
#endif

template <class T>
void scale_row(const T* in, std::int64_t count, T scale, T offset, T* out) {
  if (offset != T{0}) {
#if defined(__x86_64__)
    static const bool hardware = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (hardware) return fma_row_hardware(in, count, scale, offset, out);
#endif
    return fma_row(in, count, scale, offset, out);
  }
  if (scale == T{1}) {
    std::copy_n(in, count, out);
  } else {
    for (std::int64_t j = 0; j < count; ++j) out[j] = in[j] * scale;
  }
}

template <class Raw, class T>
void scatter(std::span<const std::byte* const> rows, const Scaling& scaling, Matrix<T> x) {
  T tile[kFeatureTile][kRowTile];
  const auto samples = static_cast<std::int64_t>(rows.size());
  for (std::int64_t first = 0; first < x.rows; first += kFeatureTile) {
    const std::int64_t count = std::min(kFeatureTile, x.rows - first);
    for (std::int64_t j = 0; j < samples; ++j) {
      const Raw* raw = reinterpret_cast<const Raw*>(rows[static_cast<std::size_t>(j)]) + first;
      for (std::int64_t f = 0; f < count; ++f) tile[f][j] = static_cast<T>(raw[f]);
    }
    for (std::int64_t f = 0; f < count; ++f) {
      const auto scale = static_cast<T>(scaling.scale(first + f)), offset = static_cast<T>(scaling.offset(first + f));
      scale_row(tile[f], samples, scale, offset, x.row(first + f));
    }
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
