#include "lockstep/data/step_windows.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kWindowGroup = 64;  // samples read at once

}  // namespace

StepWindows::StepWindows(const Dataset& base, std::int64_t steps, const std::string& key) : base_(base), steps_(steps) {
  const auto require = [&](bool condition, const std::string& why) {
    if (!condition) throw Error(ErrorCode::usage, fmt::format("{}: {}", key, why));
  };
  require(base.step_classes() > 0, "needs data with a class for every step, such as text");
  require(!base.has_lengths(), "needs sequences that all have the same number of steps");
  require(!base.has_weights(), "samples with weights cannot be cut into windows");
  require(base.for_epoch(0) == nullptr, "samples that change from epoch to epoch cannot be cut into windows");
  const std::int64_t whole = base.target_size();
  require(whole % steps == 0,
          fmt::format("{} are not whole windows of {}; choose a divisor", count_of(whole, "step"), steps));
  windows_ = whole / steps;
}

Shape StepWindows::sample_shape() const {
  const Shape whole = base_.sample_shape();
  std::vector<std::int64_t> extents(whole.extents().begin(), whole.extents().end());
  extents.back() = steps_;
  return Shape(extents);
}

/// read(ids, matrix) fills in whole sequences; the rows of a window are consecutive steps of each feature.
template <class T, class Read>
void StepWindows::cut(std::span<const std::int64_t> ids, Matrix<T> to, const Read& read) const {
  check_ids(ids, size());
  const std::int64_t rows = to.rows * windows_;
  AlignedBuffer<T> space(rows * static_cast<std::int64_t>(std::min(kWindowGroup, ids.size())));
  std::vector<std::int64_t> sequences;
  for (std::size_t first = 0; first < ids.size(); first += kWindowGroup) {
    const auto group = ids.subspan(first, std::min(kWindowGroup, ids.size() - first));
    sequences.clear();
    for (const std::int64_t id : group) sequences.push_back(id / windows_);
    const Matrix<T> whole = dense_matrix(space.data(), rows, std::ssize(group));
    read(sequences, whole);
    for (std::int64_t row = 0; row < to.rows; ++row)
      for (std::size_t j = 0; j < group.size(); ++j) {
        const std::int64_t from = (row / steps_ * windows_ + group[j] % windows_) * steps_ + row % steps_;
        to(row, static_cast<std::int64_t>(first + j)) = whole(from, static_cast<std::int64_t>(j));
      }
  }
}

void StepWindows::gather(std::span<const std::int64_t> ids, Matrix<float> x) const {
  cut(ids, x, [&](const auto& sequences, Matrix<float> whole) { base_.gather(sequences, whole); });
}
void StepWindows::gather(std::span<const std::int64_t> ids, Matrix<double> x) const {
  cut(ids, x, [&](const auto& sequences, Matrix<double> whole) { base_.gather(sequences, whole); });
}
void StepWindows::targets(std::span<const std::int64_t> ids, Matrix<float> t) const {
  cut(ids, t, [&](const auto& sequences, Matrix<float> whole) { base_.targets(sequences, whole); });
}
void StepWindows::targets(std::span<const std::int64_t> ids, Matrix<double> t) const {
  cut(ids, t, [&](const auto& sequences, Matrix<double> whole) { base_.targets(sequences, whole); });
}

void StepWindows::prefetch(std::span<const std::int64_t> ids) const {
  std::vector<std::int64_t> sequences;
  for (const std::int64_t id : ids) sequences.push_back(id / windows_);
  base_.prefetch(sequences);
}

std::string StepWindows::describe() const {
  return fmt::format("{} in {} windows of {} steps", base_.describe(), windows_, steps_);
}

}  // namespace lockstep
