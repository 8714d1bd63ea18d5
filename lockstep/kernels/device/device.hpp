#pragma once
// A device: memory of its own, copies to and from it, and kernels that run on it. OpenCL (kernels/opencl) and CUDA
// (kernels/cuda) implement this; everything above is written once.
//
// Order: launches, fills and copies of one device happen as if one after the other, in the order of the calls, except
// for copies begun by `begin_to_device`. Launches return at once; to_host waits for all that came before.
// A Device is used by one thread at a time.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/core/aligned.hpp"

namespace lockstep {

struct DeviceInfo {
  std::string backend;                         // "opencl", "cuda"
  std::string id;                              // what selects it: "0:0" for LOCKSTEP_OPENCL_DEVICE, "0" for CUDA
  std::string name, vendor, driver, platform;  // as the driver says them
  std::string kind;                            // "gpu", "cpu", "accelerator"
  std::int64_t memory_bytes = 0, max_allocation_bytes = 0, local_bytes = 0;
  std::int64_t available_bytes =
      0;                           // of the memory, to this rank: without what others and the driver take; 0: not known
  std::int64_t library_bytes = 0;  // the most that a library takes for its own work, beside what it is given
  std::int64_t compute_units = 0, max_group = 1, clock_mhz = 0;
  std::int64_t lanes_float32 = 1, lanes_float64 = 1;  // samples that one work-item takes: 1 on GPUs, a vector on CPUs
  bool is_cpu = false, float64 = true;

  template <class T>
  std::int64_t lanes() const {
    return sizeof(T) == 4 ? lanes_float32 : lanes_float64;
  }
};

/// One argument of a kernel: a device address (null is allowed) or a number, of exactly the kernel's type.
class KernelArgument {
 public:
  enum class Kind { address, int32, int64, uint32, uint64, float32, float64 };

  template <class T>
  KernelArgument(T* address) : kind_(Kind::address), element_(sizeof(T)) {  // NOLINT: arguments are written as they are
    value_.address = reinterpret_cast<std::uint64_t>(address);
  }
  KernelArgument(std::int32_t v) : kind_(Kind::int32), element_(4) { value_.int32 = v; }     // NOLINT
  KernelArgument(std::int64_t v) : kind_(Kind::int64), element_(8) { value_.int64 = v; }     // NOLINT
  KernelArgument(std::uint32_t v) : kind_(Kind::uint32), element_(4) { value_.uint32 = v; }  // NOLINT
  KernelArgument(std::uint64_t v) : kind_(Kind::uint64), element_(8) { value_.uint64 = v; }  // NOLINT
  KernelArgument(float v) : kind_(Kind::float32), element_(4) { value_.float32 = v; }        // NOLINT
  KernelArgument(double v) : kind_(Kind::float64), element_(8) { value_.float64 = v; }       // NOLINT

  Kind kind() const { return kind_; }
  std::uint64_t address() const { return value_.address; }
  std::size_t bytes() const { return element_; }  // of the number, or of one element at the address
  const void* value() const { return &value_; }   // where the number (for CUDA: the address) lies

 private:
  Kind kind_;
  std::size_t element_;
  union {
    std::uint64_t address;
    std::int32_t int32;
    std::int64_t int64;
    std::uint32_t uint32;
    std::uint64_t uint64;
    float float32;
    double float64;
  } value_{};
};

struct Launch {
  std::string_view kernel;  // a name of text/list.hpp
  bool float64 = false;     // which build of it: REAL = double or float
  bool vectors = false;     // which build of it: LANES = info().lanes() or 1; on CUDA they are the same
  std::array<std::int64_t, 3> groups{1, 1, 1}, group_size{1, 1, 1};
  std::span<const KernelArgument> arguments;
};

/// What crossed the bus so far, and how often. A step of training may add batches, targets and scores, nothing else.
struct DeviceTraffic {
  std::int64_t copies_to_device = 0, bytes_to_device = 0;
  std::int64_t copies_to_host = 0, bytes_to_host = 0;
  std::int64_t launches = 0;
};

struct KernelTime {
  std::int64_t launches = 0;
  double seconds = 0;
};

/// The same of copies over the bus.
struct CopyTimes {
  KernelTime to_device, to_host;
};

class Device : public Memory {
 public:
  using Ticket = std::uint64_t;  // of a copy that was begun; 0: none

  virtual const DeviceInfo& info() const = 0;

  /// The bytes at `from` may change when this returns.
  virtual void to_device(void* to, const void* from, std::int64_t bytes) = 0;
  /// Begins a copy beside what runs: nothing launched before may still use `to` (the zeroing of new memory neither:
  /// synchronize first), and `from` must stay as it is until `wait`. What is launched after `join` comes after the
  /// copy; the host does not wait there.
  virtual Ticket begin_to_device(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void join(Ticket ticket) = 0;
  virtual void wait(Ticket ticket) = 0;
  /// Waits for everything before it, and for the copy.
  virtual void to_host(void* to, const void* from, std::int64_t bytes) = 0;
  virtual void zero(void* address, std::int64_t bytes) = 0;

  /// Memory of the host that to_host and to_device copy fastest.
  virtual Memory& staging() { return host_memory(); }

  virtual void launch(const Launch& launch) = 0;
  /// Makes sure that what was launched runs, and does not wait: for a host that now does something else.
  virtual void flush() {}
  virtual void synchronize() = 0;
  /// Keeps what is launched from now on waiting for so long, where the device can: then the launches of a measurement
  /// follow each other, and a kernel's time holds none of the host's.
  virtual void hold(double seconds) { static_cast<void>(seconds); }

  const DeviceTraffic& traffic() const { return traffic_; }

  /// Times of kernels and copies, by the device's clock, are taken only while this is on. Switching it on, once more
  /// too, forgets earlier ones.
  virtual void set_timing(bool on) = 0;
  /// Since timing was switched on; these wait for what is running.
  virtual std::map<std::string, KernelTime> kernel_times() = 0;
  virtual CopyTimes copy_times() = 0;

  /// The address of a small array's copy on the device, kept from call to call by content (the bounds of slots).
  const std::int64_t* constant(std::span<const std::int64_t> values);

 protected:
  /// Gives back what `constant` keeps: for the destructor of an implementation, while it can still release memory.
  void forget_constants() noexcept;

  DeviceTraffic traffic_;

 private:
  std::map<std::vector<std::int64_t>, std::int64_t*> constants_;
};

}  // namespace lockstep
