#include "lockstep/parallel/transport.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep {

namespace {

class SelfTransport final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int local_size() const override { return 1; }
  int local_rank() const override { return 0; }
  std::string host() const override { return "localhost"; }
  std::string describe() const override { return "one process"; }
  TransportRequest start_send(int, int, std::span<const std::byte>) override { return alone(); }
  TransportRequest start_receive(int, int, std::span<std::byte>) override { return alone(); }
  bool finished(TransportRequest) override { return true; }
  TransportRequest start_library_sum(std::span<float>) override { return 0; }
  TransportRequest start_library_sum(std::span<double>) override { return 0; }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  [[noreturn]] static TransportRequest alone() { throw Error(ErrorCode::bug, "a single rank has no peers"); }
};

/// The messages under way: copies, so that a send is finished at once.
struct Mailboxes {
  using Key = std::tuple<int, int, int>;  // sender, receiver, channel

  explicit Mailboxes(int ranks) : size(ranks) {}

  const int size;
  std::mutex mutex;
  std::map<Key, std::deque<std::vector<std::byte>>> queues;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(std::shared_ptr<Mailboxes> mail, int rank) : mail_(std::move(mail)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return mail_->size; }
  int local_size() const override { return mail_->size; }
  int local_rank() const override { return rank(); }
  bool shares_cores() const override { return mail_->size > available_cpus(); }
  std::string host() const override { return "localhost"; }
  std::string describe() const override { return "threads of one process"; }

  TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) override {
    const std::lock_guard lock(mail_->mutex);
    mail_->queues[{rank_, to, channel}].emplace_back(bytes.begin(), bytes.end());
    return kSent;
  }

  TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) override {
    const std::lock_guard lock(mail_->mutex);
    receives_.emplace(++last_, Receive{{from, rank_, channel}, bytes});
    return last_;
  }

  bool finished(TransportRequest request) override {
    if (request == kSent) return true;
    const std::lock_guard lock(mail_->mutex);
    const auto found = receives_.find(request);
    // Earlier receives from the same rank come first.
    for (auto earlier = receives_.begin(); earlier != found; ++earlier)
      if (earlier->second.key == found->second.key) return false;
    auto& queue = mail_->queues[found->second.key];
    if (queue.empty()) return false;
    const std::vector<std::byte> message = std::move(queue.front());
    queue.pop_front();
    if (message.size() != found->second.bytes.size())
      throw Error(ErrorCode::bug, fmt::format("a message of {} bytes where {} were expected", message.size(),
                                              found->second.bytes.size()));
    std::copy(message.begin(), message.end(), found->second.bytes.begin());
    receives_.erase(found);
    return true;
  }

  TransportRequest start_library_sum(std::span<float>) override { return no_library(); }
  TransportRequest start_library_sum(std::span<double>) override { return no_library(); }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  [[noreturn]] static TransportRequest no_library() { throw Error(ErrorCode::bug, "threads have no library's sum"); }

  static constexpr TransportRequest kSent = 0;
  struct Receive {
    Mailboxes::Key key;
    std::span<std::byte> bytes;
  };

  std::shared_ptr<Mailboxes> mail_;
  int rank_;
  std::map<TransportRequest, Receive> receives_;  // guarded by the mailboxes' mutex too
  TransportRequest last_ = kSent;
};

class GroupTransport final : public Transport {
 public:
  GroupTransport(Transport& all, std::vector<int> ranks, int channel)
      : all_(all),
        ranks_(std::move(ranks)),
        own_(static_cast<int>(std::find(ranks_.begin(), ranks_.end(), all.rank()) - ranks_.begin())),
        channel_(channel) {}

  int rank() const override { return own_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  int local_size() const override { return all_.local_size(); }
  int local_rank() const override { return all_.local_rank(); }
  bool shares_cores() const override { return all_.shares_cores(); }
  std::string host() const override { return all_.host(); }
  std::string describe() const override { return all_.describe(); }
  bool takes_memory_of(std::string_view backend) const override { return all_.takes_memory_of(backend); }
  void check_messages(bool on) override { all_.check_messages(on); }
  const Transport& innermost() const override { return all_.innermost(); }

  TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) override {
    return all_.start_send(ranks_[static_cast<std::size_t>(to)], channel_ + channel, bytes);
  }
  TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) override {
    return all_.start_receive(ranks_[static_cast<std::size_t>(from)], channel_ + channel, bytes);
  }
  bool finished(TransportRequest request) override { return all_.finished(request); }
  TransportRequest start_library_sum(std::span<float> values) override { return all_.start_library_sum(values); }
  TransportRequest start_library_sum(std::span<double> values) override { return all_.start_library_sum(values); }
  [[noreturn]] void abort(int exit_code) override {
    all_.abort(exit_code);
    std::_Exit(exit_code);
  }

 private:
  Transport& all_;
  std::vector<int> ranks_;
  int own_, channel_;
};

}  // namespace

std::unique_ptr<Transport> make_self_transport() { return std::make_unique<SelfTransport>(); }

std::vector<std::unique_ptr<Transport>> make_thread_transports(int size) {
  const auto mail = std::make_shared<Mailboxes>(size);
  std::vector<std::unique_ptr<Transport>> ends;
  for (int rank = 0; rank < size; ++rank) ends.push_back(std::make_unique<ThreadTransport>(mail, rank));
  return ends;
}

std::unique_ptr<Transport> make_group_transport(Transport& all, std::vector<int> ranks, int channel) {
  return std::make_unique<GroupTransport>(all, std::move(ranks), channel);
}

}  // namespace lockstep
