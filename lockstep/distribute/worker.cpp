#include "lockstep/distribute/worker.hpp"

#include <algorithm>

#include "lockstep/lab/lap.hpp"

namespace lockstep {

template <class T>
Worker<T>::Worker(const Sequence<T>& body, const Stage& stage, const LossOptions& loss, const KernelTable<T>& kernels,
                  TensorGroup* group)
    : body_(body), stage_(stage), loss_(loss), kernels_(kernels), group_(group) {}

template <class T>
void Worker<T>::reserve(const Chunk& chunk, ChunkBuffers<T>& buffers) const {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  const std::int64_t slots = chunk.gradients != nullptr ? chunk.slots.count() : 0;
  if (samples <= buffers.samples && slots <= buffers.slots) return;
  buffers.samples = std::max(samples, buffers.samples);
  buffers.slots = std::max(slots, buffers.slots);
  buffers.memory = {};  // first the old one: both may not fit
  buffers.memory = body_.make_memory(buffers.samples, buffers.slots);
  buffers.input = AlignedBuffer<T>(stage_.inputs * padded(buffers.samples));
  buffers.gradient = AlignedBuffer<T>(stage_.outputs * padded(buffers.samples));
}

template <class T>
LossTargets<T> Worker<T>::load_targets(const Chunk& chunk) {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  LossTargets<T> targets;
  if (chunk.data.classes() > 0) {
    labels_.resize(std::max(labels_.size(), chunk.ids.size()));
    chunk.data.labels(chunk.ids, std::span(labels_).first(chunk.ids.size()));
    targets.labels = labels_.data();
    if (!chunk.data.has_soft_targets()) return targets;
  }
  if (targets_.size() < stage_.outputs * padded(samples)) targets_ = AlignedBuffer<T>(stage_.outputs * padded(samples));
  const Matrix<T> values{targets_.data(), stage_.outputs, samples, padded(samples)};
  chunk.data.targets(chunk.ids, values);
  targets.values = values;
  return targets;
}

/// The same as score_outputs where every step has a class: the loss takes each step of a sample for a sample.
template <class T>
Matrix<T> Worker<T>::score_steps(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores) {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size()), steps = chunk.data.target_size();
  const std::int64_t stride = buffers.y.stride, classes = stage_.outputs / steps, all = steps * stride;
  const std::int64_t columns = all - stride + samples;
  lengths_.resize(chunk.data.has_lengths() ? chunk.ids.size() : 0);
  if (chunk.data.has_lengths()) chunk.data.lengths(chunk.ids, lengths_);
  labels_.resize(std::max(labels_.size(), static_cast<std::size_t>(all)));
  if (losses_.size() < all) losses_ = AlignedBuffer<T>(all);
  if (!lengths_.empty() && weights_.size() < all) weights_ = AlignedBuffer<T>(all);
  T* const weights = lengths_.empty() ? nullptr : weights_.data();
  step_targets_.gather(chunk.data, chunk.ids, stride, labels_.data(), lengths_, weights);
  const ConstMatrix<T> z{buffers.y.data, classes, columns, all};
  LossGradient<T> arguments = loss_.arguments<T>(chunk.gradients != nullptr);
  arguments.scale = chunk.scale;
  arguments.z = z;
  arguments.targets = {.labels = labels_.data(), .values = {}};
  arguments.weights = weights;
  arguments.loss = losses_.data();
  if (chunk.gradients != nullptr) arguments.dz = {buffers.gradient.data(), classes, columns, all};
  kernels_.loss_gradient(arguments, context_);
  kernels_.score_slots({.kind = loss_.kind,
                        .z = z,
                        .labels = labels_.data(),
                        .loss = losses_.data(),
                        .slots = chunk.slots,
                        .steps = steps,
                        .step_stride = stride,
                        .lengths = lengths_.empty() ? nullptr : lengths_.data(),
                        .sum = scores.loss.data() + chunk.first_slot,
                        .correct = scores.correct.data() + chunk.first_slot},
                       context_);
  if (chunk.gradients == nullptr) return {};
  return {buffers.gradient.data(), stage_.outputs, samples, stride};
}

template <class T>
const T* Worker<T>::load_weights(const Chunk& chunk) {
  if (chunk.weights == nullptr) return nullptr;
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  if (weights_.size() < padded(samples)) weights_ = AlignedBuffer<T>(padded(samples));
  chunk.weights->gather(chunk.ids, weights_.span());
  return weights_.data();
}

template <class T>
Pass<T> Worker<T>::pass_of(const Chunk& chunk, const ChunkBuffers<T>* buffers) {
  return {.kernels = kernels_,
          .context = context_,
          .parameters = chunk.parameters,
          .columns = chunk.weight_columns,
          .gradients = chunk.gradients,
          .training = chunk.gradients != nullptr,
          .slots = chunk.slots,
          .sample_ids = chunk.ids,
          .lengths = buffers == nullptr || buffers->lengths.empty() ? nullptr : buffers->lengths.data(),
          .seed = chunk.seed,
          .epoch = chunk.epoch,
          .recorder = chunk.recorder,
          .watch = chunk.watch,
          .batch = chunk.batch,
          .state_before = chunk.state_before,
          .state_after = chunk.state_after,
          .gather = group_};
}

template <class T>
void Worker<T>::load(const Chunk& chunk, ChunkBuffers<T>& buffers, PhaseTimes& times) {
  Lap lap;
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  const bool gathered = chunk.kept != nullptr && chunk.kept->size() > 0;
  if (chunk.kept != nullptr && !gathered) *chunk.kept = AlignedBuffer<T>(stage_.inputs * padded(samples));
  const Matrix<T> x{chunk.kept != nullptr ? chunk.kept->data() : buffers.input.data(), stage_.inputs, samples,
                    padded(samples)};
  if (!gathered) chunk.data.gather(chunk.ids, x);
  buffers.x = x;
  lap(times.load);
  if (chunk.recorder != nullptr)
    chunk.recorder->close(kLoadSection, 0, double(sizeof(T)) * double(stage_.inputs) * double(samples));
}

template <class T>
void Worker<T>::forward(const Chunk& chunk, ChunkBuffers<T>& buffers, PhaseTimes& times) {
  Lap lap;
  buffers.lengths.resize(chunk.data.has_lengths() ? chunk.ids.size() : 0);
  if (chunk.data.has_lengths()) chunk.data.lengths(chunk.ids, buffers.lengths);
  buffers.y = body_.forward(pass_of(chunk, &buffers), buffers.x, buffers.memory);
  lap(times.forward);
  settle(times.forward, times);
}

template <class T>
Matrix<T> Worker<T>::score(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores, PhaseTimes& times) {
  Lap lap;
  body_.gather_output(pass_of(chunk), buffers.memory);
  lap(times.loss);
  return score_outputs(chunk, buffers, scores, times);
}

template <class T>
Matrix<T> Worker<T>::score_outputs(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores,
                                   PhaseTimes& times) {
  Lap lap;
  if (chunk.data.step_classes() > 0) {
    const Matrix<T> gradient = score_steps(chunk, buffers, scores);
    end_scores(chunk, lap, times);
    return gradient;
  }
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  if (losses_.size() < padded(samples)) losses_ = AlignedBuffer<T>(padded(samples));
  const LossTargets<T> targets = load_targets(chunk);
  Matrix<T> dz;
  if (chunk.gradients != nullptr) dz = {buffers.gradient.data(), stage_.outputs, samples, padded(samples)};
  LossGradient<T> arguments = loss_.arguments<T>(chunk.gradients != nullptr);
  arguments.scale = chunk.scale;
  arguments.z = buffers.y;
  arguments.targets = targets;
  arguments.weights = load_weights(chunk);
  arguments.loss = losses_.data();
  arguments.dz = dz;
  kernels_.loss_gradient(arguments, context_);
  kernels_.score_slots({.kind = loss_.kind,
                        .z = buffers.y,
                        .labels = targets.labels,
                        .loss = losses_.data(),
                        .slots = chunk.slots,
                        .sum = scores.loss.data() + chunk.first_slot,
                        .correct = scores.correct.data() + chunk.first_slot},
                       context_);
  if (scores.samples.wanted())
    score_samples(loss_.kind, buffers.y, targets, static_cast<std::int64_t>(chunk.first_slot) * kScoreBlock,
                  scores.samples);
  end_scores(chunk, lap, times);
  return dz;
}

template <class T>
void Worker<T>::end_scores(const Chunk& chunk, Lap& lap, PhaseTimes& times) {
  lap(times.loss);
  settle(times.loss, times);
  if (chunk.recorder == nullptr) return;
  const Cost cost = loss_cost(stage_.outputs, static_cast<std::int64_t>(chunk.ids.size()), sizeof(T));
  chunk.recorder->close(kLossSection, cost.flops, cost.bytes);
}

template <class T>
void Worker<T>::backward(const Chunk& chunk, ChunkBuffers<T>& buffers, Matrix<T> dy, Matrix<T> dx,
                         const Split& dy_split, PhaseTimes& times) {
  Lap lap;
  body_.backward(pass_of(chunk, &buffers), buffers.x, buffers.memory, dy, dx, dy_split);
  lap(times.backward);
  settle(times.backward, times);
}

template <class T>
void Worker<T>::gather(const Chunk& chunk, Matrix<T> matrix, const Split& split, PhaseTimes& times) {
  if (split.whole()) return;
  gather_parts(pass_of(chunk), matrix, split);
  double none = 0;
  settle(none, times);
}

/// The outputs of all samples of the chunk, computed for a few at a time: their activations stay in cache, and the
/// memory of training serves them.
template <class T>
void Worker<T>::infer(const Chunk& chunk, PhaseTimes& times) {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  if (outputs_.size() < stage_.outputs * padded(samples)) outputs_ = AlignedBuffer<T>(stage_.outputs * padded(samples));
  const Matrix<T> outputs{outputs_.data(), stage_.outputs, samples, padded(samples)};
  Chunk some = chunk;
  for (std::int64_t first = 0; first < samples; first += chunk.samples_at_once) {
    const std::int64_t count = std::min(samples - first, chunk.samples_at_once);
    const std::int64_t bounds[] = {0, count};
    some.ids = chunk.ids.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    some.slots = {bounds};
    reserve(some, buffers_);
    load(some, buffers_, times);
    forward(some, buffers_, times);
    body_.gather_output(pass_of(some), buffers_.memory);
    for (std::int64_t row = 0; row < stage_.outputs; ++row)
      std::copy_n(&buffers_.y(row, 0), count, &outputs(row, first));
  }
  buffers_.y = outputs;
}

template <class T>
void Worker<T>::run(const Chunk& chunk, SlotScores& scores, PhaseTimes& times) {
  if (chunk.samples_at_once > 0 && chunk.samples_at_once < static_cast<std::int64_t>(chunk.ids.size())) {
    infer(chunk, times);
    score_outputs(chunk, buffers_, scores, times);
    return;
  }
  reserve(chunk, buffers_);
  load(chunk, buffers_, times);
  forward(chunk, buffers_, times);
  const Matrix<T> dz = score(chunk, buffers_, scores, times);
  if (chunk.gradients != nullptr) backward(chunk, buffers_, dz, {}, {}, times);
}

template class Worker<float>;
template class Worker<double>;

}  // namespace lockstep
