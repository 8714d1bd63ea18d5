#include "lockstep/simulate/silent_transport.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace lockstep {

namespace {

constexpr std::size_t kShort = 16;  // a length, or a small number as text

class SilentTransport final : public Transport {
 public:
  SilentTransport(int rank, int size) : rank_(rank), size_(size), said_(static_cast<std::size_t>(size)) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_size() const override { return size_; }
  std::string host() const override { return "localhost"; }
  std::string describe() const override { return "nobody else"; }

  TransportRequest start_send(int to, int, std::span<const std::byte> bytes) override {
    if (bytes.size() <= kShort) said_[static_cast<std::size_t>(to)].assign(bytes.begin(), bytes.end());
    return 0;
  }
  TransportRequest start_receive(int from, int, std::span<std::byte> bytes) override {
    const std::vector<std::byte>& said = said_[static_cast<std::size_t>(from)];
    if (bytes.size() == said.size()) std::copy(said.begin(), said.end(), bytes.begin());
    return 0;
  }
  bool finished(TransportRequest) override { return true; }
  TransportRequest start_library_sum(std::span<float>) override { return 0; }
  TransportRequest start_library_sum(std::span<double>) override { return 0; }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  int rank_, size_;
  std::vector<std::vector<std::byte>> said_;  // to whom, the last short one
};

}  // namespace

std::unique_ptr<Transport> make_silent_transport(int rank, int size) {
  return std::make_unique<SilentTransport>(rank, size);
}

}  // namespace lockstep
