#pragma once
// Truncated back-propagation through time (TrainOptions::truncate): the network for one window of its sequences, and
// the states of recurrent layers between two windows.

#include <cstdint>

#include "lockstep/train/executor.hpp"

namespace lockstep {

/// The same layers for `steps` steps, with the same parameters. Error(usage) where a layer needs whole sequences.
Network window_of(const Network& network, std::int64_t steps);

/// Matrices [TrainingSetup::state_rows][samples of a batch], where the kernels work. A rank fills in the rows of its
/// layers and the columns of its slots. A window reads one and writes the other, so it can be computed in any order.
template <class T>
class CarriedState {
 public:
  explicit CarriedState(Memory& where = host_memory()) : where_(&where) {}

  /// Room for batches of up to `batch` sequences; what it holds stays where the room was the same.
  void prepare(std::int64_t rows, std::int64_t batch);
  /// Columns [first, first + count) of what this batch reads and writes; without data: nothing.
  ConstMatrix<T> before(const Batch& batch, std::int64_t first, std::int64_t count) const;
  Matrix<T> after(const Batch& batch, std::int64_t first, std::int64_t count);
  /// The batch is done.
  void finish(const Batch& batch);

  /// Of the last batch: the window that is to come, and the samples. 0: its sequences are at their end.
  std::int64_t window() const { return window_; }
  std::int64_t samples() const { return samples_; }
  std::int64_t stride() const { return stride_; }
  /// What window() reads: state_rows * stride() numbers.
  const AlignedBuffer<T>& next() const { return matrices_[window_ % 2]; }
  T* resume(std::int64_t window, std::int64_t samples);

 private:
  Memory* where_;
  std::int64_t rows_ = 0, stride_ = 0, window_ = 0, samples_ = 0;
  AlignedBuffer<T> matrices_[2];
};

/// Dense [state_rows][samples] with the parts of all ranks, on every rank. `own`: in the memory of the host.
template <class T>
AlignedBuffer<T> collect_carried(TrainingSetup& setup, const T* own, std::int64_t stride, std::int64_t samples,
                                 std::int64_t slots);

/// The other way: with `stride` from row to row. Error(checkpoint) where it is not of `samples` sequences.
template <class T>
AlignedBuffer<T> spread_carried(const AlignedBuffer<T>& dense, std::int64_t rows, std::int64_t samples,
                                std::int64_t stride);

}  // namespace lockstep
