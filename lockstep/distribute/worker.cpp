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

/// Labels of all steps: that of step t of sample s at t * stride + s, as the outputs lie. Columns that pad a step have
/// a label of their own too, so that the loss may work on all of them.
template <class T>
void Worker<T>::load_step_targets(const Chunk& chunk, std::int64_t stride) {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size()), steps = chunk.data.target_size();
  const auto all = static_cast<std::size_t>(steps * stride);
  if (targets_.size() < steps * stride) targets_ = AlignedBuffer<T>(steps * stride);
  const Matrix<T> values{targets_.data(), steps, samples, stride};
  chunk.data.targets(chunk.ids, values);
  labels_.assign(std::max(labels_.size(), all), 0);
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t s = 0; s < samples; ++s)
      labels_[static_cast<std::size_t>(t * stride + s)] = static_cast<std::int32_t>(values(t, s));
  lengths_.clear();
  if (!chunk.data.has_lengths()) return;
  lengths_.resize(chunk.ids.size());
  chunk.data.lengths(chunk.ids, lengths_);
  if (weights_.size() < steps * stride) weights_ = AlignedBuffer<T>(steps * stride);
  for (std::int64_t t = 0; t < steps; ++t)
    for (std::int64_t s = 0; s < stride; ++s)
      weights_[t * stride + s] = s < samples && t < lengths_[static_cast<std::size_t>(s)] ? T(1) : T(0);
}

/// The same as score_outputs where every step has a class: the loss takes each step of a sample for a sample. A slot's
/// sum is one chain over its samples, ascending, and over the steps of each.
template <class T>
Matrix<T> Worker<T>::score_steps(const Chunk& chunk, ChunkBuffers<T>& buffers, SlotScores& scores) {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size()), steps = chunk.data.target_size();
  const std::int64_t stride = buffers.y.stride, classes = stage_.outputs / steps, cols = (steps - 1) * stride + samples;
  load_step_targets(chunk, stride);
  if (losses_.size() < steps * stride) losses_ = AlignedBuffer<T>(steps * stride);
  const ConstMatrix<T> z{buffers.y.data, classes, cols, steps * stride};
  Matrix<T> dz;
  if (chunk.gradients != nullptr) dz = {buffers.gradient.data(), classes, cols, steps * stride};
  LossGradient<T> arguments = loss_.arguments<T>(chunk.gradients != nullptr);
  arguments.scale = chunk.scale;
  arguments.z = z;
  arguments.targets = {.labels = labels_.data(), .values = {}};
  arguments.weights = lengths_.empty() ? nullptr : weights_.data();
  arguments.loss = losses_.data();
  arguments.dz = dz;
  kernels_.loss_gradient(arguments, context_);
  best_.assign(static_cast<std::size_t>(cols), 0);
  for (std::int64_t k = 1; k < classes; ++k)
    for (std::int64_t c = 0; c < cols; ++c) {
      std::int32_t& best = best_[static_cast<std::size_t>(c)];
      if (z(k, c) > z(best, c)) best = static_cast<std::int32_t>(k);
    }
  for (std::int64_t slot = 0; slot < chunk.slots.count(); ++slot) {
    double sum = 0;
    std::int64_t correct = 0;
    for (std::int64_t s = chunk.slots.begin(slot); s < chunk.slots.end(slot); ++s)
      for (std::int64_t t = 0; t < (lengths_.empty() ? steps : lengths_[static_cast<std::size_t>(s)]); ++t) {
        const auto at = static_cast<std::size_t>(t * stride + s);
        sum += static_cast<double>(losses_[t * stride + s]);
        if (best_[at] == labels_[at]) ++correct;
      }
    scores.loss[chunk.first_slot + static_cast<std::size_t>(slot)] = sum;
    scores.correct[chunk.first_slot + static_cast<std::size_t>(slot)] = correct;
  }
  if (chunk.gradients != nullptr) dz = {buffers.gradient.data(), stage_.outputs, samples, stride};
  return dz;
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
