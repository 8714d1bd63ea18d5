#pragma once
// Sizes that come from a file are hostile until multiplied here: every product is checked for overflow.

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace lockstep {

/// The product of non-negative factors times `unit`, or nothing if one is negative or the product exceeds int64. A
/// factor of 0 does not excuse the others: their product must fit too, so what is multiplied later in another order,
/// or without the 0, cannot overflow.
template <class Range>
std::optional<std::int64_t> checked_product_of(const Range& factors, std::int64_t unit = 1) {
  std::int64_t product = unit;
  bool empty = false;
  for (const std::int64_t factor : factors) {
    if (factor == 0) {
      empty = true;
    } else if (factor < 0 || __builtin_mul_overflow(product, factor, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

inline std::optional<std::int64_t> checked_product(std::initializer_list<std::int64_t> factors) {
  return checked_product_of(factors);
}

}  // namespace lockstep
