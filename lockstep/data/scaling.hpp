#pragma once
// Raw numbers of a file become inputs of a network on the way into the chunk: value = fma(raw, scale, offset).

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// One (scale, offset) pair for all features, or one pair per feature. In the scalar type T of the request:
///   scale 1, offset 0:  T(raw)
///   offset 0:           T(raw) * T(scale)
///   otherwise:          fma(T(raw), T(scale), T(offset))
class Scaling {
 public:
  Scaling() = default;
  explicit Scaling(double scale, double offset = 0) : scale_{scale}, offset_{offset} {}
  /// Both of the same length: the number of features.
  Scaling(std::vector<double> scale, std::vector<double> offset);

  double scale(std::int64_t feature) const { return scale_[index(feature)]; }
  double offset(std::int64_t feature) const { return offset_[index(feature)]; }
  /// One number each, or one per feature.
  std::span<const double> scales() const { return scale_; }
  std::span<const double> offsets() const { return offset_; }
  /// True when there is one pair for all features, or one per feature.
  bool fits(std::int64_t features) const;

 private:
  std::size_t index(std::int64_t feature) const { return scale_.size() == 1 ? 0 : static_cast<std::size_t>(feature); }

  std::vector<double> scale_{1.0}, offset_{0.0};
};

/// Samples that scatter_rows takes at once: one cache line of float32.
inline constexpr std::int64_t kRowTile = 16;

/// x(f, j) = scaled rows[j][f]: samples stored one after another become columns. Each row points at x.rows elements
/// of `type` in native byte order; rows.size() <= kRowTile. Columns past rows.size() are untouched.
template <class T>
void scatter_rows(ElementType type, std::span<const std::byte* const> rows, const Scaling& scaling, Matrix<T> x);

/// The columns of x from `first` on.
template <class T>
Matrix<T> columns_from(Matrix<T> x, std::int64_t first) {
  return {x.data + first, x.rows, x.cols - first, x.stride};
}

/// x(f, j) = scaled element f of sample ids[j], a tile of samples at a time: find(some, rows) points rows[j] at the
/// elements of sample some[j]. Columns past ids.size() are untouched.
template <class T, class Find>
void gather_rows(ElementType type, std::span<const std::int64_t> ids, const Scaling& scaling, Matrix<T> x,
                 const Find& find) {
  std::array<const std::byte*, kRowTile> rows{};
  for (std::size_t first = 0; first < ids.size(); first += rows.size()) {
    const auto some = ids.subspan(first, std::min(rows.size(), ids.size() - first));
    find(some, std::span(rows));
    scatter_rows(type, std::span(rows).first(some.size()), scaling, columns_from(x, static_cast<std::int64_t>(first)));
  }
}

/// The scaling that gives every feature of `data` mean 0 and deviation 1 (population: divided by the count).
/// Sums run in double over the samples, ascending, one chain per feature: mean first, then squared deviations.
/// A feature that never changes is only shifted to 0 and multiplied by `constant_scale`.
/// `data` must be unscaled: the result replaces its scaling.
Scaling standardising(const Dataset& data, double constant_scale);

}  // namespace lockstep
