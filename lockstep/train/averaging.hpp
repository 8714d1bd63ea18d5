#pragma once
// Averages of the weights: what a training validates, and what its model holds. Training itself goes on with the
// weights of its last step.

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "lockstep/core/fields.hpp"
#include "lockstep/core/names.hpp"

namespace lockstep {

enum class AverageKind { none, ema, swa };

constexpr Described describe(AverageKind kind) {
  switch (kind) {
    case AverageKind::none:
      return {"none", "the weights of the last step"};
    case AverageKind::ema:
      return {"ema", "after every step: average += max(1 - decay, 1 / n) * (weight - average), n = 1, 2, ..."};
    case AverageKind::swa:
      return {"swa", "the mean of the weights at the ends of the epochs from `from` on"};
  }
  return {};
}

/// Running statistics of batch normalisation are averaged as the weights are.
struct Averaging {
  AverageKind kind = AverageKind::none;
  double decay = 0.999;
  std::int64_t from = 1;  // epoch, from 1

  static constexpr auto fields() {
    constexpr auto is_ema = [](const Averaging& a) { return a.kind == AverageKind::ema; };
    constexpr auto is_any = [](const Averaging& a) { return a.kind != AverageKind::none; };
    return std::tuple{
        field("decay", &Averaging::decay, kProperFraction,
              "share of the average that a step keeps; 0.999 looks back about 1000 steps")
            .when(is_ema),
        field("from", &Averaging::from, IntRange{1, 1'000'000'000}, "the first epoch that counts").when(is_any)};
  }

  bool any() const { return kind != AverageKind::none; }
  /// Whether the weights after a step of this epoch (from 0) count; `last`: it is the epoch's last step.
  bool takes(std::int64_t epoch, bool last) const {
    return any() && epoch + 1 >= from && (kind == AverageKind::ema || last);
  }
  /// The share of the next weights in the average, where `taken` have been taken before.
  double share(std::int64_t taken) const {
    const double mean = 1 / static_cast<double>(taken + 1);
    return kind == AverageKind::ema ? std::max(1 - decay, mean) : mean;
  }
  friend bool operator==(const Averaging&, const Averaging&) = default;
};

}  // namespace lockstep
