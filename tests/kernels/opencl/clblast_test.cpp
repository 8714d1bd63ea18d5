// CLBlast against naive, within rounding. One small shape: its first product on a device takes many seconds.
#include <cmath>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/table.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/opencl/opencl.hpp"
#include "tests/kernels/device/staged.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

TEST(ClBlast, LinearLayersAgreeWithinRounding) {
  if (rungs().empty()) GTEST_SKIP() << "no device on this machine";
  const Rung& rung = rungs().front();
  auto table = make_device_table<float>("opencl-library");
  try {
    add_clblast_kernels(table);
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const TestMatrix<float> x(13, 21, 1), w(7, 13, 2), dy(7, 21, 3);
  const auto b = random_vector<float>(7, 4);
  const Cut cut{3, 0, 17, 1};
  const auto run = [&](const KernelTable<float>& kernels, bool on_device) {
    TestMatrix<float> y(7, 21), dx(13, 21), dw(7, 13);
    auto db = nan_vector<float>(7);
    const auto call = [&](const auto& kernel, auto args) {
      KernelContext context(on_device ? rung.device.get() : nullptr);
      Stage staged(*rung.device);
      if (on_device) stage(staged, args);
      kernel(args, context);
      if (on_device) staged.finish();
    };
    call(kernels.linear_forward, LinearForward<float>{.x = x.view(), .w = w.view(), .b = b.data(), .y = y.view()});
    call(kernels.linear_backward_data, LinearBackwardData<float>{.w = w.view(), .dy = dy.view(), .dx = dx.view()});
    call(kernels.linear_backward_weights,
         LinearBackwardWeights<float>{
             .x = x.view(), .dy = dy.view(), .slots = cut.slots(), .dw = dw.view(), .db = db.data()});
    auto all = elements(y);
    for (const auto& part : {elements(dx), elements(dw), db}) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  const auto expected = run(make_naive_table<float>(), false), actual = run(table, true);
  ASSERT_EQ(actual.size(), expected.size());
  // Sums of at most 21 products of numbers below 1, each rounded once.
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 21 * 21 * 0x1p-24) << i;
}

}  // namespace
}  // namespace lockstep::test
