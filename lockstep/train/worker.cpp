#include "lockstep/train/worker.hpp"

#include <algorithm>

#include "lockstep/train/lap.hpp"

namespace lockstep {

template <class T>
Worker<T>::Worker(const Sequence<T>& body, std::int64_t inputs, std::int64_t outputs, Loss loss,
                  const KernelTable<T>& kernels, RankHolders* holders)
    : body_(body), inputs_(inputs), outputs_(outputs), loss_(loss), kernels_(kernels), holders_(holders) {}

template <class T>
void Worker<T>::reserve(const Chunk& chunk, Flight<T>& flight) const {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  const std::int64_t slots = chunk.slots.count();
  if (samples <= flight.samples && slots <= flight.slots) return;
  flight.samples = std::max(samples, flight.samples);
  flight.slots = std::max(slots, flight.slots);
  flight.memory = body_.make_memory(flight.samples, flight.slots);
  flight.input = AlignedBuffer<T>(inputs_ * padded(flight.samples));
  flight.gradient = AlignedBuffer<T>(outputs_ * padded(flight.samples));
}

template <class T>
LossTargets<T> Worker<T>::load_targets(const Chunk& chunk) {
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  if (chunk.data.classes() > 0) {
    labels_.resize(std::max(labels_.size(), chunk.ids.size()));
    chunk.data.labels(chunk.ids, std::span(labels_).first(chunk.ids.size()));
    return {.labels = labels_.data(), .values = {}};
  }
  if (targets_.size() < outputs_ * padded(samples)) targets_ = AlignedBuffer<T>(outputs_ * padded(samples));
  const Matrix<T> values{targets_.data(), outputs_, samples, padded(samples)};
  chunk.data.targets(chunk.ids, values);
  return {.labels = nullptr, .values = values};
}

template <class T>
Pass<T> Worker<T>::pass_of(const Chunk& chunk) {
  return {.kernels = kernels_,
          .context = context_,
          .parameters = chunk.parameters,
          .columns = chunk.columns,
          .gradients = chunk.gradients,
          .training = chunk.gradients != nullptr,
          .slots = chunk.slots,
          .sample_ids = chunk.ids,
          .seed = chunk.seed,
          .epoch = chunk.epoch,
          .recorder = chunk.recorder,
          .watch = chunk.watch,
          .holders = holders_};
}

template <class T>
void Worker<T>::load(const Chunk& chunk, Flight<T>& flight, PhaseTimes& times) {
  Lap lap;
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  const bool gathered = chunk.kept != nullptr && chunk.kept->size() > 0;
  if (chunk.kept != nullptr && !gathered) *chunk.kept = AlignedBuffer<T>(inputs_ * padded(samples));
  const Matrix<T> x{chunk.kept != nullptr ? chunk.kept->data() : flight.input.data(), inputs_, samples,
                    padded(samples)};
  if (!gathered) chunk.data.gather(chunk.ids, x);
  flight.x = x;
  lap(times.load);
  if (chunk.recorder != nullptr)
    chunk.recorder->close(kLoadSection, 0, double(sizeof(T)) * double(inputs_) * double(samples));
}

template <class T>
void Worker<T>::forward(const Chunk& chunk, Flight<T>& flight, PhaseTimes& times) {
  Lap lap;
  flight.y = body_.forward(pass_of(chunk), flight.x, flight.memory);
  lap(times.forward);
  settle(times.forward, times);
}

template <class T>
Matrix<T> Worker<T>::score(const Chunk& chunk, Flight<T>& flight, SlotScores& scores, std::size_t first_slot,
                           PhaseTimes& times) {
  Lap lap;
  body_.gather_output(pass_of(chunk), flight.memory);
  const auto samples = static_cast<std::int64_t>(chunk.ids.size());
  if (losses_.size() < padded(samples)) losses_ = AlignedBuffer<T>(padded(samples));
  const LossTargets<T> targets = load_targets(chunk);
  Matrix<T> dz;
  if (chunk.gradients != nullptr) dz = {flight.gradient.data(), outputs_, samples, padded(samples)};
  kernels_.loss_gradient(
      {.kind = loss_, .scale = chunk.scale, .z = flight.y, .targets = targets, .loss = losses_.data(), .dz = dz},
      context_);
  kernels_.score_slots({.kind = loss_,
                        .z = flight.y,
                        .labels = targets.labels,
                        .loss = losses_.data(),
                        .slots = chunk.slots,
                        .sum = scores.loss.data() + first_slot,
                        .correct = scores.correct.data() + first_slot},
                       context_);
  lap(times.loss);
  settle(times.loss, times);
  if (chunk.recorder != nullptr) {
    const Cost cost = loss_cost(outputs_, samples, sizeof(T));
    chunk.recorder->close(kLossSection, cost.flops, cost.bytes);
  }
  return dz;
}

template <class T>
void Worker<T>::backward(const Chunk& chunk, Flight<T>& flight, Matrix<T> dy, Matrix<T> dx, const Split& dy_split,
                         PhaseTimes& times) {
  Lap lap;
  body_.backward(pass_of(chunk), flight.x, flight.memory, dy, dx, dy_split);
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

template <class T>
void Worker<T>::run(const Chunk& chunk, SlotScores& scores, std::size_t first_slot, PhaseTimes& times) {
  reserve(chunk, flight_);
  load(chunk, flight_, times);
  forward(chunk, flight_, times);
  const Matrix<T> dz = score(chunk, flight_, scores, first_slot, times);
  if (chunk.gradients != nullptr) backward(chunk, flight_, dz, {}, {}, times);
}

template class Worker<float>;
template class Worker<double>;

}  // namespace lockstep
