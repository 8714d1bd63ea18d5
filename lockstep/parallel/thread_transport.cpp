#include "lockstep/parallel/thread_transport.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/team.hpp"

namespace lockstep {

namespace {

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
      throw Error(ExitCode::bug, fmt::format("a message of {} bytes where {} were expected", message.size(),
                                             found->second.bytes.size()));
    std::copy(message.begin(), message.end(), found->second.bytes.begin());
    receives_.erase(found);
    return true;
  }

  TransportRequest start_library_sum(std::span<float>) override { return no_library(); }
  TransportRequest start_library_sum(std::span<double>) override { return no_library(); }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  [[noreturn]] static TransportRequest no_library() { throw Error(ExitCode::bug, "threads have no library's sum"); }

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

}  // namespace

std::vector<std::unique_ptr<Transport>> make_thread_transports(int size) {
  const auto mail = std::make_shared<Mailboxes>(size);
  std::vector<std::unique_ptr<Transport>> ends;
  for (int rank = 0; rank < size; ++rank) ends.push_back(std::make_unique<ThreadTransport>(mail, rank));
  return ends;
}

}  // namespace lockstep
