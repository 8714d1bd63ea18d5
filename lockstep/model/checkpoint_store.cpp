#include "lockstep/model/checkpoint_store.hpp"

#include <algorithm>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/watchdog.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".safetensors";

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("{}{}{}", kPrefix, step, kSuffix); }

std::optional<std::int64_t> checkpoint_step(std::string_view name) {
  if (name.size() <= kPrefix.size() + kSuffix.size() || !name.starts_with(kPrefix) || !name.ends_with(kSuffix))
    return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  const auto step = parse_number<std::int64_t>(digits);
  // Only what checkpoint_name writes: no sign, no leading zero.
  return step && *step >= 0 && checkpoint_name(*step) == name ? step : std::nullopt;
}

std::vector<std::int64_t> CheckpointStore::steps() const {
  std::vector<std::int64_t> found;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    if (const auto step = checkpoint_step(it->path().filename().string())) found.push_back(*step);
  if (error && error != std::errc::no_such_file_or_directory)
    fail_system(ErrorCode::resources, fmt::format("{}: cannot list the folder", folder_.string()), error.value());
  std::ranges::sort(found, std::greater());
  return found;
}

void CheckpointStore::save(std::int64_t step, std::span<const std::byte> bytes) const {
  write_file_atomically(path(step), bytes);
  const std::vector<std::int64_t> present = steps();
  for (std::size_t i = static_cast<std::size_t>(keep_); keep_ > 0 && i < present.size(); ++i) {
    std::error_code error;
    fs::remove(path(present[i]), error);
    if (error)
      fail_system(ErrorCode::resources, fmt::format("{}: cannot remove", path(present[i]).string()), error.value());
  }
}

std::optional<Checkpoint> CheckpointStore::load_newest(const std::function<void(const std::string&)>& warn) const {
  const std::vector<std::int64_t> present = steps();
  for (const std::int64_t step : present) {
    try {
      return load_checkpoint(path(step));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::checkpoint) throw;
      if (step == present.back())
        throw Error(ErrorCode::checkpoint,
                    fmt::format("{}{}", error.what(),
                                present.size() == 1 ? "; there is no other in this folder: train anew"
                                                    : "; no checkpoint in this folder can be used: train anew"));
      warn(fmt::format("{}; trying the checkpoint before it", error.what()));
    }
  }
  return std::nullopt;
}

Checkpoint load_checkpoint(const fs::path& path) {
  return parse_checkpoint(read_file(path, std::numeric_limits<std::int64_t>::max(), ErrorCode::checkpoint),
                          path.string());
}

CheckpointWriter::CheckpointWriter(std::function<void(const Snapshot&)> save) : save_(std::move(save)) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool CheckpointWriter::idle() {
  const std::lock_guard lock(mutex_);
  rethrow();
  return !next_;
}

void CheckpointWriter::hand_over(Snapshot snapshot) {
  try {
    if (!thread_.joinable()) thread_ = start_quiet_thread([this] { run(); });
  } catch (const std::system_error& error) {
    fail_system(ErrorCode::resources, "cannot start a thread for checkpoints", error.code().value());
  }
  {
    const std::lock_guard lock(mutex_);
    rethrow();
    if (next_) throw Error(ErrorCode::bug, "checkpoint writer: one is still being saved");
    next_ = std::move(snapshot);
  }
  changed_.notify_all();
}

void CheckpointWriter::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !next_; });
  rethrow();
}

/// With the lock held.
void CheckpointWriter::rethrow() {
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void CheckpointWriter::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return next_ || ending_; });
    if (!next_) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      save_(*next_);  // no other thread touches next_ until it is reset
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    next_.reset();
    failure_ = failure;
    changed_.notify_all();
  }
}

}  // namespace lockstep
