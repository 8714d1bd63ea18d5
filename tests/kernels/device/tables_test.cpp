// Every operation on every rung against naive, bit by bit.
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

}  // namespace
}  // namespace lockstep::test
