// Every operation on every rung against naive, bit by bit.
#include "lockstep/kernels/device/ranges.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "tests/kernels/device/staged.hpp"
#include "tests/kernels/every_operation.hpp"

namespace lockstep::test {
namespace {

template <class T>
class DeviceTables : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceTables, Scalars);

TYPED_TEST(DeviceTables, OperationsHaveNaivesBits) {
  if (rungs().empty()) GTEST_SKIP() << "no device on this machine";
  const EveryOperation<TypeParam> expected(make_naive_table<TypeParam>(), 1000);
  for (const auto& table : staged_tables<TypeParam>()) {
    const EveryOperation<TypeParam> actual(table, 1000);
    ASSERT_EQ(actual.outputs().size(), expected.outputs().size());
    for (std::size_t i = 0; i < actual.outputs().size(); ++i)
      EXPECT_TRUE(identical(actual.outputs()[i].values, expected.outputs()[i].values))
          << table.backend << ": " << actual.outputs()[i].operation << " (" << i << ")";
  }
}

// Several stretches by one launch: those, and nothing between them.
TYPED_TEST(DeviceTables, RangesHaveNaivesBits) {
  using T = TypeParam;
  if (rungs().empty()) GTEST_SKIP() << "no device on this machine";
  Device& device = *rungs().front().device;
  constexpr std::int64_t kCount = 9000;
  const std::vector<std::int64_t> ranges = {0, 1, 3, 20, 64, 64, 100, 8777, 8778, kCount};
  const auto weights = random_vector<T>(kCount, 1), start = random_vector<T>(kCount, 2);
  const KernelTable<T> naive = make_naive_table<T>();
  KernelContext host;
  for (const bool scales : {true, false}) {
    std::vector<T> expected = start, actual = start;
    for (std::size_t k = 0; k < ranges.size(); k += 2) {
      const std::int64_t first = ranges[k], count = ranges[k + 1] - first;
      if (scales)
        naive.scale_gradient({.count = count, .factor = T(0.99), .g = expected.data() + first}, host);
      else
        naive.add_l2({.count = count, .l2 = T(0.01), .w = weights.data() + first, .g = expected.data() + first}, host);
    }
    KernelContext context(&device);
    Stage stage(device);
    T* g = actual.data();
    const T* w = weights.data();
    stage.vector(g, kCount), stage.vector(w, kCount);
    if (scales)
      device::scale_ranges<T>(context, T(0.99), g, ranges);
    else
      device::add_l2_ranges<T>(context, T(0.01), w, g, ranges);
    device::scale_ranges<T>(context, T(2), g, {});  // none
    stage.finish();
    EXPECT_TRUE(identical(actual, expected)) << scales;
  }
}

}  // namespace
}  // namespace lockstep::test
