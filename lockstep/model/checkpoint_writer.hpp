#pragma once
// Saves checkpoints beside the training: one thread that is handed copies of the state, one at a time.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// What a checkpoint is made of, as it was at one instant between two steps.
struct Snapshot {
  TrainingState state{};
  std::int64_t metrics_bytes = 0, timings_bytes = 0;
  std::string metrics_sha256{};
};

class CheckpointWriter {
 public:
  /// `save` is called on the writer's thread (which starts with the first snapshot), never twice at once.
  explicit CheckpointWriter(std::function<void(const Snapshot&)> save);
  /// Lets a save under way end; its failure is lost.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// True when nothing is under way. Throws what the last save threw.
  bool idle();
  /// Returns at once; only when idle.
  void hand_over(Snapshot snapshot);
  /// Waits for the save under way. Throws what it threw.
  void wait();

 private:
  void run();
  void rethrow();

  std::function<void(const Snapshot&)> save_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Snapshot> next_;  // under way, until it is saved
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace lockstep
