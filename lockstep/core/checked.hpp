#pragma once
// Sizes that come from a file are hostile until multiplied here: every product is checked for overflow.

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace lockstep {

/// The product of non-negative factors, or nothing if one is negative or the product exceeds int64.
inline std::optional<std::int64_t> checked_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (factor < 0 || __builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

template <class Range>
std::optional<std::int64_t> checked_product_of(const Range& factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    const auto next = checked_product({product, factor});
    if (!next) return std::nullopt;
    product = *next;
  }
  return product;
}

}  // namespace lockstep
