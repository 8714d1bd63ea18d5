#pragma once
// One batch on the device. A chunk is the whole batch, all its slots together, where the device's memory allows it: so
// the kernels take the sums over slots. Several ranks have a device each; their sums go through the same tree
// (RankTree), by way of the host unless the transport takes the device's memory, and every rank steps all of the
// weights: that costs a device less than a second way over the bus.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lockstep/parallel/batch_sums.hpp"
#include "lockstep/parallel/rank_tree.hpp"
#include "lockstep/train/device_worker.hpp"
#include "lockstep/train/slot_chunks.hpp"

namespace lockstep {

/// The sum of gradients over ranks.
template <class T>
class DeviceReduction {
 public:
  explicit DeviceReduction(DeviceModel<T>& model) : model_(model), host_kernels_(make_table<T>(Backend::simd)) {}

  /// The total of all ranks' slots, on the device; valid until the next call. Sends this rank's scores and requests
  /// with it; those of all ranks come back.
  T* sum(SlotSums<T>& sums, RankTree<T>& tree, SlotScores& scores, StepRequests& requests);

 private:
  std::vector<Subtree<T>> local_subtrees(SlotSums<T>& sums);

  DeviceModel<T>& model_;
  KernelTable<T> host_kernels_;
  KernelContext host_context_;
  std::vector<AlignedBuffer<T>> staged_;  // on the host: this rank's subtrees
  AlignedBuffer<T> total_;                // on the device
};

template <class T>
class DeviceStep {
 public:
  explicit DeviceStep(DeviceModel<T>& model);

  /// Slots and chunks for batches of this data. `repeats`: in a fit whose batches are all the same.
  void prepare(const Dataset& data);
  void repeat_batches(bool repeats) { repeats_ = repeats; }

  StepResult train_batch(const Batch& batch);
  /// The gradient with the L2 term, on the device.
  T* gradient(const Batch& batch);
  /// Forgets samples that are on their way to the device.
  void cancel() { worker_.feed().clear(); }

  std::int64_t slots_per_chunk() const { return chunk_size_.slots; }
  /// Of a batch.
  std::int64_t slots() const { return slots_; }
  PhaseTimes take_times();

 private:
  void run_slots(const Batch& batch);
  void load(const Batch& batch, const SlotChunk& chunk);
  void begin_next(const Batch& batch);
  void fetch_last(const Batch& batch);
  void push(const Batch& batch, const SlotChunk& chunk);
  T* reduce(const Batch& batch, StepRequests& requests);
  void update(const Batch& batch, T* gradient);

  DeviceModel<T>& model_;
  DeviceWorker<T> worker_;
  SlotSums<T> sums_;
  DeviceReduction<T> reduction_;
  std::optional<RankTree<T>> tree_;
  std::optional<BatchSums<T>> batch_sums_;  // where layers need sums over the batch
  typename BatchSums<T>::Thread batch_sum_;
  Barrier nobody_{1, {}};
  Member alone_{.barrier = nobody_};
  std::int64_t tree_bytes_ = 0;  // that the tree had sent at the last take_times
  std::int64_t slots_ = 0;
  ChunkSize chunk_size_;
  std::vector<SlotChunk> chunks_, next_chunks_;  // of the present batch and of the next one
  std::optional<std::size_t> last_;              // the chunk whose scores are still on the device
  bool repeats_ = false, loaded_ = false;        // every batch is the same one; it is on the device
  SlotScores scores_;                            // of the present batch, by slot
  PhaseTimes times_;
};

}  // namespace lockstep
