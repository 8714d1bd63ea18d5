#include <algorithm>
#include <cstdlib>

#include "lockstep/parallel/transport.hpp"

namespace lockstep {

namespace {

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
  bool shares_cores() const override { return all_.shares_cores(); }
  std::string host() const override { return all_.host(); }
  std::string describe() const override { return all_.describe(); }
  bool takes_memory_of(std::string_view backend) const override { return all_.takes_memory_of(backend); }

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

std::unique_ptr<Transport> make_group_transport(Transport& all, std::vector<int> ranks, int channel) {
  return std::make_unique<GroupTransport>(all, std::move(ranks), channel);
}

}  // namespace lockstep
