// For oclgrind_test.py: a defect that it must find. Not run otherwise.
#include <gtest/gtest.h>

#include "lockstep/kernels/device/table.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"

namespace lockstep::test {
namespace {

TEST(Oclgrind, DISABLED_PlantedOutOfBounds) {
  const auto device = open_opencl_device(0);
  KernelContext context(device.get());
  AlignedBuffer<float> values(64, *device);
  make_naive_device_table<float>("opencl-naive")
      .scale_gradient({.count = 100, .factor = 2, .g = values.data()}, context);  // 36 more than there are
  device->synchronize();
}

}  // namespace
}  // namespace lockstep::test
