// One batch on the device: its chunks forward and back, the sum over slots and ranks, the optimiser's step.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "lockstep/train/device_engine.hpp"
#include "lockstep/train/lap.hpp"

namespace lockstep {

/// This rank's slots of a batch, in chunks.
template <class T>
void DeviceEngine<T>::cut(std::span<const std::int64_t> ids, std::vector<Chunk>& chunks) const {
  const std::vector<std::int64_t> bounds = cut_into_slots(static_cast<std::int64_t>(ids.size()), slots_);
  std::size_t count = 0;
  for (std::int64_t slot = tree_->first_slot(), run = 0; slot < tree_->last_slot(); slot += run) {
    run = aligned_run(slot, tree_->last_slot(), slots_per_chunk_);
    if (chunks.size() == count) chunks.emplace_back();
    Chunk& chunk = chunks[count++];
    const auto begin = bounds.begin() + slot;
    chunk.first = slot;
    chunk.columns.assign(begin, begin + run + 1);
    for (std::int64_t& column : chunk.columns) column -= *begin;
    chunk.ids = ids.subspan(static_cast<std::size_t>(*begin), static_cast<std::size_t>(chunk.columns.back()));
  }
  chunks.resize(count);
}

/// Forward, loss, scores and (where wanted) backward: launched, not awaited.
template <class T>
void DeviceEngine<T>::launch(const DeviceSamples<T>& samples, Slots slots, Flight& flight, T* gradients) {
  const std::int64_t count = samples.x.cols, classes_at = slots.count();
  const Pass<T> pass{.kernels = kernels_,
                     .context = context_,
                     .parameters = weights_.data(),
                     .gradients = gradients,
                     .training = gradients != nullptr,
                     .slots = slots,
                     .sample_ids = samples.ids,
                     .seed = options_.seed,
                     .epoch = static_cast<std::uint32_t>(progress_.epoch),
                     .recorder = profile_ == nullptr ? nullptr : &profile_->recorder(0)};
  Lap lap;
  const ConstMatrix<T> y = body_.forward(pass, samples.x, flight.memory);
  lap(times_.forward);
  Matrix<T> dy;
  if (gradients != nullptr) dy = {flight.gradient.data(), stage_.outputs, count, padded(count)};
  kernels_.loss_gradient({.kind = options_.loss,
                          .scale = loss_scale_,
                          .z = y,
                          .targets = samples.targets,
                          .loss = flight.losses.data(),
                          .dz = dy},
                         context_);
  auto* const sums = reinterpret_cast<double*>(flight.scores.data());
  kernels_.score_slots({.kind = options_.loss,
                        .z = y,
                        .labels = samples.targets.labels,
                        .loss = flight.losses.data(),
                        .slots = slots,
                        .sum = sums,
                        .correct = reinterpret_cast<std::int64_t*>(sums + classes_at)},
                       context_);
  lap(times_.loss);
  if (gradients == nullptr) return;
  close(kLossSection, loss_cost(stage_.outputs, count, sizeof(T)));
  body_.backward(pass, samples.x, flight.memory, dy, {});
  lap(times_.backward);
}

/// Waits for the device, and takes the scores of a chunk.
template <class T>
void DeviceEngine<T>::fetch_scores(Flight& flight, std::int64_t slots, SlotScores& scores, std::int64_t first) {
  Lap lap;
  const auto part = static_cast<std::size_t>(slots) * 8;
  host_scores_.resize(std::max(host_scores_.size(), 2 * part));
  device_.to_host(host_scores_.data(), flight.scores.data(), static_cast<std::int64_t>(2 * part));
  std::memcpy(scores.loss.data() + first, host_scores_.data(), part);
  std::memcpy(scores.correct.data() + first, host_scores_.data() + part, part);
  lap(times_.wait);
  close(kWaitSection);
}

/// Those of the batch's last chunk, which were left on the device so that nobody has to wait.
template <class T>
void DeviceEngine<T>::fetch_last() {
  if (!last_) return;
  const Chunk& chunk = chunks_[*last_];
  fetch_scores(training_, chunk.slots(), scores_, chunk.first);
  last_.reset();
}

template <class T>
void DeviceEngine<T>::push(const Chunk& chunk) {
  Lap lap;
  const std::int64_t run = chunk.slots(), before = sums_.node_count();
  sums_.push(std::countr_zero(static_cast<std::uint64_t>(run)), chunk.first / run, kernels_, context_);
  lap(times_.reduce);
  close(kReduceSection, double(before + 1 - sums_.node_count()) * add_cost(stage_.count, 1, sizeof(T)));
}

template <class T>
const typename DeviceEngine<T>::Chunk* DeviceEngine<T>::first_with_samples(std::span<const Chunk> chunks) {
  const auto some = std::find_if(chunks.begin(), chunks.end(), [](const Chunk& chunk) { return !chunk.ids.empty(); });
  return some == chunks.end() ? nullptr : &*some;
}

/// Begins to bring a chunk to the device, unless it is there from the step before.
template <class T>
void DeviceEngine<T>::load(const Dataset& data, const Chunk& chunk) {
  Lap lap;
  if (kept_)
    feed_.repeat();
  else
    feed_.begin(data, chunk.ids);
  lap(times_.load);
  close(kLoadSection, {0, double(sizeof(T)) * double(stage_.inputs) * double(chunk.ids.size())});
}

/// Gathers the first samples of the next batch, and begins to copy them: for the time that the device needs for this.
template <class T>
void DeviceEngine<T>::begin_next(const Batch& batch) {
  if (batch.next.empty()) return;
  cut(batch.next, next_chunks_);
  if (const Chunk* first = first_with_samples(next_chunks_)) load(batch.data, *first);
}

/// The gradients of this rank's slots, chunk by chunk; the sum over them where there is one rank.
template <class T>
T* DeviceEngine<T>::run_slots(const Batch& batch) {
  loss_scale_ = options_.reduction == Reduction::mean ? T(1) / T(batch.ids.size()) : T(1);
  cut(batch.ids, chunks_);
  reserve(training_, chunk_samples_, slots_per_chunk_, Mode::training);
  sums_.clear();
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    if (chunk.ids.empty()) {  // slots without samples
      device_.zero(sums_.next(), stage_.count * static_cast<std::int64_t>(sizeof(T)));
      std::fill_n(scores_.loss.begin() + chunk.first, chunk.slots(), 0.0);
      std::fill_n(scores_.correct.begin() + chunk.first, chunk.slots(), 0);
      push(chunk);
      continue;
    }
    if (!feed_.waiting()) {
      if (last_) fetch_last();  // its block is free again when it has been computed
      load(batch.data, chunk);
    }
    const DeviceSamples<T> samples = feed_.take();
    kept_ = one_batch_ && chunks_.size() == 1;
    if (last_) fetch_last();
    launch(samples, {chunk.columns}, training_, sums_.next());
    last_ = i;
    push(chunk);
    if (const Chunk* next = first_with_samples(std::span(chunks_).subspan(i + 1))) load(batch.data, *next);
  }
  return alone() ? sums_.nodes().front().sum.data() : nullptr;
}

/// The sums of this rank's slots where the tree over ranks adds: on the device, or brought up to the host.
template <class T>
std::vector<Subtree<T>> DeviceEngine<T>::own_subtrees() {
  std::vector<Subtree<T>> local;
  for (SlotNode<T>& node : sums_.nodes()) {
    T* sum = node.sum.data();
    if (!direct()) {
      if (staged_.size() == local.size()) staged_.push_back(slot_vector<T>(stage_.count));
      sum = staged_[local.size()].data();
      device_.to_host(sum, node.sum.data(), stage_.count * static_cast<std::int64_t>(sizeof(T)));
    }
    local.push_back({sum, node.level, node.index});
  }
  return local;
}

/// The gradient summed over the slots of all ranks, and everybody's scores and requests.
template <class T>
T* DeviceEngine<T>::sum_over_ranks(const Batch& batch) {
  fetch_last();
  Lap lap;
  const std::vector<Subtree<T>> local = own_subtrees();
  grid_.send_scores(scores_, own_requests(batch.step + 1));
  T* sum = direct() ? tree_->reduce(local, kernels_, context_) : tree_->reduce(local, host_kernels_, host_context_);
  tree_->gather(sum);
  requests_ = grid_.receive_scores(scores_);
  if (!direct()) {
    if (total_.size() == 0) total_ = AlignedBuffer<T>(std::max<std::int64_t>(stage_.count, 1), device_);
    device_.to_device(total_.data(), sum, stage_.count * static_cast<std::int64_t>(sizeof(T)));
    sum = total_.data();
  }
  lap(times_.exchange);
  close(kExchangeSection);
  return sum;
}

template <class T>
StepRequests DeviceEngine<T>::own_requests(std::int64_t steps) const {
  return fit_ != nullptr && fit_->requests ? fit_->requests(steps) : StepRequests{};
}

/// The sums of squares come up, one number per kSquareBlock parameters, because the host decides.
template <class T>
void DeviceEngine<T>::clip(T* gradient) {
  const double norm = std::sqrt(square_sum(gradient, stage_.trainable));
  if (norm > options_.clip_norm)
    kernels_.scale_gradient({.count = stage_.trainable, .factor = T(options_.clip_norm / norm), .g = gradient},
                            context_);
}

template <class T>
double DeviceEngine<T>::square_sum(const T* x, std::int64_t count) {
  const std::int64_t blocks = (count + kSquareBlock - 1) / kSquareBlock;
  if (squares_.size() < blocks) squares_ = AlignedBuffer<double>(blocks, device_);
  host_squares_.resize(static_cast<std::size_t>(blocks));
  if (blocks == 0) return 0;
  kernels_.square_sums({.count = count, .x = x, .partial = squares_.data()}, context_);
  device_.to_host(host_squares_.data(), squares_.data(), blocks * 8);
  return block_tree(host_squares_);
}

template <class T>
void DeviceEngine<T>::update(const Batch& batch, T* gradient) {
  Lap lap;
  T* const parameters = weights_.data();
  body_.update_statistics(kernels_, context_, parameters, gradient, static_cast<std::int64_t>(batch.ids.size()));
  update_.add_l2(options_.l2, parameters, gradient, 0, stage_.trainable, kernels_, context_);
  if (options_.clip_norm > 0) clip(gradient);
  update_.step(batch.rate, batch.step, parameters, gradient, 0, stage_.trainable, kernels_, context_);
  lap(times_.update);
  close(kUpdateSection, optimizer_cost(stage_.trainable, state_vectors(options_.optimizer), sizeof(T)));
}

template <class T>
void DeviceEngine<T>::train_batch(const Batch& batch) {
  T* gradient = run_slots(batch);
  const bool waits = !alone() || options_.clip_norm > 0;  // before the step is launched
  if (waits) begin_next(batch);
  if (alone())
    requests_ = own_requests(batch.step + 1);
  else
    gradient = sum_over_ranks(batch);
  update(batch, gradient);
  if (!waits) begin_next(batch);
  fetch_last();
  batch_scores_ = {block_tree(scores_.loss), 0};
  for (const std::int64_t correct : scores_.correct) batch_scores_.correct += correct;
  if (!alone()) ranks_.note_step(batch.step + 1);
}

template void DeviceEngine<float>::train_batch(const Batch&);
template void DeviceEngine<double>::train_batch(const Batch&);
template void DeviceEngine<float>::fetch_last();
template void DeviceEngine<double>::fetch_last();
template float* DeviceEngine<float>::run_slots(const Batch&);
template double* DeviceEngine<double>::run_slots(const Batch&);
template std::vector<Subtree<float>> DeviceEngine<float>::own_subtrees();
template std::vector<Subtree<double>> DeviceEngine<double>::own_subtrees();
template float* DeviceEngine<float>::sum_over_ranks(const Batch&);
template double* DeviceEngine<double>::sum_over_ranks(const Batch&);
template void DeviceEngine<float>::launch(const DeviceSamples<float>&, Slots, Flight&, float*);
template void DeviceEngine<double>::launch(const DeviceSamples<double>&, Slots, Flight&, double*);
template void DeviceEngine<float>::fetch_scores(Flight&, std::int64_t, SlotScores&, std::int64_t);
template void DeviceEngine<double>::fetch_scores(Flight&, std::int64_t, SlotScores&, std::int64_t);
template double DeviceEngine<float>::square_sum(const float*, std::int64_t);
template double DeviceEngine<double>::square_sum(const double*, std::int64_t);

}  // namespace lockstep
