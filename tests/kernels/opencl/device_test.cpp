// The device itself: addresses, copies, refusals, and the programs it keeps on disk.
#include "lockstep/kernels/opencl/device.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/table.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"

namespace lockstep::test {
namespace {

class OpenClDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("LOCKSTEP_CACHE_DIR", "off", 1);
    if (list_opencl_devices().empty()) GTEST_SKIP() << "no OpenCL device on this machine";
  }
  static std::unique_ptr<opencl::OpenClDevice> open() {
    return std::make_unique<opencl::OpenClDevice>(opencl::choose_device(0));
  }
};

template <class Run>
std::string refusal(ErrorCode code, const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "nothing was refused";
}

TEST_F(OpenClDeviceTest, AddressesHaveOffsets) {
  const auto device = open();
  AlignedBuffer<std::int32_t> array(100, *device);
  const std::int32_t sent[3] = {7, 8, 9};
  device->to_device(array.data() + 40, sent, sizeof sent);
  std::int32_t back[5] = {-1, -1, -1, -1, -1};
  device->to_host(back, array.data() + 39, sizeof back);
  EXPECT_EQ((std::vector<std::int32_t>(back, back + 5)), (std::vector<std::int32_t>{0, 7, 8, 9, 0}));
  const AlignedBuffer<std::int32_t> copy = array;
  device->to_host(back, copy.data() + 41, 4);
  EXPECT_EQ(back[0], 8);
  device->zero(array.data() + 41, 4);
  device->to_host(back, array.data() + 40, 12);
  EXPECT_EQ((std::vector<std::int32_t>(back, back + 3)), (std::vector<std::int32_t>{7, 0, 9}));
  EXPECT_EQ(device->traffic().copies_to_device, 1);
  EXPECT_EQ(device->traffic().bytes_to_device, 12);
  EXPECT_EQ(device->traffic().copies_to_host, 3);
  EXPECT_EQ(device->traffic().bytes_to_host, 20 + 4 + 12);
}

TEST_F(OpenClDeviceTest, CopiesAreThereAfterJoin) {
  const auto device = open();
  AlignedBuffer<std::int32_t> array(1 << 16, *device);
  const std::vector<std::int32_t> sent(1 << 16, 5);
  device->synchronize();  // new memory is zeroed in its turn, and the copy does not wait for that
  const auto ticket = device->begin_to_device(array.data(), sent.data(), 4 << 16);
  device->join(ticket);
  std::int32_t last = 0;
  device->to_host(&last, array.data() + (1 << 16) - 1, 4);
  device->wait(ticket);
  device->wait(ticket);  // a second time there is nothing to wait for
  EXPECT_EQ(last, 5);
}

TEST_F(OpenClDeviceTest, WhatCannotBeIsRefusedInOneLine) {
  const auto device = open();
  KernelContext context(device.get());
  std::vector<float> host(4);
  const auto table = make_device_table<float>("opencl");
  EXPECT_NE(refusal(ErrorCode::bug, [&] { table.scale_gradient({.count = 4, .factor = 2, .g = host.data()}, context); })
                .find("an address of the host"),
            std::string::npos);
  EXPECT_NE(refusal(ErrorCode::resources, [&] { device->allocate(device->info().max_allocation_bytes + 1); })
                .find("use a smaller batch"),
            std::string::npos);
  ::setenv("LOCKSTEP_OPENCL_DEVICE", "77:1", 1);
  EXPECT_NE(
      refusal(ErrorCode::usage, [&] { open_opencl_device(0); }).find("LOCKSTEP_OPENCL_DEVICE=77:1: no such device"),
      std::string::npos);
  ::unsetenv("LOCKSTEP_OPENCL_DEVICE");
}

TEST_F(OpenClDeviceTest, TakesTimesOnlyWhenAsked) {
  const auto device = open();
  KernelContext context(device.get());
  AlignedBuffer<float> values(64, *device);
  const auto table = make_naive_device_table<float>("opencl-naive");
  const auto scale = [&] { table.scale_gradient({.count = 64, .factor = 2, .g = values.data()}, context); };
  scale();
  device->set_timing(true);
  scale();
  scale();
  const auto times = device->kernel_times();
  ASSERT_EQ(times.count("scale_gradient"), 1U);
  EXPECT_EQ(times.at("scale_gradient").launches, 2);
  EXPECT_GT(times.at("scale_gradient").seconds, 0);
  device->set_timing(true);  // once more: from the beginning
  EXPECT_EQ(device->kernel_times().size(), 0U);
  device->time_as("three", [&] {
    for (int i = 0; i < 3; ++i) scale();
  });
  EXPECT_EQ(device->kernel_times().at("three").launches, 1);
  EXPECT_GE(device->kernel_times().at("three").seconds, device->kernel_times().at("scale_gradient").seconds);
}

TEST_F(OpenClDeviceTest, TimesOfCopiesAreTakenBothWays) {
  const auto device = open();
  constexpr std::int64_t kBytes = 1 << 22;
  AlignedBuffer<std::byte> there(kBytes, *device), here(kBytes);
  device->to_device(there.data(), here.data(), kBytes);  // not timed
  device->set_timing(true);
  device->to_device(there.data(), here.data(), kBytes);
  const auto ticket = device->begin_to_device(there.data(), here.data(), kBytes);
  device->join(ticket);
  device->flush();
  device->wait(ticket);
  device->to_host(here.data(), there.data(), kBytes);
  const CopyTimes times = device->copy_times();
  EXPECT_EQ(times.to_device.launches, 2);
  EXPECT_EQ(times.to_host.launches, 1);
  EXPECT_GT(times.to_device.seconds, 0);
  EXPECT_GT(times.to_host.seconds, 0);
  EXPECT_TRUE(device->kernel_times().empty());
}

TEST_F(OpenClDeviceTest, DistributionsPoclNeedsALinker) {
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/no-such-folder:", 1);
  EXPECT_NE(opencl::missing_tool("OpenCL 3.0 PoCL 3.1+debian  Linux").find("install binutils"), std::string::npos);
  EXPECT_EQ(opencl::missing_tool("OpenCL 3.0 PoCL 6.0  Linux"), "");
  EXPECT_EQ(opencl::missing_tool("OpenCL 3.0 CUDA 12.4"), "");
  ::setenv("PATH", path.c_str(), 1);
}

/// How many programs a new device compiled from text to run one kernel, and that the kernel is right.
int compiled_for_one_kernel(const std::unique_ptr<opencl::OpenClDevice>& device) {
  KernelContext context(device.get());
  AlignedBuffer<float> x(1, *device), w(1, *device), y(1, *device);
  const float two = 2, three = 3;
  float result = 0;
  device->to_device(x.data(), &two, 4);
  device->to_device(w.data(), &three, 4);
  make_naive_device_table<float>("opencl-naive")
      .linear_forward({.x = {x.data(), 1, 1, 1}, .w = {w.data(), 1, 1, 1}, .y = {y.data(), 1, 1, 1}}, context);
  device->to_host(&result, y.data(), 4);
  EXPECT_EQ(result, 6);
  return device->programs().built_from_text();
}

TEST_F(OpenClDeviceTest, DamagedProgramsAreMadeAgain) {
  const auto folder = std::filesystem::temp_directory_path() / ("lockstep_programs_" + std::to_string(::getpid()));
  ::setenv("LOCKSTEP_CACHE_DIR", folder.c_str(), 1);
  EXPECT_EQ(compiled_for_one_kernel(open()), 1);
  EXPECT_EQ(compiled_for_one_kernel(open()), 0);
  std::filesystem::path entry;
  for (const auto& file : std::filesystem::directory_iterator(folder / "opencl")) {
    EXPECT_TRUE(entry.empty()) << "more than one entry";
    entry = file.path();
  }
  const auto size = std::filesystem::file_size(entry);
  {
    std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file << "damage";
  }
  EXPECT_EQ(compiled_for_one_kernel(open()), 1);
  EXPECT_EQ(compiled_for_one_kernel(open()), 0);
  std::filesystem::resize_file(entry, 10);
  EXPECT_EQ(compiled_for_one_kernel(open()), 1);
  std::filesystem::resize_file(entry, 0);
  EXPECT_EQ(compiled_for_one_kernel(open()), 1);
  std::filesystem::remove_all(folder);
}

TEST_F(OpenClDeviceTest, NoRoomForProgramsCostsTimeOnly) {
  ::setenv("LOCKSTEP_CACHE_DIR", "/proc/no-such-place", 1);
  EXPECT_EQ(compiled_for_one_kernel(open()), 1);
}

}  // namespace
}  // namespace lockstep::test
