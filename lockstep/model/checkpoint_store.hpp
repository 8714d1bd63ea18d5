#pragma once
// The checkpoints of a run: checkpoint-<step>.safetensors in its folder, the newest ones of them; and the
// thread that saves them.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lockstep/model/checkpoint.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep {

/// "checkpoint-1200.safetensors"
std::string checkpoint_name(std::int64_t step);
/// The step in such a name; nothing for other names.
std::optional<std::int64_t> checkpoint_step(std::string_view name);

class CheckpointStore {
 public:
  /// The folder must exist when something is saved; only one process may save there at a time. `keep`: how many
  /// checkpoints stay when one is saved; 0: all.
  explicit CheckpointStore(std::filesystem::path folder, std::int64_t keep = 2)
      : folder_(std::move(folder)), keep_(keep) {}

  std::filesystem::path path(std::int64_t step) const { return folder_ / checkpoint_name(step); }

  /// The steps that have a file, newest first.
  std::vector<std::int64_t> steps() const;

  /// Writes the bytes of a checkpoint (write_file_atomically), then removes all but the newest. Error(resources)
  /// when there is no room: the older files are then as they were, and no temporary one is left.
  void save(std::int64_t step, std::span<const std::byte> bytes) const;

  /// The newest checkpoint that validates; `warn` gets one line for each one passed over. Nothing when there is no file
  /// at all; Error(checkpoint) when there are some and none of them can be used.
  std::optional<Checkpoint> load_newest(const std::function<void(const std::string&)>& warn) const;

 private:
  std::filesystem::path folder_;
  std::int64_t keep_;
};

/// The whole, validated file. Error(checkpoint) when it cannot be read or does not validate.
Checkpoint load_checkpoint(const std::filesystem::path& path);

/// What a checkpoint is made of, as it was at one instant between two steps.
struct Snapshot {
  TrainingState state{};
  std::int64_t metrics_bytes = 0, timings_bytes = 0;
  std::string metrics_sha256{};
};

/// Saves checkpoints beside the training: one thread that is handed copies of the state, one at a time.
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
