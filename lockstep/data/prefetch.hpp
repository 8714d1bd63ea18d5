#pragma once
// Samples of a file or a folder, read by a thread before they are asked for. It changes when bytes are read, never
// which.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace lockstep {

class Prefetcher {
 public:
  using Read = std::function<std::vector<std::byte>(std::int64_t id)>;

  /// `read` is called by the thread, which starts with the first request. What it throws is dropped: whoever asks for
  /// that sample reads it again, and meets the error.
  explicit Prefetcher(Read read) : read_(std::move(read)) {}
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// These samples will be asked for next. What was requested before the last time is dropped, and so is what would
  /// take more than 64 MiB.
  void request(std::span<const std::int64_t> ids);
  /// The bytes of a sample, which are forgotten with that; empty where it has not been read.
  std::vector<std::byte> take(std::int64_t id);

 private:
  void start();
  void work();

  struct Sample {
    std::vector<std::byte> bytes;
    std::int64_t round = 0;
  };
  Read read_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> wanted_;  // not yet read, the next one last
  std::map<std::int64_t, Sample> read_ahead_;
  std::int64_t round_ = 0, bytes_ = 0;
  bool ends_ = false, started_ = false;
  std::thread thread_;
};

}  // namespace lockstep
