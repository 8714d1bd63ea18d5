#include "lockstep/kernels/opencl/device.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"

namespace lockstep {

namespace opencl {

namespace {

constexpr std::size_t kEventsKept = 4096;
constexpr std::size_t kPage = 4096;

void refuse_single(const DeviceInfo& info) {
  if (info.float64) return;
  throw Error(ErrorCode::usage,
              fmt::format("backend opencl: {} has no float64, which the scores of training need; "
                          "choose another device with LOCKSTEP_OPENCL_DEVICE, or use the backend simd",
                          info.name));
}

std::size_t size_of(std::int64_t bytes) { return static_cast<std::size_t>(bytes); }

}  // namespace

AddressSpace::~AddressSpace() {
  while (!ranges_.empty()) remove(reinterpret_cast<std::byte*>(ranges_.begin()->first));  // NOLINT
}

std::byte* AddressSpace::add(cl_mem buffer, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t mapped = (size / kPage + 2) * kPage;  // and a page that belongs to no buffer
  void* const address = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    api().clReleaseMemObject(buffer);
    fail_system(ErrorCode::resources, "cannot reserve addresses for device memory", errno);
  }
  ranges_.emplace(reinterpret_cast<std::uint64_t>(address), Range{size, mapped, buffer});
  return static_cast<std::byte*>(address);
}

void AddressSpace::remove(std::byte* address) noexcept {
  const auto found = ranges_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == ranges_.end()) return;
  api().clReleaseMemObject(found->second.buffer);
  munmap(address, found->second.mapped);
  ranges_.erase(found);
}

AddressSpace::Place AddressSpace::find(std::uint64_t address) const {
  auto after = ranges_.upper_bound(address);
  if (after != ranges_.begin()) {
    const auto& [first, range] = *--after;
    // One past the end is an address too: of nothing, which may be copied.
    if (address - first <= range.bytes) return {range.buffer, static_cast<std::size_t>(address - first)};
  }
  throw Error(ErrorCode::bug, "an address of the host was given to a device");
}

cl_context OpenClDevice::make_context() {
  refuse_single(found_.info);
  cl_int status = CL_SUCCESS;
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(found_.platform), 0};
  cl_context made = api().clCreateContext(properties, 1, &found_.device, nullptr, nullptr, &status);
  check(status, "a context on " + found_.info.name);
  return made;
}

cl_command_queue OpenClDevice::make_queue() {
  cl_int status = CL_SUCCESS;
  cl_command_queue made = api().clCreateCommandQueue(context_, found_.device, CL_QUEUE_PROFILING_ENABLE, &status);
  check(status, "a queue on " + found_.info.name);
  return made;
}

OpenClDevice::OpenClDevice(const Found& found)
    : found_(found),
      abort_(found.info),
      context_(make_context()),
      queue_(make_queue()),
      copies_(make_queue()),
      programs_(context_, found_) {}

OpenClDevice::~OpenClDevice() {
  api().clFinish(queue_);
  api().clFinish(copies_);
  forget_constants();
  for (const auto& [ticket, event] : begun_) api().clReleaseEvent(event);
  for (const Timed& timed : timed_) release(timed);
  api().clReleaseCommandQueue(queue_);
  api().clReleaseCommandQueue(copies_);
  api().clReleaseContext(context_);  // buffers, programs and kernels hold it until they go
}

AddressSpace::Place OpenClDevice::place(const void* address) const {
  return addresses_.find(reinterpret_cast<std::uint64_t>(address));
}

std::byte* OpenClDevice::allocate(std::int64_t bytes) {
  if (bytes > found_.info.max_allocation_bytes)
    throw Error(
        ErrorCode::resources,
        fmt::format("{} gives at most {} MB at once, and {} MB are wanted: use a smaller batch, or the backend simd",
                    found_.info.name, found_.info.max_allocation_bytes >> 20, bytes >> 20));
  cl_int status = CL_SUCCESS;
  const std::int64_t rounded = (bytes + 63) / 64 * 64;
  cl_mem buffer = api().clCreateBuffer(context_, CL_MEM_READ_WRITE, size_of(rounded), nullptr, &status);
  check(status, fmt::format("{} bytes wanted", bytes));
  std::byte* const address = addresses_.add(buffer, rounded);
  zero(address, rounded);
  return address;
}

void OpenClDevice::copy_within(std::byte* to, const std::byte* from, std::int64_t bytes) {
  const auto target = place(to), source = place(from);
  check(api().clEnqueueCopyBuffer(queue_, source.buffer, target.buffer, source.offset, target.offset, size_of(bytes), 0,
                                  nullptr, nullptr),
        "a copy on the device");
}

void OpenClDevice::write(cl_command_queue queue, cl_bool wait, void* to, const void* from, std::int64_t bytes,
                         cl_event* event) {
  const auto target = place(to);
  check(api().clEnqueueWriteBuffer(queue, target.buffer, wait, target.offset, size_of(bytes), from, 0, nullptr, event),
        "a copy to the device");
  ++traffic_.copies_to_device;
  traffic_.bytes_to_device += bytes;
}

void OpenClDevice::to_device(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  cl_event event = nullptr;
  write(queue_, CL_TRUE, to, from, bytes, timing_ ? &event : nullptr);
  if (timing_) keep({&copy_times_.to_device, nullptr, event});
}

Device::Ticket OpenClDevice::begin_to_device(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return 0;
  cl_event event = nullptr;
  write(copies_, CL_FALSE, to, from, bytes, &event);
  // Commands of the other queue are going to wait for this one (join), and the host goes on: only a flush promises that
  // it begins at all.
  check(api().clFlush(copies_), "a copy to the device");
  if (timing_) {
    api().clRetainEvent(event);  // for the times, besides the ticket
    keep({&copy_times_.to_device, nullptr, event});
  }
  begun_.emplace(++last_ticket_, event);
  return last_ticket_;
}

void OpenClDevice::join(Ticket ticket) {
  if (const auto found = begun_.find(ticket); found != begun_.end())
    check(api().clEnqueueBarrierWithWaitList(queue_, 1, &found->second, nullptr), "the wait for a copy");
}

void OpenClDevice::wait(Ticket ticket) {
  const auto found = begun_.find(ticket);
  if (found == begun_.end()) return;
  const cl_int status = api().clWaitForEvents(1, &found->second);
  api().clReleaseEvent(found->second);
  begun_.erase(found);
  check(status, "the wait for a copy");
}

void OpenClDevice::to_host(void* to, const void* from, std::int64_t bytes) {
  if (bytes == 0) return;
  const auto source = place(from);
  cl_event event = nullptr;
  check(api().clEnqueueReadBuffer(queue_, source.buffer, CL_TRUE, source.offset, size_of(bytes), to, 0, nullptr,
                                  timing_ ? &event : nullptr),
        "a copy to the host");
  ++traffic_.copies_to_host;
  traffic_.bytes_to_host += bytes;
  if (timing_) keep({&copy_times_.to_host, nullptr, event});
}

void OpenClDevice::zero(void* address, std::int64_t bytes) {
  if (bytes == 0) return;
  const auto target = place(address);
  if (found_.info.platform == "Oclgrind") {  // takes what was filled for uninitialised, even after a kernel wrote there
    const std::vector<std::byte> zeros(size_of(bytes));
    check(api().clEnqueueWriteBuffer(queue_, target.buffer, CL_TRUE, target.offset, zeros.size(), zeros.data(), 0,
                                     nullptr, nullptr),
          "filling with zeros");
    return;
  }
  const cl_uchar nothing = 0;
  check(api().clEnqueueFillBuffer(queue_, target.buffer, &nothing, sizeof nothing, target.offset, size_of(bytes), 0,
                                  nullptr, nullptr),
        "filling with zeros");
}

void OpenClDevice::launch(const Launch& launch) {
  cl_kernel kernel = programs_.kernel(launch.kernel, launch.float64, launch.vectors);
  cl_uint index = 0;
  for (const KernelArgument& argument : launch.arguments) {
    if (argument.kind() != KernelArgument::Kind::address) {
      check(api().clSetKernelArg(kernel, index++, argument.bytes(), argument.value()), std::string(launch.kernel));
      continue;
    }
    AddressSpace::Place place{nullptr, 0};
    if (argument.address() != 0) place = addresses_.find(argument.address());
    const auto elements = static_cast<cl_long>(place.offset / argument.bytes());
    check(api().clSetKernelArg(kernel, index++, sizeof(cl_mem), &place.buffer), std::string(launch.kernel));
    check(api().clSetKernelArg(kernel, index++, sizeof elements, &elements), std::string(launch.kernel));
  }
  std::size_t global[3], local[3];
  for (std::size_t d = 0; d < 3; ++d) {
    if (launch.groups[d] == 0) return;
    local[d] = size_of(launch.group_size[d]);
    global[d] = size_of(launch.groups[d]) * local[d];
  }
  cl_event event = nullptr;
  check(api().clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global, local, 0, nullptr, timing_ ? &event : nullptr),
        "the start of " + std::string(launch.kernel));
  ++traffic_.launches;
  if (timing_) keep({&times_[std::string(launch.kernel)], nullptr, event});
}

// OpenCL may leave commands in its queue until somebody waits for them. PoCL starts them at once; drivers of GPUs
// collect them, and a device would idle while the host gathers the next batch. Calls that wait flush by themselves.
void OpenClDevice::flush() { check(api().clFlush(queue_), "the start of what was launched"); }

void OpenClDevice::synchronize() { check(api().clFinish(queue_), "the wait for the device"); }

void OpenClDevice::set_timing(bool on) {
  collect_times();
  if (on) {
    times_.clear();
    copy_times_ = {};
  }
  timing_ = on;
}

void OpenClDevice::release(const Timed& timed) {
  if (timed.before != nullptr) api().clReleaseEvent(timed.before);
  api().clReleaseEvent(timed.last);
}

void OpenClDevice::keep(const Timed& timed) {
  timed_.push_back(timed);
  if (timed_.size() >= kEventsKept) collect_times();
}

cl_event OpenClDevice::mark() {
  cl_event event = nullptr;
  check(api().clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &event), "a mark in the queue");
  return event;
}

void OpenClDevice::time_as(const std::string& name, const std::function<void()>& enqueue) {
  if (!timing_) return enqueue();
  cl_event before = mark();
  enqueue();
  keep({&times_[name], before, mark()});
}

void OpenClDevice::collect_times() {
  if (timed_.empty()) return;
  synchronize();
  check(api().clFinish(copies_), "the wait for copies");
  const auto read = [](cl_event event, cl_profiling_info what) {
    cl_ulong nanoseconds = 0;
    api().clGetEventProfilingInfo(event, what, sizeof nanoseconds, &nanoseconds, nullptr);
    return nanoseconds;
  };
  for (const Timed& timed : timed_) {
    const cl_ulong end = read(timed.last, CL_PROFILING_COMMAND_END);
    const cl_ulong begin = timed.before == nullptr ? read(timed.last, CL_PROFILING_COMMAND_START)
                                                   : read(timed.before, CL_PROFILING_COMMAND_END);
    release(timed);
    ++timed.sum->launches;
    timed.sum->seconds += end > begin ? double(end - begin) * 1e-9 : 0;
  }
  timed_.clear();
}

std::map<std::string, KernelTime> OpenClDevice::kernel_times() {
  collect_times();
  return times_;
}

CopyTimes OpenClDevice::copy_times() {
  collect_times();
  return copy_times_;
}

}  // namespace opencl

std::shared_ptr<Device> open_opencl_device(int local_rank) {
  auto device = std::make_shared<opencl::OpenClDevice>(opencl::choose_device(local_rank));
  opencl::probe(*device);
  return device;
}

}  // namespace lockstep
