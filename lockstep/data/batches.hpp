#pragma once
// The order in which one epoch visits its samples, and where it is cut into batches.

#include <cstdint>
#include <span>
#include <vector>

namespace lockstep {

struct BatchConfig {
  std::int64_t samples = 0;  // sequences, where they have several windows
  std::int64_t batch = 0;    // samples per batch; 0: the full batch
  bool shuffle = true;       // false: in the order of the ids
  std::uint64_t seed = 1;
  std::int64_t epoch = 0;
  std::int64_t windows = 1;  // of each sequence (Dataset::windows)
};

/// Batch b holds the ids at positions [b * batch, (b + 1) * batch) of the epoch's order; the last one holds the
/// remainder. Of sequences in windows, `windows` batches one after the other hold the windows of the same sequences, in
/// the same places: those of sequence i are the samples from i * windows on. The order is a pure function of the
/// configuration: permutation(seed, Purpose::shuffle, epoch, samples).
class Batches {
 public:
  explicit Batches(const BatchConfig& config);

  /// The number of batches: samples / batch rounded up; 0 when there are no samples.
  std::int64_t count() const;
  std::span<const std::int64_t> ids(std::int64_t batch) const;
  /// All ids of the epoch in their order.
  std::span<const std::int64_t> order() const { return order_; }

 private:
  std::vector<std::int64_t> order_;
  std::int64_t batch_ = 1, windows_ = 1;
};

}  // namespace lockstep
