#pragma once
// Whether weights and optimiser state still are what the last step wrote: one checksum for each block of a
// vector, noted after it was written and compared before it is written again or saved.

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/core/planted_fault.hpp"
#include "lockstep/train/shard.hpp"

namespace lockstep {

/// Of one vector.
template <class T>
class BlockSums {
 public:
  static constexpr std::int64_t kBlock = kSquareBlock;

  explicit BlockSums(std::int64_t elements) : elements_(elements) {
    sums_.resize(static_cast<std::size_t>((elements + kBlock - 1) / kBlock));
  }
  /// Elements [first, last) of `x`; both are multiples of kBlock, or the end.
  void note(const T* x, std::int64_t first, std::int64_t last);
  /// The first element of the first block that has another sum now; -1: none.
  std::int64_t find_changed(const T* x, std::int64_t first, std::int64_t last) const;
  std::int64_t elements() const { return elements_; }

 private:
  std::int64_t elements_;
  std::vector<std::uint64_t> sums_;
};

/// Of what a rank holds between two steps: weights, running statistics, and its stretch of the optimiser's state.
template <class T>
class StateSums {
 public:
  StateSums(TrainingSetup& setup, Shard<T>& shard);

  /// The optimiser's state of elements [first, last) is this rank's. Everything is noted.
  void begin(std::int64_t first, std::int64_t last);
  void note_all();
  /// Error(integrity) names the tensor, the elements of the block, rank and host; `step` is the last one done.
  void check_all(std::int64_t step) const;

  // Parts of it, for the threads that own them: weights and their optimiser state; and the rest of the weights, with
  // the running statistics, which other ranks write.
  void check(std::int64_t first, std::int64_t last, std::int64_t step) const;
  void note(std::int64_t first, std::int64_t last);
  void check_foreign(bool statistics, std::int64_t step) const;
  void note_foreign(bool statistics);
  void check_statistics(std::int64_t step) const;
  void note_statistics();
  void check_average(std::int64_t step) const;
  void note_average();

 private:
  struct Part {
    const char* what;
    const T* values;
    std::int64_t offset;  // of its element 0 in the parameter vector
  };
  Part weights() const { return {"the weight", shard_.weights(), 0}; }
  Part statistics() const {
    return {"the statistic", shard_.weights() + setup_.stage.trainable, setup_.stage.trainable};
  }
  void check_part(const BlockSums<T>& sums, const Part& part, std::int64_t first, std::int64_t last,
                  std::int64_t step) const;

  TrainingSetup& setup_;
  Shard<T>& shard_;
  BlockSums<T> weights_, statistics_, first_, second_, average_;
  std::int64_t own_first_ = 0, own_last_ = 0;
};

}  // namespace lockstep
