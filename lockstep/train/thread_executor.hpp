#pragma once
// Training on the threads of this process: data-parallel ranks, pipelines and split layers included. What a thread does
// in a step stands in thread_step.cpp.

#include <memory>
#include <vector>

#include "lockstep/train/thread_step.hpp"

namespace lockstep {

template <class T>
class ThreadExecutor final : public Executor {
 public:
  explicit ThreadExecutor(TrainingSetup& setup);

  int members() const override { return static_cast<int>(threads_.size()); }
  int step_members() const override { return static_cast<int>(team_.sums.size()); }
  int step_members_for(const Dataset& data) const override;
  int score_members(const Dataset& data) const override;
  void prepare(const Dataset& data) override;
  void begin_fit(const Dataset& data, Profile* profile) override;
  void end_fit(bool complete) override;
  void resume_window(std::int64_t window, std::int64_t samples) override;
  StepResult train_batch(const Member& member, const Batch& batch) override {
    return thread(member).train_batch(member, batch);
  }
  Cost score(const Member& member, const Dataset& data, SlotScores& blocks) override {
    return thread(member).score(member, data, blocks);
  }
  std::vector<double> gradient(const Batch& batch) override;
  bool collect(Collect what) override;
  void average(double share) override;
  void swap_average() override;
  double penalty() override;
  PhaseTimes take_times() override;
  void save(TrainingState& state) const override;
  void restore(const TrainingState& state) override;

 private:
  ThreadStep<T>& thread(const Member& member) { return *threads_[static_cast<std::size_t>(member.index)]; }
  ChunkNeeds chunk_needs(const Sequence<T>& body) const;
  void require_equal_threads();
  void check_state(Collect what);
  int worth_sharing(std::int64_t parts, const Cost& cost, double meeting) const;

  TeamState<T> team_;
  std::vector<std::unique_ptr<ThreadStep<T>>> threads_;
  AlignedBuffer<T> carried_;     // between two windows, of all ranks: once collected, or restored
  std::int64_t saved_ = 0;       // states, with a guard
  std::int64_t tree_bytes_ = 0;  // that the tree had sent at the last take_times
};

}  // namespace lockstep
