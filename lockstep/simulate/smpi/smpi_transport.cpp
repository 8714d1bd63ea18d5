#include "lockstep/simulate/smpi/smpi_transport.hpp"

#include <mpi.h>

#include <bit>
#include <cstdlib>
#include <simgrid/s4u/Actor.hpp>
#include <vector>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/rank_wait.hpp"
#include "lockstep/simulate/alpha_beta.hpp"

namespace lockstep {

namespace {

constexpr double kLook = 20e-6;  // how finely yielding is simulated

double seconds_of(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

class SmpiTransport final : public Transport {
 public:
  SmpiTransport(Traffic& traffic, SmpiOptions options) : traffic_(traffic), options_(std::move(options)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    crowded_ = options_.model.crowded(rank_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_size() const override { return 1; }
  int local_rank() const override { return 0; }
  std::string host() const override { return "node-" + std::to_string(rank_); }
  std::string describe() const override { return "SimGrid"; }

  TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) override {
    ++traffic_.messages;
    traffic_.bytes += static_cast<std::int64_t>(bytes.size());
    compute(options_.model.message_cpu(rank_, to, double(bytes.size())));
    options_.work_off();
    Open& open = take();
    check(
        MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, channel, MPI_COMM_WORLD, &open.request));
    return last_;
  }
  TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) override {
    options_.work_off();
    Open& open = take();
    open.cpu_seconds = options_.model.message_cpu(from, rank_, double(bytes.size()));
    check(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, channel, MPI_COMM_WORLD,
                    &open.request));
    return last_;
  }

  /// Waits: to look again and again would let the simulated clock stand still, or jump. A caller has begun all that
  /// it needs (ranks.cpp), so no rank waits in vain.
  bool finished(TransportRequest request) override {
    Open& open = open_[static_cast<std::size_t>(request)];
    options_.work_off();
    if (waiting_since_ < 0) waiting_since_ = MPI_Wtime();
    // A sum is over when it returns; SMPI's MPI_Test never says so of a request that is none.
    if (open.request != MPI_REQUEST_NULL) crowded_ ? wait_in_turns(open.request) : wait_alone(open.request);
    compute(open.cpu_seconds);
    unused_.push_back(request);
    return true;
  }

  // SMPI's MPI_Iallreduce knows one simple algorithm; MPI_Allreduce chooses as Open MPI does. The library's sum makes
  // no progress while a rank computes either way.
  TransportRequest start_library_sum(std::span<float> values) override { return sum(values, MPI_FLOAT); }
  TransportRequest start_library_sum(std::span<double> values) override { return sum(values, MPI_DOUBLE); }

  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  struct Open {
    MPI_Request request = MPI_REQUEST_NULL;
    double cpu_seconds = 0;  // when it has arrived
  };

  Open& take() {
    waiting_since_ = -1;
    if (unused_.empty()) {
      last_ = static_cast<int>(open_.size());
      open_.emplace_back();
    } else {
      last_ = unused_.back();
      unused_.pop_back();
    }
    return open_[static_cast<std::size_t>(last_)] = {};
  }

  void compute(double seconds) { options_.add_work(seconds); }

  /// The core is free: only the time at which the rank notices matters.
  void wait_alone(MPI_Request& request) {
    check(MPI_Wait(&request, MPI_STATUS_IGNORE));
    const double waited = MPI_Wtime() - waiting_since_, more = noticed_after(options_.model.nap, waited) - waited;
    if (more > 0) simgrid::s4u::this_actor::sleep_for(more);
  }

  /// As Ranks::wait does it: every look takes time from the other ranks of the machine.
  void wait_in_turns(MPI_Request& request) {
    const NapTime& nap = options_.model.nap;
    while (true) {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
      if (done != 0) return;
      const double waited = MPI_Wtime() - waiting_since_;
      if (waited < seconds_of(RankWait::kYield)) {  // computing ranks go first
        simgrid::s4u::this_actor::sleep_for(kLook);
        continue;
      }
      simgrid::s4u::this_actor::sleep_for(
          std::max(nap.seconds - nap.cpu_seconds, seconds_of(RankWait::kNap)) +
          (waited < seconds_of(RankWait::kNapsUntil) ? 0 : seconds_of(RankWait::kSleep - RankWait::kNap)));
      compute(nap.cpu_seconds);
      options_.work_off();
    }
  }

  /// What the processor does of a sum in rounds that swap messages with another rank, where no network does it.
  void compute_sum(double bytes) {
    if (options_.model.empty() || size_ == 1) return;
    const int next = (rank_ + 1) % size_;
    const bool ring = bytes >= kShortSum;
    const double rounds = ring ? 2.0 * (size_ - 1) : std::bit_width(static_cast<unsigned>(size_ - 1));
    compute(rounds * 2 * options_.model.message_cpu(rank_, next, ring ? bytes / size_ : bytes));
  }

  template <class T>
  TransportRequest sum(std::span<T> values, MPI_Datatype type) {
    compute_sum(double(values.size_bytes()));
    const SumTraffic sent = library_sum_traffic(size_, rank_, static_cast<std::int64_t>(values.size()), sizeof(T));
    traffic_.messages += sent.messages;
    traffic_.bytes += sent.bytes;
    options_.work_off();
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, MPI_SUM, MPI_COMM_WORLD));
    take();
    return last_;
  }
  static void check(int error) {
    if (error != MPI_SUCCESS) throw Error(ErrorCode::bug, "SimGrid refuses a message");
  }

  Traffic& traffic_;
  SmpiOptions options_;
  int rank_ = 0, size_ = 1, last_ = 0;
  bool crowded_ = false;
  double waiting_since_ = -1;  // since when it waits for what it has begun; below 0: it does not wait
  std::vector<Open> open_;
  std::vector<int> unused_;
};

}  // namespace

std::unique_ptr<Transport> make_smpi_transport(Traffic& traffic, SmpiOptions options) {
  return std::make_unique<SmpiTransport>(traffic, std::move(options));
}

}  // namespace lockstep
