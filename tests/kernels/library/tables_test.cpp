// Whose kernels the table holds, and that their results do not depend on who calls.
#include <string>

#include "lockstep/core/openblas.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/parallel/team.hpp"
#include "tests/kernels/every_operation.hpp"
#include "tests/kernels/library/bounds.hpp"

namespace lockstep::test {
namespace {

using LibraryFloat = LibraryTest<float>;
using LibraryDouble = LibraryTest<double>;

TEST_F(LibraryFloat, SaysWhoseKernelsItHolds) {
  const KernelTable<float> simd = make_simd_table<float>();
  EXPECT_EQ(table.backend, "library");
  EXPECT_EQ(table.linear_forward.name, "openblas");
  EXPECT_EQ(table.conv2d_forward.name, "onednn");
  EXPECT_EQ(table.max_pool2d_backward.name, "onednn");
  EXPECT_EQ(table.batch_norm_backward.name, "onednn");
  EXPECT_EQ(table.adam_step.name, simd.adam_step.name);
  EXPECT_EQ(table.adam_step.run, simd.adam_step.run);
  EXPECT_EQ(make_table<float>(Backend::library).conv2d_forward.run, table.conv2d_forward.run);
}

TEST_F(LibraryDouble, HasNoConvolution) {
  const KernelTable<double> simd = make_simd_table<double>();
  EXPECT_EQ(table.linear_backward_weights.name, "openblas");
  EXPECT_EQ(table.conv2d_forward.name, simd.conv2d_forward.name);
  EXPECT_EQ(table.batch_norm_forward.run, simd.batch_norm_forward.run);
}

TEST(Library, AloneIsOutsideThePromise) {
  ASSERT_EQ(backend_names().size(), 10U);
  EXPECT_EQ(backend_names()[static_cast<std::size_t>(Backend::library)], "library");
  for (const Backend backend : {Backend::simd, Backend::naive, Backend::naive_o0})
    EXPECT_TRUE(keeps_the_promise(backend));
  EXPECT_FALSE(keeps_the_promise(Backend::library));
}

TEST_F(LibraryFloat, TeamsHaveTheBitsOfOne) {
  const EveryOperation<float> alone(table, 5000);
  std::vector<std::vector<EveryOperation<float>::Output>> results(3);
  run_team(3, [&](const Member& member) {
    results[static_cast<std::size_t>(member.index)] = EveryOperation<float>(table, 5000).outputs();
  });
  for (const auto& result : results) {
    ASSERT_EQ(result.size(), alone.outputs().size());
    for (std::size_t i = 0; i < result.size(); ++i)
      EXPECT_TRUE(identical(result[i].values, alone.outputs()[i].values)) << result[i].operation;
  }
}

TEST(Library, MissingOpenBlasIsOneLine) {
  const OpenBlas missing = load_openblas("libno_such_library.so.0");
  EXPECT_FALSE(missing.loaded());
  try {
    require_openblas(missing);
    FAIL() << "accepted a library that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("install libopenblas0"), std::string::npos);
  }
}

}  // namespace
}  // namespace lockstep::test
