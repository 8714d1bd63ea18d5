#include "lockstep/tensor/shape.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

std::string to_string(Precision precision) { return precision == Precision::float32 ? "float32" : "float64"; }

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) {
  if (extents.size() > kMaxRank)
    throw Error(ErrorCode::usage, fmt::format("shape [{}] has {} extents; at most {} are supported",
                                              fmt::join(extents, ","), extents.size(), kMaxRank));
  if (!checked_product_of(extents))
    throw Error(ErrorCode::usage, fmt::format("shape [{}] is negative or too large", fmt::join(extents, ",")));
  rank_ = static_cast<int>(extents.size());
  std::copy(extents.begin(), extents.end(), extents_.begin());
}

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents()) product *= extent;
  return product;
}

std::string Shape::str() const { return fmt::format("[{}]", fmt::join(extents(), ",")); }

}  // namespace lockstep
