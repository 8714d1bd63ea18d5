// Scores over a data set on the device; where training stands, out of the device and back to it.

#include <algorithm>
#include <numeric>
#include <utility>

#include "lockstep/train/device_engine.hpp"

namespace lockstep {

namespace {

/// Blocks of an evaluation that go through the network together, where they fit: fewer launches. Any number gives the
/// same bits.
constexpr std::int64_t kMostBlocks = 4;

}  // namespace

template <class T>
std::int64_t DeviceEngine<T>::blocks_together(const Dataset& data) const {
  std::int64_t blocks = inference_.slots > 0 ? inference_.slots : kMostBlocks;
  while (blocks > 1 && inference_.slots == 0 && !fits(data, blocks * kScoreBlock, 0)) blocks /= 2;
  return blocks;
}

/// The scores of the device's weights.
template <class T>
Scores DeviceEngine<T>::score(const Dataset& data) {
  if (data.size() > 0) ranks_.note_phase("evaluation");
  const std::int64_t count = (data.size() + kScoreBlock - 1) / kScoreBlock;
  blocks_.loss.assign(static_cast<std::size_t>(count), 0);
  blocks_.correct.assign(static_cast<std::size_t>(count), 0);
  const std::int64_t first = grid_.replicas().share(count, grid_.replicas().rank());
  const std::int64_t last = grid_.replicas().share(count, grid_.replicas().rank() + 1);
  const PhaseTimes times = times_;
  const std::int64_t together = blocks_together(data);
  if (first < last) reserve(inference_, together * kScoreBlock, together, Mode::inference);
  std::vector<std::int64_t> ids, bounds;
  const auto begin = [&](std::int64_t block) {
    const std::int64_t end = std::min(std::min(last, block + together) * kScoreBlock, data.size());
    ids.resize(static_cast<std::size_t>(end - block * kScoreBlock));
    std::iota(ids.begin(), ids.end(), block * kScoreBlock);
    score_feed_.begin(data, ids);
  };
  if (first < last) begin(first);
  for (std::int64_t block = first; block < last; block += together) {
    const DeviceSamples<T> samples = score_feed_.take();
    const std::int64_t run = std::min(together, last - block);
    bounds.resize(static_cast<std::size_t>(run + 1));
    for (std::int64_t k = 0; k <= run; ++k)
      bounds[static_cast<std::size_t>(k)] = std::min(k * kScoreBlock, samples.x.cols);
    launch(samples, {bounds}, inference_, nullptr);
    if (block + together < last) begin(block + together);
    fetch_scores(inference_, run, blocks_, block);
  }
  times_ = times;
  return total_scores(grid_, blocks_, data);
}

template <class T>
Scores DeviceEngine<T>::evaluate(const Dataset& data) {
  check_data(network_, options_.loss, data);
  if (fit_ == nullptr) upload_weights();
  return score(data);
}

template <class T>
double DeviceEngine<T>::penalty_of_device() {
  if (options_.l2 == 0) return 0;
  double sum = 0;
  for (const ParameterInfo& info : network_.parameters())
    if (info.role == Role::weight) sum += square_sum(weights_.data() + info.offset, info.elements());
  return options_.l2 / 2 * sum;
}

template <class T>
double DeviceEngine<T>::penalty() {
  if (options_.l2 == 0) return 0;
  if (fit_ == nullptr) upload_weights();
  return penalty_of_device();
}

// During a fit the device has the newest weights; outside of one the network has them, and its user may change them.
template <class T>
TrainingState DeviceEngine<T>::state() const {
  const auto fetch = [&](const AlignedBuffer<T>& vector, std::int64_t count) {
    AlignedBuffer<T> copy(count);
    if (count > 0) device_.to_host(copy.data(), vector.data(), count * static_cast<std::int64_t>(sizeof(T)));
    return copy;
  };
  TrainingState state = progress_.counts();
  if (fit_ != nullptr)
    state.parameters = fetch(weights_, stage_.count);
  else
    state.parameters = network_.values();
  state.first = fetch(update_.first(), update_.first().size());
  state.second = fetch(update_.second(), update_.second().size());
  return state;
}

template <class T>
void DeviceEngine<T>::restore(const TrainingState& state) {
  auto [parameters, first, second] = vectors_of<T>(state, network_, options_.optimizer);
  const auto bring = [&](T* to, const AlignedBuffer<T>& vector) {
    if (vector.size() > 0) device_.to_device(to, vector.data(), vector.size() * static_cast<std::int64_t>(sizeof(T)));
  };
  bring(update_.first_data(), first);
  bring(update_.second_data(), second);
  network_.values() = std::move(parameters);
  progress_.restore(state);
}

template Scores DeviceEngine<float>::score(const Dataset&);
template Scores DeviceEngine<double>::score(const Dataset&);
template Scores DeviceEngine<float>::evaluate(const Dataset&);
template Scores DeviceEngine<double>::evaluate(const Dataset&);
template double DeviceEngine<float>::penalty_of_device();
template double DeviceEngine<double>::penalty_of_device();
template double DeviceEngine<float>::penalty();
template double DeviceEngine<double>::penalty();
template TrainingState DeviceEngine<float>::state() const;
template TrainingState DeviceEngine<double>::state() const;
template void DeviceEngine<float>::restore(const TrainingState&);
template void DeviceEngine<double>::restore(const TrainingState&);

}  // namespace lockstep
