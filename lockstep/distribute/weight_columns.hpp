#pragma once
// Keeps the second copy of split weights (nn/columns.hpp) up to date: what each member needs of the others' weights
// goes to it in one message per step.

#include <cstdint>
#include <vector>

#include "lockstep/core/aligned.hpp"
#include "lockstep/distribute/stage.hpp"
#include "lockstep/nn/columns.hpp"
#include "lockstep/parallel/ranks.hpp"

namespace lockstep {

template <class T>
class WeightColumns {
 public:
  /// `members` must outlive it.
  WeightColumns(const Stage& stage, Ranks& members);

  /// After the weights have changed, by all members: `parameters` is the stage's vector. Returns the bytes sent.
  double exchange(const T* parameters);

  const T* data() const { return columns_.data(); }

 private:
  /// A split layer whose data gradient is wanted.
  struct Weight {
    WeightShape shape;
    std::int64_t rows, columns;  // where they begin in the vectors
    Split in, out;
    Channels ins(int member) const { return in.part(shape.in, member); }
    Channels outs(int member) const { return out.part(shape.out, member); }
  };

  std::vector<Weight> weights_;
  Ranks& members_;
  AlignedBuffer<T> columns_;
  std::vector<AlignedBuffer<T>> sent_, received_;  // by member
};

}  // namespace lockstep
