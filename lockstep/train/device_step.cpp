// A step on the device, from top to bottom. The host launches and does not wait, but for the scores: it gathers the
// next batch meanwhile.

#include "lockstep/train/device_step.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

#include "lockstep/lab/lap.hpp"
#include "lockstep/train/scores.hpp"

namespace lockstep {

namespace {

const SlotChunk* first_with_samples(std::span<const SlotChunk> chunks) {
  const auto found = std::ranges::find_if(chunks, [](const SlotChunk& chunk) { return !chunk.ids.empty(); });
  return found == chunks.end() ? nullptr : &*found;
}

}  // namespace

template <class T>
DeviceStep<T>::DeviceStep(DeviceModel<T>& model)
    : model_(model),
      worker_(model, DeviceWorker<T>::Mode::training),
      sums_(model.setup.stage.count, model.device),
      reduction_(model) {}

template <class T>
void DeviceStep<T>::prepare(const Dataset& data) {
  const Stage& stage = model_.setup.stage;
  worker_.feed().clear();
  loaded_ = repeats_ = false;
  last_.reset();
  slots_ = model_.setup.slots_for(data);
  chunk_size_ = choose_chunk(model_, data, slots_);
  model_.carried.prepare(model_.setup.state_rows, model_.setup.batch_for(data));
  scores_.loss.assign(static_cast<std::size_t>(slots_), 0);
  scores_.correct.assign(static_cast<std::size_t>(slots_), 0);
  tree_.emplace(model_.setup.grid.replicas(), slots_, StretchLayout{stage.count, stage.trainable, kSquareBlock},
                model_.setup.options.parallel.reduce);
  tree_bytes_ = 0;
  batch_sums_.reset();
  if (!model_.setup.needs_whole_batch()) return;
  batch_sums_.emplace(model_.setup.grid.replicas(), slots_, 1);
  if (chunk_size_.slots < tree_->last_slot() - tree_->first_slot())
    throw Error(
        ErrorCode::resources,
        fmt::format("batch_norm: over = \"batch\" needs the whole batch on {} at once, which has not the memory for "
                    "it: lower train.batch, or set over = \"slot\"",
                    model_.device.info().name));
}

template <class T>
StepResult DeviceStep<T>::train_batch(const Batch& batch) {
  StepResult result;
  run_slots(batch);
  const bool waits = !model_.is_alone() || model_.setup.options.clip_norm > 0;  // before the update is launched
  if (waits) begin_next(batch);
  T* const gradient = reduce(batch, result.requests);
  update(batch, gradient);
  if (!waits) begin_next(batch);
  fetch_last(batch);
  result.scores = sum_of(scores_);
  model_.carried.finish(batch);
  if (!model_.is_alone()) model_.setup.ranks.note_step(batch.step + 1);
  return result;
}

// The gradients of this rank's slots, chunk by chunk.

template <class T>
void DeviceStep<T>::run_slots(const Batch& batch) {
  cut_into_chunks(batch.ids, slots_, tree_->first_slot(), tree_->last_slot(), chunk_size_.slots, chunks_);
  worker_.reserve(chunk_size_.samples, chunk_size_.slots);
  sums_.clear();
  if (batch_sums_) batch_sum_.begin(*batch_sums_, alone_, batch.size());
  for (std::size_t i = 0; i < chunks_.size(); ++i) {
    const SlotChunk& chunk = chunks_[i];
    if (chunk.ids.empty()) {
      model_.device.zero(sums_.next(), model_.setup.stage.count * static_cast<std::int64_t>(sizeof(T)));
      clear_scores(chunk, scores_);
      push(batch, chunk);
      continue;
    }
    if (!worker_.feed().waiting()) {
      fetch_last(batch);  // the block of samples is free again when it has been computed
      load(batch, chunk);
    }
    const DeviceSamples<T> samples = worker_.feed().take();
    loaded_ = repeats_ && chunks_.size() == 1;
    fetch_last(batch);
    worker_.launch(samples, {chunk.bounds}, &batch, sums_.next(), times_, batch_sums_ ? &batch_sum_ : nullptr,
                   chunk.ids.data() - batch.ids.data());
    last_ = i;
    push(batch, chunk);
    if (const SlotChunk* next = first_with_samples(std::span(chunks_).subspan(i + 1))) load(batch, *next);
  }
}

/// Begins to copy a chunk to the device, unless it is there from the step before.
template <class T>
void DeviceStep<T>::load(const Batch& batch, const SlotChunk& chunk) {
  Lap lap;
  if (loaded_)
    worker_.feed().repeat();
  else
    worker_.feed().begin(batch.data, chunk.ids, batch.weights);
  lap(times_.load);
  batch.close(0, kLoadSection, {0, double(sizeof(T)) * double(model_.setup.stage.inputs) * double(chunk.ids.size())});
}

/// Gathers the first samples of the next batch and begins to copy them, while the device computes this one.
template <class T>
void DeviceStep<T>::begin_next(const Batch& batch) {
  if (batch.next.empty()) return;
  cut_into_chunks(batch.next, slots_, tree_->first_slot(), tree_->last_slot(), chunk_size_.slots, next_chunks_);
  if (const SlotChunk* first = first_with_samples(next_chunks_)) load(batch, *first);
}

template <class T>
void DeviceStep<T>::push(const Batch& batch, const SlotChunk& chunk) {
  Lap lap;
  const auto additions = double(sums_.push(chunk.node(), model_.kernels, model_.context));
  lap(times_.reduce);
  batch.close(0, kReduceSection, additions * add_cost(model_.setup.stage.count, 1, sizeof(T)));
}

/// The scores of the chunk that was launched last stay on the device until somebody has to wait anyway.
template <class T>
void DeviceStep<T>::fetch_last(const Batch& batch) {
  if (!last_) return;
  const SlotChunk& chunk = chunks_[*last_];
  worker_.fetch_scores(chunk.count(), chunk.first, scores_, times_);
  batch.close(0, kWaitSection);
  last_.reset();
}

// The sum over ranks, and the update.

/// The gradient summed over all slots.
template <class T>
T* DeviceStep<T>::reduce(const Batch& batch, StepRequests& requests) {
  requests = batch.requests();
  if (model_.is_alone()) return sums_.nodes().front().sum.data();
  fetch_last(batch);
  Lap lap;
  T* const sum = reduction_.sum(sums_, *tree_, scores_, requests);
  lap(times_.exchange);
  batch.close(0, kExchangeSection);
  return sum;
}

template <class T>
T* DeviceReduction<T>::sum(SlotSums<T>& sums, RankTree<T>& tree, SlotScores& scores, StepRequests& requests) {
  const bool direct = model_.moves_device_memory();
  const std::vector<Subtree<T>> local = local_subtrees(sums);
  model_.setup.grid.send_scores(scores, requests);
  T* const sum =
      direct ? tree.reduce(local, model_.kernels, model_.context) : tree.reduce(local, host_kernels_, host_context_);
  tree.gather(sum);
  requests = model_.setup.grid.receive_scores(scores);
  if (direct) return sum;
  const std::int64_t count = model_.setup.stage.count;
  if (total_.size() == 0) total_ = slot_vector<T>(count, model_.device);
  model_.device.to_device(total_.data(), sum, count * static_cast<std::int64_t>(sizeof(T)));
  return total_.data();
}

/// This rank's sums where the tree adds: on the device, or downloaded.
template <class T>
std::vector<Subtree<T>> DeviceReduction<T>::local_subtrees(SlotSums<T>& sums) {
  SlotSums<T>* const all[] = {&sums};
  std::vector<Subtree<T>> local = subtrees_of<T>(all);
  if (model_.moves_device_memory()) return local;
  const std::int64_t count = model_.setup.stage.count;
  for (std::size_t i = 0; i < local.size(); ++i) {
    if (staged_.size() == i) staged_.push_back(slot_vector<T>(count, model_.device.staging()));
    model_.device.to_host(staged_[i].data(), local[i].sum, count * static_cast<std::int64_t>(sizeof(T)));
    local[i].sum = staged_[i].data();
  }
  return local;
}

template <class T>
void DeviceStep<T>::update(const Batch& batch, T* gradient) {
  Lap lap;
  const TrainOptions& options = model_.setup.options;
  const std::int64_t trainable = model_.setup.stage.trainable;
  T* const weights = model_.weights.data();
  model_.body.update_statistics(model_.kernels, model_.context, weights, gradient, batch.size());
  model_.update.clear_frozen(gradient, 0, trainable, model_.context);
  model_.update.add_l2(options.l2, weights, gradient, 0, trainable, model_.kernels, model_.context);
  if (options.clip_norm > 0) {  // the host decides, so the sums of blocks are downloaded
    const double norm = std::sqrt(model_.square_sum(gradient, trainable, model_.kernels, model_.context));
    clip_gradient(norm, options.clip_norm, gradient, trainable, model_.kernels, model_.context);
  }
  model_.update.step(batch.rate, batch.step, weights, gradient, 0, trainable, model_.kernels, model_.context);
  lap(times_.update);
  batch.close(0, kUpdateSection, optimizer_cost(trainable, state_vectors(options.optimizer), sizeof(T)));
}

template <class T>
T* DeviceStep<T>::gradient(const Batch& batch) {
  run_slots(batch);
  StepRequests none;
  T* const gradient = reduce(batch, none);
  fetch_last(batch);
  model_.update.add_l2(model_.setup.options.l2, model_.weights.data(), gradient, 0, model_.setup.stage.trainable,
                       model_.kernels, model_.context);
  return gradient;
}

template <class T>
PhaseTimes DeviceStep<T>::take_times() {
  PhaseTimes times = std::exchange(times_, {});
  times.sent_bytes += double(tree_->bytes_sent() - std::exchange(tree_bytes_, tree_->bytes_sent()));
  return times;
}

template class DeviceReduction<float>;
template class DeviceReduction<double>;
template class DeviceStep<float>;
template class DeviceStep<double>;

}  // namespace lockstep
