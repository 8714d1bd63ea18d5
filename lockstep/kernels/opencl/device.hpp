#pragma once
#include <deque>
#include <functional>
#include <map>
#include <string>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/opencl/address_space.hpp"
#include "lockstep/kernels/opencl/devices.hpp"
#include "lockstep/kernels/opencl/driver_abort.hpp"
#include "lockstep/kernels/opencl/programs.hpp"

namespace lockstep::opencl {

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
  void keep(const Timed& timed);
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

}  // namespace lockstep::opencl
