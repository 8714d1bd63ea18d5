#pragma once
#include "lockstep/kernels/dropout.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
void dropout_apply(const DropoutApply<T>& a) {
  const auto threshold = static_cast<std::uint32_t>(a.p * 4294967296.0);  // p < 1
  const T scale = T(1 / (1 - a.p));
  for (std::int64_t s = 0; s < a.y.cols; ++s) {
    RandomKey key = a.key;
    key.sample = static_cast<std::uint64_t>(a.sample_ids[static_cast<std::size_t>(s)]);
    for (std::int64_t e = 0; e < a.y.rows; ++e) {
      const auto words = random_block(key, static_cast<std::uint64_t>((a.first_row + e) / kDropoutRows));
      a.y(e, s) = words[static_cast<std::size_t>(e % kDropoutRows)] >= threshold ? a.x(e, s) * scale : T(0);
    }
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
