#include "lockstep/train/state_sums.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "lockstep/core/checksum.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

template <class T>
std::uint64_t sum_of_block(const T* x, std::int64_t count) {
  return checksum(std::as_bytes(std::span(x, static_cast<std::size_t>(count))));
}

}  // namespace

template <class T>
void BlockSums<T>::note(const T* x, std::int64_t first, std::int64_t last) {
  for (std::int64_t at = first; at < last; at += kBlock)
    sums_[static_cast<std::size_t>(at / kBlock)] = sum_of_block(x + at, std::min(kBlock, last - at));
}

template <class T>
std::int64_t BlockSums<T>::find_changed(const T* x, std::int64_t first, std::int64_t last) const {
  for (std::int64_t at = first; at < last; at += kBlock)
    if (sums_[static_cast<std::size_t>(at / kBlock)] != sum_of_block(x + at, std::min(kBlock, last - at))) return at;
  return -1;
}

template <class T>
StateSums<T>::StateSums(TrainingSetup& setup, Shard<T>& shard)
    : setup_(setup),
      shard_(shard),
      weights_(setup.stage.trainable),
      statistics_(setup.stage.count - setup.stage.trainable),
      first_(shard.update().first().size()),
      second_(shard.update().second().size()),
      average_(shard.average().values().size()) {}

template <class T>
void StateSums<T>::begin(std::int64_t first, std::int64_t last) {
  own_first_ = first;
  own_last_ = last;
  note_all();
}

template <class T>
void StateSums<T>::note_all() {
  note(own_first_, own_last_);
  note_foreign(true);
  note_average();
}

template <class T>
void StateSums<T>::check_all(std::int64_t step) const {
  check(own_first_, own_last_, step);
  check_foreign(true, step);
  check_average(step);
}

template <class T>
void StateSums<T>::check(std::int64_t first, std::int64_t last, std::int64_t step) const {
  check_part(weights_, weights(), first, last, step);
  const auto check_vector = [&](const BlockSums<T>& sums, const char* what, const AlignedBuffer<T>& values) {
    if (sums.elements() > 0) check_part(sums, {what, values.data(), 0}, first, last, step);
  };
  check_vector(first_, "the optimiser's first of", shard_.update().first());
  check_vector(second_, "the optimiser's second of", shard_.update().second());
}

template <class T>
void StateSums<T>::note(std::int64_t first, std::int64_t last) {
  weights_.note(shard_.weights(), first, last);
  if (first_.elements() > 0) first_.note(shard_.update().first().data(), first, last);
  if (second_.elements() > 0) second_.note(shard_.update().second().data(), first, last);
}

template <class T>
void StateSums<T>::check_foreign(bool statistics, std::int64_t step) const {
  check_part(weights_, weights(), 0, own_first_, step);
  check_part(weights_, weights(), own_last_, weights_.elements(), step);
  if (statistics) check_statistics(step);
}

template <class T>
void StateSums<T>::note_foreign(bool statistics) {
  weights_.note(shard_.weights(), 0, own_first_);
  weights_.note(shard_.weights(), own_last_, weights_.elements());
  if (statistics) note_statistics();
}

template <class T>
void StateSums<T>::check_statistics(std::int64_t step) const {
  check_part(statistics_, statistics(), 0, statistics_.elements(), step);
}

template <class T>
void StateSums<T>::note_statistics() {
  statistics_.note(statistics().values, 0, statistics_.elements());
}

template <class T>
void StateSums<T>::check_average(std::int64_t step) const {
  check_part(average_, {"the average of", shard_.average().values().data(), 0}, 0, average_.elements(), step);
}

template <class T>
void StateSums<T>::note_average() {
  average_.note(shard_.average().values().data(), 0, average_.elements());
}

template <class T>
void StateSums<T>::check_part(const BlockSums<T>& sums, const Part& part, std::int64_t first, std::int64_t last,
                              std::int64_t step) const {
  const std::int64_t changed = sums.find_changed(part.values, first, last);
  if (changed < 0) return;
  const std::int64_t end = std::min(changed + BlockSums<T>::kBlock, last) - 1;
  throw Error(
      ErrorCode::integrity,
      fmt::format("guard: the memory of rank {} on {} has changed after step {}: {} in {} to {}; the run goes on "
                  "from its last checkpoint, on another machine if this happens again",
                  setup_.ranks.rank(), setup_.ranks.transport().host(), step, part.what,
                  element_name(setup_.stage.parameters, part.offset + changed),
                  element_name(setup_.stage.parameters, part.offset + end)));
}

template class BlockSums<float>;
template class BlockSums<double>;
template class StateSums<float>;
template class StateSums<double>;

}  // namespace lockstep
