#include "lockstep/data/batches.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/random.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {

Batches::Batches(const BatchConfig& config) {
  if (config.samples < 0 || config.batch < 0) {
    throw Error(ErrorCode::bug, fmt::format("batches: {} samples in batches of {}", config.samples, config.batch));
  }
  batch_ = std::max<std::int64_t>(config.batch == 0 ? config.samples : config.batch, 1);
  order_ = config.shuffle
               ? permutation(config.seed, Purpose::shuffle, static_cast<std::uint32_t>(config.epoch), config.samples)
               : ids_from(0, config.samples);
  if (config.windows == 1) return;
  windows_ = config.windows;
  const std::vector<std::int64_t> sequences = std::exchange(order_, {});
  for (std::size_t first = 0; first < sequences.size(); first += static_cast<std::size_t>(batch_)) {
    const std::size_t last = first + std::min(static_cast<std::size_t>(batch_), sequences.size() - first);
    for (std::int64_t window = 0; window < windows_; ++window)
      for (std::size_t i = first; i < last; ++i) order_.push_back(sequences[i] * windows_ + window);
  }
}

std::int64_t Batches::count() const {
  // Not (size + batch - 1) / batch: a batch size near the largest integer must not overflow.
  const std::int64_t samples = std::ssize(order_) / windows_;
  return (samples / batch_ + (samples % batch_ != 0 ? 1 : 0)) * windows_;
}

std::span<const std::int64_t> Batches::ids(std::int64_t batch) const {
  if (batch < 0 || batch >= count()) {
    throw Error(ErrorCode::bug, fmt::format("batches: batch {} asked for, there are {}", batch, count()));
  }
  const std::int64_t group = batch / windows_ * batch_;  // the first of these sequences
  const std::int64_t size = std::min(batch_, std::ssize(order_) / windows_ - group);
  const std::int64_t first = group * windows_ + batch % windows_ * size;
  return std::span(order_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
}

}  // namespace lockstep
