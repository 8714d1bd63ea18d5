#pragma once
// What training reports of a chunk, per slot: the sum of its losses and how many predictions are right.
//   sum[slot] = a chain over the slot's samples of double(loss), ascending, from 0; 0 for an empty slot
//   correct[slot] = samples whose predicted class is their label; 0 where there are no labels
// The predicted class is the largest output, the first of equal ones; with one output it is 1 from the middle on (0 for
// a logit, 0.5 for a value trained by squared error).

#include "lockstep/kernels/loss.hpp"
#include "lockstep/kernels/slots.hpp"

namespace lockstep {

template <class T>
struct ScoreSlots {
  Loss kind;
  ConstMatrix<T> z;                      // the network's output
  const std::int32_t* labels = nullptr;  // [samples] or null: targets are numbers
  const T* loss;                         // [samples]
  Slots slots;
  double* sum;            // [slots]
  std::int64_t* correct;  // [slots]
};

}  // namespace lockstep
