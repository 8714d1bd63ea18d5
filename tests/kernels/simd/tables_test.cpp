// Which tables exist, how they are chosen, and all operations at once against naive.
#include <cstdlib>
#include <set>
#include <string>

#include "lockstep/core/error.hpp"
#include "tests/kernels/every_operation.hpp"
#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

class IsaVariable {
 public:
  explicit IsaVariable(const char* value) {
    if (const char* old = std::getenv("LOCKSTEP_ISA")) old_ = old;
    ::setenv("LOCKSTEP_ISA", value, 1);
  }
  ~IsaVariable() { old_.empty() ? ::unsetenv("LOCKSTEP_ISA") : ::setenv("LOCKSTEP_ISA", old_.c_str(), 1); }

 private:
  std::string old_;
};

TEST(SimdTables, VariableForcesEachIsa) {
  for (const Isa isa : supported_isas()) {
    const IsaVariable variable(std::string(isa_name(isa)).c_str());
    EXPECT_EQ(chosen_isa(), isa);
    EXPECT_EQ(make_simd_table<float>().linear_forward.name, "simd." + std::string(isa_name(isa)));
    EXPECT_EQ(make_simd_table<double>().backend, "simd." + std::string(isa_name(isa)));
  }
}

TEST(SimdTables, FastestIsChosen) {
  const IsaVariable variable("");
  EXPECT_EQ(chosen_isa(), supported_isas().back());
}

std::string refusal(const char* value) {
  const IsaVariable variable(value);
  try {
    chosen_isa();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "";
}

TEST(SimdTables, UnknownIsRefused) {
  EXPECT_NE(refusal("sse9").find("LOCKSTEP_ISA=sse9 must be one of baseline, avx2, avx512, neon"), std::string::npos);
  std::set<Isa> missing = {Isa::baseline, Isa::avx2, Isa::avx512, Isa::neon};
  for (const Isa isa : supported_isas()) missing.erase(isa);
  for (const Isa isa : missing) {
    const std::string name(isa_name(isa));
    const std::string said = refusal(name.c_str()), begin = "LOCKSTEP_ISA=" + name + ": not ";
    EXPECT_TRUE(said.starts_with(begin + "on this machine; use one of ") ||
                said.starts_with(begin + "in this build; use one of "))
        << said;
  }
}

template <class T>
class SimdTablesOf : public ::testing::Test {};
TYPED_TEST_SUITE(SimdTablesOf, Scalars);

TYPED_TEST(SimdTablesOf, HaveNaivesBits) {
  for (const auto& table : simd_tables<TypeParam>())
    for (std::uint64_t stream = 1000; stream < 4000; stream += 1000) {
      const EveryOperation<TypeParam> actual(table, stream), expected(make_naive_table<TypeParam>(), stream);
      ASSERT_EQ(actual.outputs().size(), expected.outputs().size());
      for (std::size_t i = 0; i < actual.outputs().size(); ++i)
        EXPECT_TRUE(identical(actual.outputs()[i].values, expected.outputs()[i].values))
            << table.backend << ": " << actual.outputs()[i].operation;
    }
}

}  // namespace
}  // namespace lockstep::test
