#pragma once
// The targets of a chunk whose samples have a class at every step: one label per step and sample.

#include <cstdint>
#include <span>

#include "lockstep/core/aligned.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// Gathers the classes of all steps on the host. Step t of sample s lies at t * stride + s, as the outputs of a chunk
/// do. Columns that pad a step get label 0, so that the loss may work on all of them.
template <class T>
class StepTargets {
 public:
  /// `labels` has room for target_size() * stride numbers, and so has `weights`, which may be null. A weight is 1 up to
  /// a sample's length and 0 behind it.
  void gather(const Dataset& data, std::span<const std::int64_t> ids, std::int64_t stride, std::int32_t* labels,
              std::span<const std::int64_t> lengths, T* weights);

 private:
  AlignedBuffer<T> values_;
};

}  // namespace lockstep
