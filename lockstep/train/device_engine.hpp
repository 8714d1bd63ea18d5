#pragma once
// The training loop on a device, beside Engine, which runs on threads. Weights, optimiser state, activations and
// gradients stay on the device; a step brings down one block of samples (DeviceFeed) and takes up the scores of its
// slots. The host launches and does not wait, but for the scores: it gathers the next batch meanwhile.
//
// A chunk is the whole batch, all its slots together, where the device's memory allows it: so the kernels take the sums
// over slots. Several ranks have a device each; their sums go through the same tree (RankTree), by way of the host
// unless the transport takes the device's memory, and every rank steps all of the weights: that costs a device less
// than a second way over the bus.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/train/device_feed.hpp"
#include "lockstep/train/engine.hpp"

namespace lockstep {

/// Copies stand among the kernels of a profile, by these names.
inline constexpr const char *kCopyToDevice = "copy to the device", *kCopyToHost = "copy to the host";

/// The device of this rank: those of a host take turns. Error(usage) where options ask for what devices do not do.
std::shared_ptr<Device> device_of_rank(const TrainOptions& options, const Ranks& ranks);

template <class T>
class DeviceEngine final : public TrainingEngine {
 public:
  /// `kernels` are those of the device.
  DeviceEngine(Network& network, const TrainOptions& options, Ranks& ranks, std::shared_ptr<Device> device,
               const KernelTable<T>& kernels);
  ~DeviceEngine() override;

  std::vector<EpochReport> fit(const Dataset& data, const FitOptions& fit_options) override;
  double step(const Dataset& data, std::span<const std::int64_t> ids) override;
  std::vector<double> gradient(const Dataset& data, std::span<const std::int64_t> ids) override;
  void check(const Dataset& data) const override { check_data(network_, options_.loss, data); }
  Scores evaluate(const Dataset& data) override;
  double penalty() override;
  const TrainOptions& options() const override { return options_; }
  TrainingState state() const override;
  void restore(const TrainingState& state) override;

  /// What a chunk is at most, in slots.
  std::int64_t slots_per_chunk() const { return slots_per_chunk_; }

 private:
  /// What a chunk needs on the device besides its samples.
  struct Flight {
    std::int64_t samples = 0, slots = 0;  // what the memory is for
    SequenceMemory<T> memory;
    AlignedBuffer<T> losses, gradient;  // by sample; of the network's output
    AlignedBuffer<std::byte> scores;    // sums of losses and counts of slots
  };
  /// Slots [first, first + columns.size() - 1) of a batch, as they go through the network together.
  struct Chunk {
    std::int64_t first = 0;
    std::vector<std::int64_t> columns;  // where each slot begins, and the end
    std::span<const std::int64_t> ids;
    std::int64_t slots() const { return static_cast<std::int64_t>(columns.size()) - 1; }
  };
  struct Batch {
    const Dataset& data;
    std::span<const std::int64_t> ids;
    std::int64_t step = 0;  // from 0, since the beginning of training
    double rate = 0;
    std::span<const std::int64_t> next{};  // the samples that come after these; none: nobody knows
  };
  enum class Mode { training, inference };

  // Between the calls of a user.
  void prepare(const Dataset& data);
  void choose_chunks(const Dataset& data, std::int64_t batch);
  void reserve(Flight& flight, std::int64_t samples, std::int64_t slots, Mode mode);
  struct Needs {
    std::int64_t bytes = 0, largest = 0;  // of all, and of one allocation
  };
  Needs needs_of(const Dataset& data, std::int64_t samples, std::int64_t slots) const;
  bool fits(const Needs& needs) const;
  bool fits(const Dataset& data, std::int64_t samples, std::int64_t slots) const {
    return fits(needs_of(data, samples, slots));
  }
  std::int64_t blocks_together(const Dataset& data) const;
  void upload_weights();
  void download_weights();
  bool finite_weights();

  // One batch.
  void train_batch(const Batch& batch);
  T* run_slots(const Batch& batch);
  void update(const Batch& batch, T* gradient);
  void clip(T* gradient);
  T* sum_over_ranks(const Batch& batch);
  std::vector<Subtree<T>> own_subtrees();
  void cut(std::span<const std::int64_t> ids, std::vector<Chunk>& chunks) const;
  static const Chunk* first_with_samples(std::span<const Chunk> chunks);
  void load(const Dataset& data, const Chunk& chunk);
  void begin_next(const Batch& batch);
  void launch(const DeviceSamples<T>& samples, Slots slots, Flight& flight, T* gradients);
  void fetch_scores(Flight& flight, std::int64_t slots, SlotScores& scores, std::int64_t first);
  void fetch_last();
  void push(const Chunk& chunk);
  double square_sum(const T* x, std::int64_t count);
  StepRequests own_requests(std::int64_t steps) const;

  void run_epoch(const Dataset& data, const FitOptions& fit_options, std::int64_t total_epochs);
  void end_epoch(const FitOptions& fit_options, double seconds, double validation_seconds);
  Scores score(const Dataset& data);
  double penalty_of_device();
  void begin_profile(const FitOptions& fit_options);
  void end_profile(bool complete);

  bool alone() const { return ranks_.size() == 1; }
  /// Whether gradients go from device to device: the transport takes the device's addresses. A library's sum is staged.
  bool direct() const {
    return ranks_.transport().takes_memory_of(device_.info().backend) &&
           options_.parallel.reduce != RankReduction::library;
  }
  /// Ends a span, where a profile is taken.
  void close(std::int32_t section, Cost cost = {}) {
    if (profile_ != nullptr) profile_->recorder(0).close(section, cost.flops, cost.bytes);
  }

  Network& network_;
  TrainOptions options_;
  Ranks& ranks_;
  std::vector<Stage> parts_;  // one: the whole network
  RankGrid grid_;
  const Stage& stage_;
  std::shared_ptr<Device> owner_;
  Device& device_;
  KernelTable<T> kernels_;
  KernelContext context_;  // on the device
  KernelTable<T> host_kernels_;
  KernelContext host_context_;  // for the tree over ranks
  Sequence<T> body_;

  // On the device.
  AlignedBuffer<T> weights_;
  Update<T> update_;
  SlotSums<T> sums_;
  DeviceFeed<T> feed_, score_feed_;  // of training and of evaluations
  Flight training_, inference_;
  AlignedBuffer<double> squares_;  // of the gradient, by block; for clipping and the penalty
  AlignedBuffer<T> total_;         // the sum over all ranks

  // On the host.
  std::int64_t slots_ = 0, slots_per_chunk_ = 1, chunk_samples_ = 0;
  T loss_scale_ = T(1);
  bool one_batch_ = false, kept_ = false;  // every batch is the same one; it is on the device
  std::optional<RankTree<T>> tree_;
  std::int64_t tree_bytes_ = 0;              // that the tree had sent by the end of the last epoch
  std::vector<AlignedBuffer<T>> staged_;     // this rank's subtrees, on their way to the others
  std::vector<Chunk> chunks_, next_chunks_;  // of the present batch and of the next one
  std::optional<std::size_t> last_;          // the chunk whose scores are still on the device
  std::vector<double> host_squares_;
  std::vector<std::byte> host_scores_;
  SlotScores scores_, blocks_;  // of the present batch, by slot; of an evaluation, by block
  BatchScores batch_scores_;
  StepRequests requests_;
  Progress progress_;
  PhaseTimes times_;
  DeviceTraffic traffic_;            // when the profile began
  Profile* profile_ = nullptr;       // of the present fit
  const FitOptions* fit_ = nullptr;  // the same
};

}  // namespace lockstep
