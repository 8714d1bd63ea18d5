#pragma once
// What lstm, gru and rnn share before they run: their options in one form, their parameters, their ONNX nodes.

#include <cstddef>
#include <cstdint>

#include "lockstep/nn/recurrent.hpp"

namespace lockstep {

enum class Cell { lstm, gru, rnn };

struct RecurrentSpec {
  Cell cell;
  std::int64_t hidden, layers;
  bool bidirectional, all_steps, bias;
  bool relu = false;

  int directions() const { return bidirectional ? 2 : 1; }
  std::int64_t gates() const { return cell == Cell::lstm ? 4 : cell == Cell::gru ? 3 : 1; }
  std::size_t parameters_per_unit() const { return bias ? 4 : 2; }  // weight_ih, weight_hh, bias_ih, bias_hh
};

RecurrentSpec spec_of(const Lstm& layer);
RecurrentSpec spec_of(const Gru& layer);
RecurrentSpec spec_of(const Rnn& layer);

}  // namespace lockstep
