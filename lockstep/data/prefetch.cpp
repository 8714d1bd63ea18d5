#include "lockstep/data/prefetch.hpp"

#include <csignal>
#include <system_error>
#include <utility>

namespace lockstep {

namespace {

constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

}  // namespace

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

/// Where there is no room for a thread, samples are read when they are asked for.
void Prefetcher::start() {
  started_ = true;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals go to the threads of the program
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Prefetcher::request(std::span<const std::int64_t> ids) {
  {
    const std::lock_guard lock(mutex_);
    if (!started_) start();
    if (!thread_.joinable()) return;
    ++round_;
    std::erase_if(read_ahead_, [&](const auto& entry) {
      const bool old = entry.second.round < round_ - 1;
      if (old) bytes_ -= static_cast<std::int64_t>(entry.second.bytes.size());
      return old;
    });
    wanted_.assign(ids.rbegin(), ids.rend());
  }
  changed_.notify_all();
}

std::vector<std::byte> Prefetcher::take(std::int64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = read_ahead_.find(id);
  if (found == read_ahead_.end()) return {};
  std::vector<std::byte> bytes = std::move(found->second.bytes);
  bytes_ -= static_cast<std::int64_t>(bytes.size());
  read_ahead_.erase(found);
  return bytes;
}

void Prefetcher::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ends_ || (!wanted_.empty() && bytes_ < kMostBytes); });
    if (ends_) return;
    const std::int64_t id = wanted_.back(), round = round_;
    wanted_.pop_back();
    if (read_ahead_.contains(id)) continue;
    lock.unlock();
    std::vector<std::byte> bytes;
    try {
      bytes = read_(id);
    } catch (...) {  // as the header says
    }
    lock.lock();
    if (bytes.empty() || read_ahead_.contains(id)) continue;
    bytes_ += static_cast<std::int64_t>(bytes.size());
    read_ahead_.emplace(id, Sample{std::move(bytes), round});
  }
}

}  // namespace lockstep
