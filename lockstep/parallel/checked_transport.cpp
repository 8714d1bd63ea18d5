// A checksum travels with every message: behind the bytes of a short one, as a message of its own behind a long one.
// The sizes of messages are known to both sides, so both know which.

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/checksum.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/planted_fault.hpp"
#include "lockstep/parallel/transport.hpp"

namespace lockstep {

namespace {

/// Up to here a copy of the bytes costs less than a second message.
constexpr std::size_t kMostStaged = 8192;

class CheckedTransport final : public Transport {
 public:
  explicit CheckedTransport(std::unique_ptr<Transport> inner)
      : inner_(std::move(inner)), planted_(PlantedFault::from_environment()) {}

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int local_size() const override { return inner_->local_size(); }
  int local_rank() const override { return inner_->local_rank(); }
  bool shares_cores() const override { return inner_->shares_cores(); }
  std::string host() const override { return inner_->host(); }
  std::string describe() const override { return inner_->describe(); }
  bool takes_memory_of(std::string_view backend) const override { return inner_->takes_memory_of(backend); }
  const Transport& innermost() const override { return inner_->innermost(); }
  void check_messages(bool on) override { checks_ = on; }

  TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) override {
    const auto [number, message] = take();
    message->peer = to;
    message->received = {};
    if (!checks_) {
      message->main = inner_->start_send(to, channel, bytes);
      return number;
    }
    message->sum = checksum(bytes);
    if (bytes.size() <= kMostStaged) {
      message->staged.resize(bytes.size() + sizeof message->sum);
      std::memcpy(message->staged.data(), bytes.data(), bytes.size());
      std::memcpy(message->staged.data() + bytes.size(), &message->sum, sizeof message->sum);
      message->main = inner_->start_send(to, channel, message->staged);
      return number;
    }
    message->main = inner_->start_send(to, channel, bytes);
    message->second = inner_->start_send(to, channel, std::as_bytes(std::span(&message->sum, 1)));
    message->has_second = true;
    return number;
  }

  TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) override {
    const auto [number, message] = take();
    message->peer = from;
    message->received = bytes;
    if (!checks_) {
      message->received = {};
      message->main = inner_->start_receive(from, channel, bytes);
      return number;
    }
    if (bytes.size() <= kMostStaged) {
      message->staged.resize(bytes.size() + sizeof message->sum);
      message->main = inner_->start_receive(from, channel, message->staged);
      return number;
    }
    message->main = inner_->start_receive(from, channel, bytes);
    message->second = inner_->start_receive(from, channel, std::as_writable_bytes(std::span(&message->sum, 1)));
    message->has_second = true;
    return number;
  }

  bool finished(TransportRequest request) override {
    Message& message = at(request);
    if (!message.main_done) message.main_done = inner_->finished(message.main);
    if (!message.main_done) return false;
    if (message.has_second) {
      if (!inner_->finished(message.second)) return false;
      message.has_second = false;
    }
    if (!message.is_sum) verify(message);
    give_back(request);
    return true;
  }

  TransportRequest start_library_sum(std::span<float> values) override {
    return library_sum(inner_->start_library_sum(values));
  }
  TransportRequest start_library_sum(std::span<double> values) override {
    return library_sum(inner_->start_library_sum(values));
  }
  [[noreturn]] void abort(int exit_code) override {
    inner_->abort(exit_code);
    std::_Exit(exit_code);
  }

 private:
  struct Message {
    TransportRequest main = 0, second = 0;
    bool main_done = false, has_second = false;
    bool is_sum = false;  // of the library
    int peer = 0;
    std::span<std::byte> received{};  // empty: it was sent, or is not checked
    std::uint64_t sum = 0;
    std::vector<std::byte> staged{};  // the bytes and their sum, where both are one message
  };
  struct Taken {
    TransportRequest number;
    Message* message;
  };

  Taken take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) {
      free_.push_back(static_cast<TransportRequest>(messages_.size()));
      messages_.emplace_back();
    }
    const TransportRequest number = free_.back();
    free_.pop_back();
    Message& message = messages_[static_cast<std::size_t>(number)];
    message.main_done = message.has_second = message.is_sum = false;
    message.staged.clear();
    return {number, &message};
  }
  Message& at(TransportRequest request) {
    const std::lock_guard lock(mutex_);
    return messages_[static_cast<std::size_t>(request)];
  }
  void give_back(TransportRequest request) {
    const std::lock_guard lock(mutex_);
    free_.push_back(request);
  }

  TransportRequest library_sum(TransportRequest request) {
    const auto [number, message] = take();
    message->main = request;
    message->is_sum = true;
    return number;
  }

  void verify(Message& message) {
    if (message.received.empty()) return;
    std::span<std::byte> bytes = message.received;
    if (!message.staged.empty()) {
      bytes = std::span(message.staged).first(message.received.size());
      std::memcpy(&message.sum, message.staged.data() + bytes.size(), sizeof message.sum);
    }
    if (planted_.any() && planted_.is_due("message", ++received_)) bytes[bytes.size() / 2] ^= std::byte{16};
    if (checksum(bytes) != message.sum)
      throw Error(
          ErrorCode::integrity,
          fmt::format("a message of {} bytes from rank {} to rank {} on {} arrived with other bits than were sent; "
                      "memory or network between them is faulty: go on from the last checkpoint",
                      bytes.size(), message.peer, rank(), host()));
    if (!message.staged.empty()) std::memcpy(message.received.data(), bytes.data(), bytes.size());
  }

  std::unique_ptr<Transport> inner_;
  const PlantedFault planted_;
  bool checks_ = true;
  std::mutex mutex_;  // of messages_ and free_; a message belongs to the thread that started it
  std::deque<Message> messages_{};
  std::vector<TransportRequest> free_{};
  std::atomic<std::int64_t> received_{0};
};

}  // namespace

std::unique_ptr<Transport> make_checked_transport(std::unique_ptr<Transport> inner) {
  return std::make_unique<CheckedTransport>(std::move(inner));
}

}  // namespace lockstep
