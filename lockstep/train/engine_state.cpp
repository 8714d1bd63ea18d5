// Where training stands, out of the engine and back into it.

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/train/engine.hpp"

namespace lockstep {

// Nobody writes what this reads while a callback of member 0 runs. Weights and optimiser state are written between the
// two barriers of a step: during on_step the others run the slots of the next step and wait at its first barrier, which
// needs member 0; during on_epoch they wait at the end of the epoch. The rest is written by member 0 alone.
template <class T>
TrainingState Engine<T>::state() const {
  TrainingState state{.epoch = epoch_, .batch = batch_, .steps = steps_ + batch_};
  if (batch_ > 0) {
    state.loss_sum = epoch_loss_;
    state.samples = report_.train.samples;
    state.correct = report_.train.correct;
    state.rate = report_.rate;
  }
  if (parted() && !ranks_.leader()) return state;  // it has no more than its part
  state.parameters = network_.values();
  state.first = parted() ? whole_first_ : update_.first();
  state.second = parted() ? whole_second_ : update_.second();
  return state;
}

template <class T>
void Engine<T>::restore(const TrainingState& state) {
  const auto require = [](const ParameterValues& values, std::int64_t size, const char* what) {
    const auto* own = std::get_if<AlignedBuffer<T>>(&values);
    if (own != nullptr && own->size() == size) return *own;
    const std::int64_t given = std::visit([](const auto& buffer) { return buffer.size(); }, values);
    throw Error(ExitCode::checkpoint,
                fmt::format("the {} are {} numbers of {} bytes, {} of {} bytes are needed: the state belongs to "
                            "another network or optimizer",
                            what, given, own != nullptr ? sizeof(T) : 12 - sizeof(T), size, sizeof(T)));
  };
  if (state.epoch < 0 || state.batch < 0 || state.steps < state.batch || state.samples < 0)
    throw Error(ExitCode::checkpoint, fmt::format("epoch {}, batch {}, step {} is no place in a training", state.epoch,
                                                  state.batch, state.steps));
  AlignedBuffer<T> parameters = require(state.parameters, network_.parameter_count(), "parameters");
  const int vectors = state_vectors(options_.optimizer);
  const auto trained = [&](int needed) { return vectors >= needed ? network_.trainable_count() : 0; };
  AlignedBuffer<T> first = require(state.first, trained(1), "optimizer's first vector");
  AlignedBuffer<T> second = require(state.second, trained(2), "optimizer's second vector");
  if (parted()) {
    for (const Piece& piece : stage_.pieces) {
      std::copy_n(parameters.data() + piece.whole, piece.count, values_.data() + piece.own);
      if (piece.own >= stage_.trainable) continue;
      if (vectors >= 1) std::copy_n(first.data() + piece.whole, piece.count, update_.first_data() + piece.own);
      if (vectors >= 2) std::copy_n(second.data() + piece.whole, piece.count, update_.second_data() + piece.own);
    }
    if (ranks_.leader()) {
      network_.values() = std::move(parameters);
      whole_first_ = std::move(first);
      whole_second_ = std::move(second);
    }
  } else {
    network_.values() = std::move(parameters);
    update_.set_state(std::move(first), std::move(second));
  }
  epoch_ = state.epoch;
  batch_ = state.batch;
  steps_ = state.steps - state.batch;
  epoch_loss_ = state.loss_sum;
  report_ = {.epoch = epoch_ + 1, .rate = state.rate};
  report_.train = {.samples = state.samples,
                   .loss = state.samples > 0 ? state.loss_sum / double(state.samples) : 0,
                   .correct = state.correct};
}

template TrainingState Engine<float>::state() const;
template TrainingState Engine<double>::state() const;
template void Engine<float>::restore(const TrainingState&);
template void Engine<double>::restore(const TrainingState&);

}  // namespace lockstep
