#pragma once
// Two states of a training, compared bit by bit.

#include <bit>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// Of two that are empty, the type does not count.
inline bool same(const ParameterValues& a, const ParameterValues& b) {
  return std::visit(
      [&](const auto& x) {
        const auto* y = std::get_if<std::decay_t<decltype(x)>>(&b);
        if (y == nullptr) return x.size() == 0 && std::visit([](const auto& other) { return other.size() == 0; }, b);
        return x.size() == y->size() && (x.size() == 0 || std::memcmp(x.data(), y->data(), x.span().size_bytes()) == 0);
      },
      a);
}

inline void expect_same(const TrainingState& a, const TrainingState& b) {
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.batch, b.batch);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.loss_sum), std::bit_cast<std::uint64_t>(b.loss_sum));
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.correct, b.correct);
  EXPECT_EQ(std::bit_cast<std::uint64_t>(a.rate), std::bit_cast<std::uint64_t>(b.rate));
  EXPECT_EQ(a.first_loss, b.first_loss);
  EXPECT_TRUE(same(a.parameters, b.parameters));
  EXPECT_TRUE(same(a.first, b.first));
  EXPECT_TRUE(same(a.second, b.second));
  EXPECT_TRUE(same(a.carried, b.carried));
}

}  // namespace lockstep
