#pragma once
// A device that is the host: for tests of what uses a device, with the naive kernels. Copies that are begun happen as
// late as they may, so that whoever forgets to join one computes with what was there before.

#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/device.hpp"

namespace lockstep {

class HostDevice final : public Device {
 public:
  explicit HostDevice(std::int64_t memory_bytes = std::int64_t{1} << 40) {
    info_.backend = info_.name = "host";
    info_.memory_bytes = memory_bytes;
  }
  ~HostDevice() override { forget_constants(); }

  const DeviceInfo& info() const override { return info_; }

  std::byte* allocate(std::int64_t bytes) override {
    ++allocations;
    held_bytes += bytes;
    if (held_bytes > info_.memory_bytes) throw Error(ErrorCode::resources, "the host device is full");
    std::byte* const address = host_memory().allocate(bytes);
    blocks_[address] = bytes;
    return address;
  }
  void release(std::byte* address) noexcept override {
    held_bytes -= blocks_[address];
    blocks_.erase(address);
    host_memory().release(address);
  }
  void copy_within(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    host_memory().copy_within(to, from, bytes);
  }

  void to_device(void* to, const void* from, std::int64_t bytes) override {
    check(to, bytes);
    ++traffic_.copies_to_device;
    traffic_.bytes_to_device += bytes;
    copy_within(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  }
  Ticket begin_to_device(void* to, const void* from, std::int64_t bytes) override {
    begun_[++last_ticket_] = {to, from, bytes};
    return last_ticket_;
  }
  void join(Ticket ticket) override { wait(ticket); }
  void wait(Ticket ticket) override {
    const auto copy = begun_.find(ticket);
    if (copy == begun_.end()) return;
    to_device(copy->second.to, copy->second.from, copy->second.bytes);
    begun_.erase(copy);
  }
  void to_host(void* to, const void* from, std::int64_t bytes) override {
    check(from, bytes);
    ++traffic_.copies_to_host;
    traffic_.bytes_to_host += bytes;
    copy_within(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  }
  void zero(void* address, std::int64_t bytes) override {
    check(address, bytes);
    std::fill_n(static_cast<std::byte*>(address), bytes, std::byte{0});
  }

  /// The two kernels that are no operation of a table (lockstep/kernels/device/ranges.hpp).
  void launch(const Launch& launch) override {
    const bool adds = launch.kernel == "add_l2_ranges";
    if (!adds && launch.kernel != "scale_ranges") throw Error(ErrorCode::bug, "the host device has no such kernel");
    launch.float64 ? over_ranges<double>(launch.arguments, adds) : over_ranges<float>(launch.arguments, adds);
  }
  void flush() override { ++flushes; }
  void synchronize() override { ++synchronizations; }
  void set_timing(bool) override {}
  std::map<std::string, KernelTime> kernel_times() override { return {{"host_kernel", {2, 0.5}}}; }
  CopyTimes copy_times() override { return {{3, 0.25}, {1, 0.125}}; }

  /// Whether these bytes are the device's.
  bool owns(const void* address, std::int64_t bytes) const {
    const auto* const at = static_cast<const std::byte*>(address);
    auto block = blocks_.upper_bound(const_cast<std::byte*>(at));
    return block != blocks_.begin() && at + bytes <= (--block)->first + block->second;
  }

  std::int64_t allocations = 0, held_bytes = 0, flushes = 0, synchronizations = 0;

 private:
  struct Copy {
    void* to;
    const void* from;
    std::int64_t bytes;
  };
  void check(const void* address, std::int64_t bytes) const {
    if (!owns(address, bytes)) throw Error(ErrorCode::bug, "a copy outside of the device's memory");
  }

  template <class T>
  static void over_ranges(std::span<const KernelArgument> arguments, bool adds) {
    const auto pointer = [&](std::size_t i) { return reinterpret_cast<void*>(arguments[i].address()); };
    const T factor = *static_cast<const T*>(arguments[0].value());
    const std::size_t at = adds ? 2 : 1;  // add_l2_ranges takes w before g
    const auto* const w = static_cast<const T*>(pointer(1));
    auto* const g = static_cast<T*>(pointer(at));
    const auto* const places = static_cast<const std::int64_t*>(pointer(at + 1));
    for (std::int64_t k = 0; k < *static_cast<const std::int64_t*>(arguments[at + 2].value()); ++k)
      for (std::int64_t i = places[3 * k + 1]; i < places[3 * k + 2]; ++i)
        g[i] = adds ? std::fma(factor, w[i], g[i]) : g[i] * factor;
  }

  DeviceInfo info_;
  std::map<std::byte*, std::int64_t> blocks_;
  std::map<Ticket, Copy> begun_;
  Ticket last_ticket_ = 0;
};

}  // namespace lockstep
