#include "lockstep/nn/parameters.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <span>

namespace lockstep {

namespace {

/// Without a branch in the loop, so that it runs at the speed of memory.
template <class T>
bool every_finite(std::span<const T> values) {
  bool finite = true;
  for (const T value : values) finite &= std::abs(value) <= std::numeric_limits<T>::max();
  return finite;
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "the weight hash is defined over little-endian bytes");

std::string weight_hash(const ParameterValues& values) {
  return std::visit(
      [](const auto& buffer) {
        Sha256 hash;
        hash.update(std::as_bytes(buffer.span()));
        return to_hex(hash.finish());
      },
      values);
}

bool all_finite(std::span<const float> values) { return every_finite(values); }
bool all_finite(std::span<const double> values) { return every_finite(values); }
bool all_finite(const ParameterValues& values) {
  return std::visit([](const auto& buffer) { return every_finite(buffer.span()); }, values);
}

}  // namespace lockstep
