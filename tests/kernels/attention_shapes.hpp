#pragma once
// Shapes on which the kernels of attention are tried.

#include <vector>

#include "lockstep/kernels/attention.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {

/// visit(shape, lengths): heads wider and narrower than a block, with and without lengths.
template <class Visit>
void for_attentions(std::int64_t samples, const Visit& visit) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t s = 0; s < samples; ++s) lengths.push_back(1 + s % 11);
  for (const bool causal : {false, true})
    for (const std::int64_t head : {3, 17})
      for (const bool ends : {false, true})
        visit(AttentionShape{.heads = 2, .head = head, .steps = 11, .causal = causal}, ends ? lengths.data() : nullptr);
}

/// Room for p. What a query does not see stays 0, so that all of it can be compared.
template <class T>
TestMatrix<T> no_pairs(const AttentionShape& shape, std::int64_t heads, std::int64_t samples) {
  TestMatrix<T> pairs(heads * shape.steps * shape.steps, samples);
  for (std::int64_t r = 0; r < pairs.rows(); ++r)
    for (std::int64_t s = 0; s < samples; ++s) pairs(r, s) = T(0);
  return pairs;
}

}  // namespace lockstep::test
