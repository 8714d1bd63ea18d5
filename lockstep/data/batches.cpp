#include "lockstep/data/batches.hpp"

#include <algorithm>

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
}

std::int64_t Batches::count() const {
  // Not (size + batch - 1) / batch: a batch size near the largest integer must not overflow.
  const auto samples = static_cast<std::int64_t>(order_.size());
  return samples / batch_ + (samples % batch_ != 0 ? 1 : 0);
}

std::span<const std::int64_t> Batches::ids(std::int64_t batch) const {
  if (batch < 0 || batch >= count()) {
    throw Error(ErrorCode::bug, fmt::format("batches: batch {} asked for, there are {}", batch, count()));
  }
  const auto first = static_cast<std::size_t>(batch * batch_);
  const auto size = std::min(static_cast<std::size_t>(batch_), order_.size() - first);
  return std::span(order_).subspan(first, size);
}

}  // namespace lockstep
