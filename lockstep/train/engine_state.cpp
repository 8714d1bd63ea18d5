// Where training stands, out of the engine and back into it.

#include <algorithm>

#include "lockstep/train/engine.hpp"

namespace lockstep {

// Nobody writes what this reads while a callback of member 0 runs. Weights and optimiser state are written between the
// two barriers of a step: during on_step the others run the slots of the next step and wait at its first barrier, which
// needs member 0; during on_epoch they wait at the end of the epoch. The rest is written by member 0 alone.
template <class T>
TrainingState Engine<T>::state() const {
  TrainingState state = progress_.counts();
  if (parted() && !ranks_.leader()) return state;  // it has no more than its part
  state.parameters = network_.values();
  state.first = parted() ? whole_first_ : update_.first();
  state.second = parted() ? whole_second_ : update_.second();
  return state;
}

template <class T>
void Engine<T>::restore(const TrainingState& state) {
  auto [parameters, first, second] = vectors_of<T>(state, network_, options_.optimizer);
  const int vectors = state_vectors(options_.optimizer);
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
  progress_.restore(state);
}

template TrainingState Engine<float>::state() const;
template TrainingState Engine<double>::state() const;
template void Engine<float>::restore(const TrainingState&);
template void Engine<double>::restore(const TrainingState&);

}  // namespace lockstep
