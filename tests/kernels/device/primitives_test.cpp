// max and x x^T on every device: the results of the plain loops, in every shape of launch.
#include "lockstep/kernels/device/primitives.hpp"

#include <functional>

#include "lockstep/kernels/naive/table.hpp"
#include "tests/kernels/device/staged.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

template <class T>
AlignedBuffer<T> on(Device& device, const std::vector<T>& host) {
  AlignedBuffer<T> copy(static_cast<std::int64_t>(host.size()), device);
  device.to_device(copy.data(), host.data(), copy.size() * static_cast<std::int64_t>(sizeof(T)));
  return copy;
}

template <class T>
std::vector<T> back(Device& device, const AlignedBuffer<T>& copy) {
  std::vector<T> host(static_cast<std::size_t>(copy.size()));
  device.to_host(host.data(), copy.data(), copy.size() * static_cast<std::int64_t>(sizeof(T)));
  return host;
}

TEST(DevicePrimitives, MaximumInEveryShape) {
  if (rungs().empty()) GTEST_SKIP() << "no device on this machine";
  Device& device = *rungs().front().device;
  for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 5}, {17, 16}, {31, 33}}) {
    std::vector<std::int32_t> a, b;
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      a.push_back(static_cast<std::int32_t>(128 * (random_value(1, i) + 1)));
      b.push_back(static_cast<std::int32_t>(128 * (random_value(2, i) + 1)));
    }
    std::vector<std::int32_t> expected(a.size());
    naive_primitives().elementwise_max({.a = dense_matrix<const std::int32_t>(a.data(), rows, cols),
                                        .b = dense_matrix<const std::int32_t>(b.data(), rows, cols),
                                        .c = dense_matrix(expected.data(), rows, cols)});
    const auto there_a = on(device, a), there_b = on(device, b);
    for (const bool classic : {true, false}) {
      auto there_c = on(device, std::vector<std::int32_t>(a.size(), -1));
      const device::MaxArguments arguments{
          .a = there_a.data(), .b = there_b.data(), .c = there_c.data(), .rows = rows, .cols = cols};
      if (classic)
        device::max_by_rows(device, arguments);
      else
        device::max_by_turns(device, arguments);
      EXPECT_EQ(back(device, there_c), expected) << rows << "x" << cols << (classic ? " classic" : " turns");
    }
  }
}

TEST(DevicePrimitives, ProductInEveryShape) {
  if (rungs().empty()) GTEST_SKIP() << "no device on this machine";
  Device& device = *rungs().front().device;
  using Run = std::function<void(const device::XxtArguments&)>;
  const std::vector<std::pair<std::string, Run>> shapes = {
      {"one block", [&](const auto& a) { device::xxt_by_one_block(device, a, 64); }},
      {"elements", [&](const auto& a) { device::xxt_by_elements(device, a); }},
      {"tiles", [&](const auto& a) { device::xxt_by_tiles(device, a); }}};
  for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {5, 3}, {13, 17}, {37, 20}}) {
    const std::vector<float> x = random_vector<float>(n * k, 7);
    std::vector<float> expected(static_cast<std::size_t>(n * n));
    naive_primitives().xxt({.x = dense_matrix<const float>(x.data(), n, k), .y = dense_matrix(expected.data(), n, n)});
    const auto there = on(device, x);
    for (const auto& [name, run] : shapes) {
      auto y = on(device, nan_vector<float>(n * n)), transposed = on(device, nan_vector<float>(n * k));
      run({.x = there.data(), .y = y.data(), .transposed = transposed.data(), .n = n, .k = k});
      EXPECT_TRUE(identical(back(device, y), expected)) << name << " " << n << "x" << k;
    }
  }
}

TEST(DevicePrimitives, TooLargeBlocksAreRefused) {
  if (rungs().empty()) GTEST_SKIP() << "no device on this machine";
  Device& device = *rungs().front().device;
  AlignedBuffer<float> x(1, device), y(1, device);
  EXPECT_THROW(
      device::xxt_by_one_block(device, {.x = x.data(), .y = y.data(), .n = 1, .k = 1}, device.info().max_group + 1),
      Error);
}

}  // namespace
}  // namespace lockstep::test
