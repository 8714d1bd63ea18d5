#pragma once
// Protection against processors that compute wrongly ([guard], docs/design/0055-guard.md). A share of the chunks of a
// step, drawn by (seed, step, number of the chunk within its thread), is computed a second time by the next thread of
// the team, on another core, and compared bit by bit. All threads draw the same numbers, so that none waits for the
// others. After a difference the step is repeated with every chunk computed twice; plain loops decide who was wrong. A
// core that is wrong again in the same step is left out from then on.
//
// Flipped bits in memory between steps are the matter of state_sums.hpp.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "lockstep/core/planted_fault.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// The core that runs this thread.
int current_core();

/// Until the end of its scope the thread does not run on `core`, nor on the others to avoid, where the system has
/// another one for it.
class AwayFromCore {
 public:
  AwayFromCore(int core, std::vector<int> avoided);
  ~AwayFromCore();
  AwayFromCore(const AwayFromCore&) = delete;
  AwayFromCore& operator=(const AwayFromCore&) = delete;

 private:
  std::vector<int> before_{};  // empty: the thread was not moved
};

/// What two computations of a chunk disagree in.
struct ChunkDifference {
  std::int64_t step = 0, slot = 0;  // from 0; the first slot of the chunk
  std::string what{};               // "the gradient of 2.weight[17]"
  double first = 0, second = 0;
  int first_core = 0, second_core = 0;
  /// Which of them the plain loops agree with; neither: -1.
  int right = -1;
};

/// Of one rank; for all its threads.
class Guard {
 public:
  /// How often a step is tried.
  static constexpr int kAttempts = 4;

  Guard(const GuardOptions& options, std::uint64_t seed, int rank, std::string host);

  /// Whether chunk `number` of every thread is computed twice in this step.
  bool draws(std::int64_t step, std::int64_t number) const;
  const PlantedFault& planted() const { return planted_; }

  void note_rechecked() { rechecked_.fetch_add(1, std::memory_order_relaxed); }
  void note_difference(const ChunkDifference& difference);
  std::int64_t differences() const { return differences_.load(std::memory_order_acquire); }
  GuardCounts counts() const { return {rechecked_.load(std::memory_order_relaxed), differences()}; }
  /// The lines since the last call.
  std::vector<std::string> take_lines();
  /// Error(integrity) for a step that stays wrong.
  [[noreturn]] void give_up(std::int64_t step);

  /// Moves this thread away from the cores that are left out, once for each. `settled` is its own count of them.
  /// Error(integrity) where no core is left.
  void leave_cores(std::size_t& settled);
  std::vector<int> left_out();

 private:
  const double share_;
  const std::uint64_t seed_;
  const int rank_;
  const std::string host_;
  const PlantedFault planted_;
  std::atomic<std::int64_t> rechecked_{0}, differences_{0};
  std::atomic<std::size_t> left_out_count_{0};
  std::mutex mutex_;  // of what follows
  std::vector<std::string> lines_{};
  std::string last_{};
  std::vector<int> wrong_{};  // cores, in step wrong_step_
  std::int64_t wrong_step_ = -1;
  std::vector<int> left_out_{};  // cores
};

}  // namespace lockstep
