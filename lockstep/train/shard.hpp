#pragma once
// This rank's weights and optimiser state in the memory of the host, and how those of all ranks come together on rank
// 0. One rank that holds the whole network is the ordinary case: its weights are the network's own vector.

#include <cstdint>
#include <optional>

#include "lockstep/distribute/weight_columns.hpp"
#include "lockstep/parallel/rank_tree.hpp"
#include "lockstep/train/executor.hpp"
#include "lockstep/train/update.hpp"

namespace lockstep {

template <class T>
class Shard {
 public:
  explicit Shard(TrainingSetup& setup);

  T* weights() { return is_sharded() ? values_.data() : setup_.network.template data<T>(); }
  /// The second copy of split weights (nn/columns.hpp); null: layers are whole.
  const T* weight_columns() const { return columns_ ? columns_->data() : nullptr; }
  Update<T>& update() { return update_; }
  RunningAverage<T>& average() { return average_; }
  /// Weights and average change places. Returns the bytes sent.
  double swap_average();

  /// After the weights have changed. Returns the bytes sent.
  double exchange_columns() { return columns_ ? columns_->exchange(values_.data()) : 0; }
  /// Of weights and running statistics: the same answer on every rank.
  bool is_finite();
  /// To rank 0's network.
  void collect_weights();
  /// Weights to rank 0's network; the optimiser's state, whose stretches have owners, to all ranks that hold the same
  /// part, and from there to rank 0.
  void collect_state(RankTree<T>& tree);
  /// A vector over this rank's parameters: all of it, on rank 0. Elsewhere nothing, where the network is sharded.
  std::vector<double> collect_whole(const T* own);
  /// The norm of a gradient of which every rank has its part, valid in the stretches of `tree`. Its blocks do not end
  /// where parts do, so rank 0 takes it over the whole vector.
  double norm_over_parts(T* gradient, RankTree<T>& tree, const KernelTable<T>& kernels, KernelContext& context);

  void save(TrainingState& state) const;
  void restore(const TrainingState& state);

 private:
  bool is_sharded() const { return setup_.grid.is_sharded(); }

  TrainingSetup& setup_;
  AlignedBuffer<T> values_;                  // this rank's parameters, where the network is sharded
  std::optional<WeightColumns<T>> columns_;  // of split layers
  Update<T> update_;
  RunningAverage<T> average_;        // of the weights; empty where none is wanted
  AlignedBuffer<T> whole_gradient_;  // rank 0, for the norm
  // Rank 0: the optimiser's state and the average of all parts, once collected.
  AlignedBuffer<T> whole_first_, whole_second_, whole_average_;
};

}  // namespace lockstep
