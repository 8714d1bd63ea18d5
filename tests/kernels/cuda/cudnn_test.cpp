// Who computes: cuDNN where it can, our own kernels where it says that it does not support a shape. Launches of our
// kernels are counted by the device, calls of libraries are not.
#include <gtest/gtest.h>

#include "tests/kernels/conv2d_problem.hpp"
#include "tests/kernels/device/staged.hpp"

namespace lockstep::test {
namespace {

/// How many of our own kernels ran.
template <class Run>
std::int64_t launches_of(const Run& run) {
  const Device& device = *rungs().front().device;
  const std::int64_t before = device.traffic().launches;
  run();
  return device.traffic().launches - before;
}

TEST(Cudnn, IsNamedByTheTable) {
  const KernelTable<float>& table = rungs().front().float32;
  for (const std::string_view name :
       {table.conv2d_forward.name, table.conv2d_backward_data.name, table.conv2d_backward_weights.name,
        table.max_pool2d_forward.name, table.max_pool2d_backward.name, table.avg_pool2d_forward.name,
        table.avg_pool2d_backward.name, table.batch_norm_forward.name, table.batch_norm_backward.name,
        table.batch_norm_inference.name})
    EXPECT_EQ(name, "cudnn");
}

template <class T>
class CudnnConvolution : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudnnConvolution, Scalars);

/// All three operations on shapes of small integers, whose sums are exact in any order: the same bits as naive.
TYPED_TEST(CudnnConvolution, ExactOnIntegers) {
  using T = TypeParam;
  const KernelTable<T> table = staged_tables<T>().front();
  KernelContext context;
  for (const NamedGeometry& named : kGeometries) {
    const Conv2dGeometry& g = named.g;
    ConvProblem<T> p(g, 5);
    const auto make_integers = [](auto& values) {
      for (auto& value : values) value = std::round(value * 8);
    };
    make_integers(p.w);
    make_integers(p.b);
    for (TestMatrix<T>* m : {&p.x, &p.dy})
      for (std::int64_t r = 0; r < m->rows(); ++r)
        for (std::int64_t c = 0; c < m->cols(); ++c) (*m)(r, c) = std::round((*m)(r, c) * 8);
    const Cut cut({3, 2});
    TestMatrix<T> y(out_rows(g), 5), dx(in_rows(g), 5);
    auto dw = nan_vector<T>(weight_count(g)), db = nan_vector<T>(g.out_channels);
    const std::int64_t launches = launches_of([&] {
      table.conv2d_forward({.geometry = g, .x = p.x.view(), .w = p.w.data(), .b = p.b.data(), .y = y.view()}, context);
      table.conv2d_backward_data({.geometry = g, .w = p.w.data(), .dy = p.dy.view(), .dx = dx.view()}, context);
      table.conv2d_backward_weights(
          {.geometry = g, .x = p.x.view(), .dy = p.dy.view(), .slots = cut.slots(), .dw = dw.data(), .db = db.data()},
          context);
    });
    EXPECT_TRUE(identical(elements(y), elements(p.forward()))) << named.name;
    EXPECT_TRUE(identical(elements(dx), elements(p.backward_data()))) << named.name;
    const auto expected = p.backward_weights(0, 5, cut.slots());
    EXPECT_TRUE(identical(dw, expected.dw) && identical(db, expected.db)) << named.name;
    // Only the emulator's cuDNN is known to lack dilated groups.
    if (rungs().front().device->info().platform.find("emulator") != std::string::npos) {
      const bool ours = g.groups > 1 && g.dilation_h > 1;
      EXPECT_TRUE(ours ? launches >= 3 : launches == 0) << named.name << ": " << launches << " launches";
    }
  }
}

TEST(Cudnn, LeavesToUsWhatItDoesNotSupport) {
  if (rungs().front().device->info().platform.find("emulator") == std::string::npos)
    GTEST_SKIP() << "what a real cuDNN supports is not known here";
  const KernelTable<float> table = staged_tables<float>().front();
  KernelContext context;
  const auto pool_back = [&](std::int64_t window) {
    const Pool2dGeometry g{1, window, window, window, window, 1, 1, 0, 0};
    const TestMatrix<float> dy(1, 3, 1);
    TestMatrix<float> dx(window * window, 3);
    return launches_of([&] {
      table.avg_pool2d_backward({.geometry = g, .dy = dy.view(), .dx = dx.view()}, context);
      EXPECT_EQ(dx(0, 0), dy(0, 0) / float(window * window));
    });
  };
  EXPECT_EQ(pool_back(4), 0);
  EXPECT_EQ(pool_back(8), 1);
}

/// The first slot is cuDNN's, the second one it refuses: then our kernel does all of it, from the dy that was given.
TEST(Cudnn, LeavesDyAsItWasForOurKernel) {
  const KernelTable<float> table = staged_tables<float>().front(), naive = make_naive_table<float>();
  KernelContext context;
  const Cut cut({5, 7});
  const TestMatrix<float> x(6, 12, 1), dy(6, 12, 2);
  const auto gamma = random_vector<float>(2, 3), mean = random_vector<float>(4, 4),
             inv_std = random_vector<float>(4, 5);
  const auto run = [&](const KernelTable<float>& kernels) {
    TestMatrix<float> in_place = dy;
    auto dgamma = nan_vector<float>(2), dbeta = nan_vector<float>(2);
    kernels.batch_norm_backward({.channels = 2,
                                 .pixels = 3,
                                 .x = x.view(),
                                 .dy = in_place.view(),
                                 .gamma = gamma.data(),
                                 .slots = cut.slots(),
                                 .mean = mean.data(),
                                 .inv_std = inv_std.data(),
                                 .dx = in_place.view(),
                                 .dgamma = dgamma.data(),
                                 .dbeta = dbeta.data()},
                                context);
    auto all = elements(in_place);
    all.insert(all.end(), dgamma.begin(), dgamma.end());
    all.insert(all.end(), dbeta.begin(), dbeta.end());
    return all;
  };
  if (rungs().front().device->info().platform.find("emulator") == std::string::npos)
    GTEST_SKIP() << "what a real cuDNN supports is not known here";
  EXPECT_TRUE(identical(run(table), run(naive)));
}

TEST(Cudnn, HasItsTimesInTheProfile) {
  Device& device = *rungs().front().device;
  const KernelTable<float> table = staged_tables<float>().front();
  KernelContext context;
  const TestMatrix<float> x(16, 3, 1);
  TestMatrix<float> y(4, 3);
  device.set_timing(true);
  table.max_pool2d_forward({.geometry = {1, 4, 4, 2, 2, 2, 2, 0, 0}, .x = x.view(), .y = y.view()}, context);
  const auto times = device.kernel_times();
  device.set_timing(false);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times.begin()->first, "cudnn_pooling_forward");
  EXPECT_EQ(times.begin()->second.launches, 1);
}

}  // namespace
}  // namespace lockstep::test
