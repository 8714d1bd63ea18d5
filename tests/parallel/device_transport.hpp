#pragma once
// A transport that takes the addresses of a device, as an MPI library built with CUDA does: it reads and writes the
// device's memory behind the device's back, so whoever does not wait for a kernel sends what was there before.

#include <functional>
#include <memory>
#include <string>

#include "lockstep/parallel/transport.hpp"

namespace lockstep {

class DeviceTransport final : public Transport {
 public:
  /// Where the host may touch bytes of the device's memory; null where they are not the device's.
  using Reach = std::function<std::byte*(const std::byte* address, std::size_t bytes)>;

  DeviceTransport(std::unique_ptr<Transport> inner, std::string backend, Reach reach = {})
      : reach_(std::move(reach)), inner_(std::move(inner)), backend_(std::move(backend)) {}

  /// For a device that is opened later.
  void set_reach(Reach reach) { reach_ = std::move(reach); }
  std::size_t bytes_from_device() const { return bytes_from_device_; }
  std::size_t bytes_to_device() const { return bytes_to_device_; }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  int local_size() const override { return inner_->local_size(); }
  int local_rank() const override { return inner_->local_rank(); }
  bool shares_cores() const override { return inner_->shares_cores(); }
  std::string host() const override { return inner_->host(); }
  std::string describe() const override { return inner_->describe(); }
  bool takes_memory_of(std::string_view backend) const override { return backend == backend_; }

  TransportRequest start_send(int to, int channel, std::span<const std::byte> bytes) override {
    if (std::byte* const at = reach_ ? reach_(bytes.data(), bytes.size()) : nullptr; at != nullptr) {
      bytes_from_device_ += bytes.size();
      bytes = {at, bytes.size()};
    }
    return inner_->start_send(to, channel, bytes);
  }
  TransportRequest start_receive(int from, int channel, std::span<std::byte> bytes) override {
    if (std::byte* const at = reach_ ? reach_(bytes.data(), bytes.size()) : nullptr; at != nullptr) {
      bytes_to_device_ += bytes.size();
      bytes = {at, bytes.size()};
    }
    return inner_->start_receive(from, channel, bytes);
  }
  bool finished(TransportRequest request) override { return inner_->finished(request); }
  TransportRequest start_library_sum(std::span<float> values) override { return inner_->start_library_sum(values); }
  TransportRequest start_library_sum(std::span<double> values) override { return inner_->start_library_sum(values); }
  [[noreturn]] void abort(int exit_code) override {
    inner_->abort(exit_code);
    std::_Exit(exit_code);
  }

 private:
  Reach reach_;
  std::unique_ptr<Transport> inner_;
  std::string backend_;
  std::size_t bytes_from_device_ = 0, bytes_to_device_ = 0;
};

}  // namespace lockstep
