// Rows of launches that come again: from the second time on one graph, with the arguments of the day.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"
#include "tests/cuda_emulator/counters.hpp"
#include "tests/kernels/cuda/emulated.hpp"

namespace lockstep::test {
namespace {

class CudaGraphs : public ::testing::Test {
 protected:
  CudaGraphs() {
    use_emulator();
    device_ = open_device(Backend::cuda);
  }
  void SetUp() override {
    if (device_->info().platform.find("emulator") == std::string::npos) GTEST_SKIP() << "a GPU does not count graphs";
    cuda_emulator::counters() = {};
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
  void release(float* address) { device_->release(reinterpret_cast<std::byte*>(address)); }

  void launch(std::string_view kernel, std::span<const KernelArgument> arguments) {
    device_->launch({.kernel = kernel, .group_size = {64, 1, 1}, .arguments = arguments});
  }
  /// g *= factor, then g += w: the order shows.
  void scale_and_add(float factor, float* g, const float* w, std::int64_t count) {
    const KernelArgument scale[] = {factor, g, count}, add[] = {1.0F, w, g, count};
    launch("scale_gradient", scale);
    launch("add_l2", add);
  }
  /// Two of them on two numbers each.
  void row(float factor, float* g, const float* w) {
    scale_and_add(factor, g, w, 2);
    scale_and_add(2, g, w, 2);
  }
  static std::uint64_t graphs() { return cuda_emulator::counters().graphs; }
  static std::uint64_t updates() { return cuda_emulator::counters().node_updates; }

  std::shared_ptr<Device> device_;
};

TEST_F(CudaGraphs, ARowIsAGraphFromItsSecondTimeOn) {
  float *const g = upload({1, 2}), *const w = upload({10, 20});
  // x -> (x f + w) 2 + w
  std::vector<float> expected = {1, 2};
  const auto step = [&](float factor) {
    row(factor, g, w);
    for (std::size_t i = 0; i < 2; ++i) {
      const float weight = i == 0 ? 10.0F : 20.0F;
      expected[i] = (expected[i] * factor + weight) * 2 + weight;
    }
    EXPECT_EQ(download(g, 2), expected);
  };
  step(3);
  EXPECT_EQ(graphs(), 0U);
  step(3);
  EXPECT_EQ(graphs(), 1U);
  step(3);
  EXPECT_EQ(graphs(), 2U);
  EXPECT_EQ(updates(), 0U);
  step(0.5F);  // one argument of one node
  EXPECT_EQ(graphs(), 3U);
  EXPECT_EQ(updates(), 1U);
  step(0.5F);
  EXPECT_EQ(updates(), 1U);
  EXPECT_EQ(device_->traffic().launches, 20);
  release(g);
  release(w);
}

TEST_F(CudaGraphs, OtherBuffersTakeTurns) {
  float* const buffers[] = {upload({1, 1}), upload({2, 2})};
  float* const w = upload({0, 0});
  for (int step = 0; step < 6; ++step) row(1, buffers[step % 2], w);  // one row of 24 launches
  EXPECT_EQ(download(buffers[0], 2), (std::vector<float>{8, 8}));
  EXPECT_EQ(graphs(), 0U);
  for (int step = 0; step < 6; ++step) {
    row(1, buffers[step % 2], w);
    device_->flush();
  }
  EXPECT_EQ(graphs(), 5U);
  EXPECT_EQ(updates(), 4U * 4U);  // every node, but for the graph that was just made
  EXPECT_EQ(download(buffers[1], 2), (std::vector<float>{128, 128}));
  release(w);
  for (float* const buffer : buffers) release(buffer);
}

TEST_F(CudaGraphs, RowsOfOtherShapesDoNotMix) {
  float *const g = upload({1, 1, 1, 1}), *const w = upload({0, 0, 0, 0});
  for (int i = 0; i < 3; ++i) {
    row(2, g, w);
    device_->flush();
    scale_and_add(0.5F, g, w, 4);  // two launches are not worth a graph
    device_->flush();
    row(1, g, w);
    scale_and_add(0.5F, g, w, 2);
    device_->flush();
  }
  EXPECT_EQ(graphs(), 4U);  // two rows, two times each
  EXPECT_EQ(download(g, 4), (std::vector<float>{8, 8, 0.125F, 0.125F}));
  release(g);
  release(w);
}

TEST_F(CudaGraphs, MemoryOutlivesWhatWaits) {
  float* const w = upload({5, 5});
  float* const sum = upload({0, 0});
  for (int i = 0; i < 3; ++i) {
    float* const g = upload({1, 1});
    row(1, g, w);
    const KernelArgument add[] = {1.0F, static_cast<const float*>(g), sum, std::int64_t{2}};
    launch("add_l2", add);
    release(g);
  }
  EXPECT_EQ(download(sum, 2), (std::vector<float>{51, 51}));
  EXPECT_EQ(graphs(), 2U);
  release(sum);
  release(w);
}

TEST_F(CudaGraphs, TimedKernelsStartOneByOne) {
  float *const g = upload({1, 1}), *const w = upload({0, 0});
  row(1, g, w);
  device_->set_timing(true);
  for (int i = 0; i < 3; ++i) row(1, g, w);
  EXPECT_EQ(device_->kernel_times().at("add_l2").launches, 6);
  EXPECT_EQ(graphs(), 0U);
  device_->set_timing(false);
  EXPECT_EQ(download(g, 2), (std::vector<float>{16, 16}));
  release(g);
  release(w);
}

TEST_F(CudaGraphs, CanBeSwitchedOff) {
  ::setenv("LOCKSTEP_CUDA_GRAPHS", "0", 1);
  device_ = open_device(Backend::cuda);
  ::unsetenv("LOCKSTEP_CUDA_GRAPHS");
  float *const g = upload({1, 1}), *const w = upload({0, 0});
  for (int i = 0; i < 3; ++i) row(1, g, w);
  EXPECT_EQ(download(g, 2), (std::vector<float>{8, 8}));
  EXPECT_EQ(graphs(), 0U);
  release(g);
  release(w);
}

}  // namespace
}  // namespace lockstep::test
