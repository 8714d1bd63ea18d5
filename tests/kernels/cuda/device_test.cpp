// The CUDA device through the plugin: memory, copies, launches, times and failures. On the emulator, which runs nothing
// before somebody waits: a wait that is forgotten fails here.

#include "lockstep/kernels/device/device.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/cuda/cuda.hpp"
#include "tests/kernels/cuda/emulated.hpp"

namespace lockstep::test {
namespace {

class CudaDeviceTest : public ::testing::Test {
 protected:
  CudaDeviceTest() {
    use_emulator();
    device_ = open_device(Backend::cuda);
  }

  float* upload(const std::vector<float>& values) {
    const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
    auto* const address = reinterpret_cast<float*>(device_->allocate(bytes));
    device_->to_device(address, values.data(), bytes);
    return address;
  }
  std::vector<float> download(const float* address, std::size_t count) {
    std::vector<float> values(count);
    device_->to_host(values.data(), address, static_cast<std::int64_t>(count * sizeof(float)));
    return values;
  }
  /// g *= factor, by a kernel.
  void scale(float factor, float* g, std::int64_t count) {
    const KernelArgument arguments[] = {factor, g, count};
    device_->launch({.kernel = "scale_gradient",
                     .groups = {(count + 63) / 64, 1, 1},
                     .group_size = {64, 1, 1},
                     .arguments = arguments});
  }
  std::string message_of(const std::function<void()>& body, ErrorCode code) {
    try {
      body();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      return error.what();
    }
    return "nothing was thrown";
  }

  std::shared_ptr<Device> device_;
};

/// One line that holds `part`.
void expect_line(const std::string& line, const std::string& part) {
  EXPECT_NE(line.find(part), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

std::vector<float> counting(std::size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_F(CudaDeviceTest, DescribesItself) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.backend, "cuda");
  EXPECT_EQ(info.id, "0");
  EXPECT_EQ(info.kind, "gpu");
  EXPECT_GT(info.memory_bytes, 1 << 20);
  EXPECT_GE(info.local_bytes, 16 << 10);
  EXPECT_GE(info.max_group, 256);
  const std::vector<DeviceInfo> all = list_cuda_devices();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].name, info.name);
}

TEST_F(CudaDeviceTest, NewMemoryIsZeroAndCopiesKeepBytes) {
  auto* const a = reinterpret_cast<float*>(device_->allocate(40));
  EXPECT_EQ(download(a, 10), std::vector<float>(10));
  float* const b = upload(counting(10, 3));
  device_->copy_within(reinterpret_cast<std::byte*>(a), reinterpret_cast<std::byte*>(b), 20);
  device_->zero(b + 8, 8);
  EXPECT_EQ(download(a, 10), (std::vector<float>{3, 4, 5, 6, 7, 0, 0, 0, 0, 0}));
  EXPECT_EQ(download(b, 10), (std::vector<float>{3, 4, 5, 6, 7, 8, 9, 10, 0, 0}));
  device_->release(reinterpret_cast<std::byte*>(a));
  device_->release(reinterpret_cast<std::byte*>(b));
}

TEST_F(CudaDeviceTest, LaunchesInOrder) {
  float* const g = upload(counting(100, 1));
  scale(2, g, 100);
  scale(0.5f, g + 50, 50);
  std::vector<float> expected = counting(100, 1);
  for (std::size_t i = 0; i < 50; ++i) expected[i] *= 2;
  EXPECT_EQ(download(g, 100), expected);
  device_->release(reinterpret_cast<std::byte*>(g));
}

TEST_F(CudaDeviceTest, CopiesBesideKernels) {
  float* const buffers[] = {upload(std::vector<float>(50)), upload(std::vector<float>(50))};
  // More copies on their way than the plugin has memory for, each used by a kernel once it is joined.
  Device::Ticket last = 0;
  for (int step = 0; step < 10; ++step) {
    const std::vector<float> batch = counting(50, static_cast<float>(step));
    float* const target = buffers[step % 2];
    const Device::Ticket ticket = device_->begin_to_device(target, batch.data(), 200);
    EXPECT_GT(ticket, last);
    last = ticket;
    if (step % 3 == 0) device_->wait(ticket);
    device_->join(ticket);
    scale(3, target, 50);
    std::vector<float> expected = batch;
    for (float& value : expected) value *= 3;
    EXPECT_EQ(download(target, 50), expected);
    device_->wait(ticket);
  }
  device_->join(1);  // long since arrived
  device_->wait(1);
  for (float* const buffer : buffers) device_->release(reinterpret_cast<std::byte*>(buffer));
}

TEST_F(CudaDeviceTest, CountsWhatCrossesTheBus) {
  const DeviceTraffic before = device_->traffic();
  float* const g = upload(counting(10, 1));
  scale(2, g, 10);
  const std::vector<float> batch(10);
  device_->wait(device_->begin_to_device(g, batch.data(), 40));
  download(g, 5);
  const DeviceTraffic after = device_->traffic();
  EXPECT_EQ(after.copies_to_device - before.copies_to_device, 2);
  EXPECT_EQ(after.bytes_to_device - before.bytes_to_device, 80);
  EXPECT_EQ(after.copies_to_host - before.copies_to_host, 1);
  EXPECT_EQ(after.bytes_to_host - before.bytes_to_host, 20);
  EXPECT_EQ(after.launches - before.launches, 1);
  device_->release(reinterpret_cast<std::byte*>(g));
}

TEST_F(CudaDeviceTest, TimesKernels) {
  float* const g = upload(counting(1000, 1));
  scale(2, g, 1000);  // not timed
  device_->set_timing(true);
  for (int i = 0; i < 3; ++i) scale(2, g, 1000);
  const auto times = device_->kernel_times();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times.begin()->first, "scale_gradient");
  EXPECT_EQ(times.begin()->second.launches, 3);
  EXPECT_GT(times.begin()->second.seconds, 0);
  const std::vector<float> sent(100, 1);
  std::vector<float> back(100);
  device_->wait(device_->begin_to_device(g, sent.data(), 400));
  device_->to_device(g + 100, sent.data(), 400);
  device_->to_host(back.data(), g, 400);
  const CopyTimes copies = device_->copy_times();
  EXPECT_EQ(copies.to_device.launches, 2);
  EXPECT_EQ(copies.to_host.launches, 1);
  EXPECT_EQ(device_->kernel_times().size(), 1u);  // copies are no kernels
  device_->set_timing(true);
  EXPECT_TRUE(device_->kernel_times().empty());  // earlier times are forgotten
  EXPECT_EQ(device_->copy_times().to_host.launches, 0);
  device_->set_timing(false);
  device_->release(reinterpret_cast<std::byte*>(g));
}

TEST_F(CudaDeviceTest, SaysWhenMemoryEnds) {
  const std::int64_t all = device_->info().memory_bytes;
  expect_line(message_of([&] { device_->allocate(all + (1 << 20)); }, ErrorCode::resources), "use a smaller batch");
}

TEST_F(CudaDeviceTest, RefusesWrongLaunches) {
  float* const g = upload(counting(10, 1));
  const KernelArgument wrong[] = {2.0, g, std::int64_t{10}};
  const KernelArgument few[] = {2.0f, g};
  expect_line(message_of([&] { device_->launch({.kernel = "scale_gradient", .arguments = wrong}); }, ErrorCode::bug),
              "other arguments");
  expect_line(message_of([&] { device_->launch({.kernel = "scale_gradient", .arguments = few}); }, ErrorCode::bug),
              "other arguments");
  expect_line(message_of([&] { device_->launch({.kernel = "no_such_kernel", .arguments = few}); }, ErrorCode::bug),
              "no such kernel");
  const KernelArgument right[] = {2.0f, g, std::int64_t{10}};
  expect_line(message_of(
                  [&] {
                    device_->launch({.kernel = "scale_gradient", .group_size = {1 << 20, 1, 1}, .arguments = right});
                  },
                  ErrorCode::bug),
              "invalid configuration");
  EXPECT_EQ(download(g, 10), counting(10, 1));
  device_->release(reinterpret_cast<std::byte*>(g));
}

TEST_F(CudaDeviceTest, PlansOnWhatIsFreeAndShared) {
  if (device_->info().platform.find("emulator") == std::string::npos) GTEST_SKIP() << "other programs may use this GPU";
  const std::int64_t alone = open_device(Backend::cuda)->info().available_bytes;
  EXPECT_EQ(alone, device_->info().memory_bytes / 10 * 9);
  std::byte* const large = device_->allocate(128 << 20);
  const std::int64_t beside = open_device(Backend::cuda)->info().available_bytes;
  EXPECT_LE(beside, device_->info().memory_bytes - (128 << 20));
  EXPECT_GT(beside, 64 << 20);
  const std::int64_t half = open_device(Backend::cuda, {.rank = 1, .size = 2})->info().available_bytes;
  EXPECT_LE(2 * half, beside);
  EXPECT_GT(half, 32 << 20);
  device_->release(large);
}

TEST_F(CudaDeviceTest, HoldsKernelsBack) {
  float* const values = upload({1, 2, 3});
  device_->hold(1e-3);
  scale(2, values, 3);
  EXPECT_EQ(download(values, 3), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(device_->traffic().launches, 1);  // ours alone are counted
  device_->release(reinterpret_cast<std::byte*>(values));
}

TEST_F(CudaDeviceTest, SaysWhenAGridIsTooLarge) {
  const KernelArgument arguments[] = {1.0F, static_cast<float*>(nullptr), std::int64_t{0}};
  const auto launch = [&] {
    device_->launch({.kernel = "scale_gradient", .groups = {1, 65536, 1}, .arguments = arguments});
  };
  expect_line(message_of(launch, ErrorCode::resources), "65536 groups along one axis");
}

TEST_F(CudaDeviceTest, KeepsConstants) {
  const std::vector<std::int64_t> bounds = {0, 16, 32};
  const std::int64_t* const first = device_->constant(bounds);
  EXPECT_EQ(device_->constant(bounds), first);
  std::vector<std::int64_t> back(3);
  device_->to_host(back.data(), first, 24);
  EXPECT_EQ(back, bounds);
}

}  // namespace
}  // namespace lockstep::test
