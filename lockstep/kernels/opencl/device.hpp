#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/opencl/api.hpp"
#include "lockstep/kernels/opencl/devices.hpp"
#include "lockstep/kernels/opencl/programs.hpp"

namespace lockstep::opencl {

/// OpenCL 1.2 knows buffers, not addresses. This gives every buffer a range of the process's addresses that nobody can
/// read: it can be offset like any pointer, translates back to (buffer, offset), and a host that follows it stops at
/// once.
class AddressSpace {
 public:
  struct Place {
    cl_mem buffer;
    std::size_t offset;  // bytes
  };

  AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  /// Takes over the buffer.
  std::byte* add(cl_mem buffer, std::int64_t bytes);
  /// Releases the buffer behind `address`, which `add` returned.
  void remove(std::byte* address) noexcept;
  /// Throws Error(bug) for an address that is not of this device.
  Place find(std::uint64_t address) const;

 private:
  struct Range {
    std::size_t bytes, mapped;
    cl_mem buffer;
  };
  std::map<std::uint64_t, Range> ranges_;  // by first address
};

/// One queue for everything in order, one beside it for copies that run while kernels do.
class OpenClDevice : public Device {
 public:
  explicit OpenClDevice(const Found& found);
  ~OpenClDevice() override;

  std::byte* allocate(std::int64_t bytes) override;
  void release(std::byte* address) noexcept override { addresses_.remove(address); }
  void copy_within(std::byte* to, const std::byte* from, std::int64_t bytes) override;

  const DeviceInfo& info() const override { return found_.info; }
  void to_device(void* to, const void* from, std::int64_t bytes) override;
  Ticket begin_to_device(void* to, const void* from, std::int64_t bytes) override;
  void join(Ticket ticket) override;
  void wait(Ticket ticket) override;
  void to_host(void* to, const void* from, std::int64_t bytes) override;
  void zero(void* address, std::int64_t bytes) override;
  void launch(const Launch& launch) override;
  void flush() override;
  void synchronize() override;
  void set_timing(bool on) override;
  std::map<std::string, KernelTime> kernel_times() override;
  CopyTimes copy_times() override;
  /// What `enqueue` puts into the queue counts as one launch of `name`: a library starts kernels of its own.
  void time_as(const std::string& name, const std::function<void()>& enqueue);

  // For libraries that enqueue their own kernels (CLBlast), and for tests.
  cl_command_queue queue() const { return queue_; }
  AddressSpace::Place place(const void* address) const;
  const Programs& programs() const { return programs_; }

 private:
  /// Commands that have not been added to `sum` yet: those from the end of `before` (null: from the start of `last`)
  /// to the end of `last`.
  struct Timed {
    KernelTime* sum;
    cl_event before, last;
  };
  static void release(const Timed& timed);
  void keep(const Timed& timed);
  void write(cl_command_queue queue, cl_bool wait, void* to, const void* from, std::int64_t bytes, cl_event* event);
  void collect_times();
  cl_event mark();
  cl_context make_context();
  cl_command_queue make_queue();

  Found found_;
  DriverAbort abort_;
  cl_context context_;
  cl_command_queue queue_, copies_;
  AddressSpace addresses_;
  Programs programs_;
  std::map<Ticket, cl_event> begun_;
  Ticket last_ticket_ = 0;
  bool timing_ = false;
  std::deque<Timed> timed_;
  std::map<std::string, KernelTime> times_;
  CopyTimes copy_times_;
};

/// Whether a device computes as IEEE 754 says. What a driver declares (CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) is not
/// believed, either way: a few thousand hard cases are computed on the device, compiled as kernels are, and compared
/// with the host's bits: division, square root, fma, products and sums (also denormal ones) and that a product and a
/// sum are not fused, in float32 and float64, in scalars and in vectors. Throws Error(usage) that names the first
/// operation that differs. A device that has passed is not asked again in this process.
void probe(Device& device);

}  // namespace lockstep::opencl
