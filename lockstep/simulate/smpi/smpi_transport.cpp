#include "lockstep/simulate/smpi/smpi_transport.hpp"

#include <mpi.h>

#include <cstdlib>
#include <vector>

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

class SmpiTransport final : public Transport {
 public:
  explicit SmpiTransport(Traffic& traffic) : traffic_(traffic) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_size() const override { return 1; }
  std::string host() const override { return "node-" + std::to_string(rank_); }
  std::string describe() const override { return "SimGrid"; }

  TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) override {
    ++traffic_.messages;
    traffic_.bytes += static_cast<std::int64_t>(bytes.size());
    MPI_Request& request = take();
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, channel, MPI_COMM_WORLD, &request));
    return last_;
  }
  TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) override {
    MPI_Request& request = take();
    check(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, from, channel, MPI_COMM_WORLD, &request));
    return last_;
  }

  /// Waits: to look again and again would let the simulated clock stand still, or jump. Whoever asks has begun all that
  /// it needs (ranks.cpp), so nobody waits in vain.
  bool finished(TransportRequest request) override {
    check(MPI_Wait(&requests_[static_cast<std::size_t>(request)], MPI_STATUS_IGNORE));
    unused_.push_back(request);
    return true;
  }

  // SMPI's MPI_Iallreduce knows one simple algorithm; MPI_Allreduce chooses as Open MPI does. The library's sum makes
  // no progress while a rank computes either way.
  TransportRequest start_library_sum(std::span<float> values) override { return sum(values, MPI_FLOAT); }
  TransportRequest start_library_sum(std::span<double> values) override { return sum(values, MPI_DOUBLE); }

  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  MPI_Request& take() {
    if (unused_.empty()) {
      last_ = static_cast<int>(requests_.size());
      requests_.push_back(MPI_REQUEST_NULL);
    } else {
      last_ = unused_.back();
      unused_.pop_back();
    }
    return requests_[static_cast<std::size_t>(last_)];
  }
  template <class T>
  TransportRequest sum(std::span<T> values, MPI_Datatype type) {
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, MPI_SUM, MPI_COMM_WORLD));
    take() = MPI_REQUEST_NULL;
    return last_;
  }
  static void check(int error) {
    if (error != MPI_SUCCESS) throw Error(ExitCode::bug, "SimGrid refuses a message");
  }

  Traffic& traffic_;
  int rank_ = 0, size_ = 1, last_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<int> unused_;
};

}  // namespace

std::unique_ptr<Transport> make_smpi_transport(Traffic& traffic) { return std::make_unique<SmpiTransport>(traffic); }

}  // namespace lockstep
