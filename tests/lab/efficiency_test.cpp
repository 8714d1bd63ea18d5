#include "lockstep/lab/efficiency.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Efficiency, PopFactorsMultiply) {
  // One rank works 8 s, the other 4; both talk 1 s, the second waits 4 s more inside the exchange.
  const auto factors = pop_factors({{.useful = 8, .transfer = 2}, {.useful = 4, .transfer = 6}});
  ASSERT_TRUE(factors);
  EXPECT_DOUBLE_EQ(factors->load_balance, 0.75);
  EXPECT_DOUBLE_EQ(factors->communication, 0.8);
  EXPECT_DOUBLE_EQ(factors->transfer, 0.8);
  EXPECT_DOUBLE_EQ(factors->serialisation, 1);
  EXPECT_DOUBLE_EQ(factors->parallel, 0.6);
}

TEST(Efficiency, WaitingInTurnIsSerialisation) {
  const auto factors = pop_factors({{.useful = 5, .wait = 5}, {.useful = 5, .wait = 5}});
  EXPECT_DOUBLE_EQ(factors->load_balance, 1);
  EXPECT_DOUBLE_EQ(factors->transfer, 1);
  EXPECT_DOUBLE_EQ(factors->serialisation, 0.5);
}

TEST(Efficiency, OneWorkerIsPerfect) {
  EXPECT_DOUBLE_EQ(pop_factors({{.useful = 3}})->parallel, 1);
  EXPECT_FALSE(pop_factors({}));
  EXPECT_FALSE(pop_factors({{.useful = 0, .wait = 1}}));
}

TEST(Efficiency, TheLargestOverheadLimits) {
  EXPECT_EQ(find_limit({.phases = {{"wait", 0.3}, {"reduce", 0.2}}}).what, "barrier wait");
  EXPECT_EQ(find_limit({.phases = {{"wait", 0.1}, {"exchange", 0.08}, {"broadcast", 0.06}}}).what, "exchange");
  EXPECT_EQ(find_limit({.phases = {{"reduce", 0.15}, {"update", 0.15}, {"wait", 0.2}}}).what, "reduction");
  EXPECT_EQ(find_limit({.phases = {{"report", 0.2}}}).what, "serial part");
  EXPECT_EQ(find_limit({.phases = {{"launch", 0.5}}}).what, "launch overhead");
  EXPECT_NE(find_limit({.phases = {{"wait", 0.3}}}).sentence.find("30 %"), std::string::npos);
}

TEST(Efficiency, WithoutOverheadTheMachineLimits) {
  EXPECT_EQ(find_limit({.flops_share = 0.7}).what, "arithmetic");
  EXPECT_EQ(find_limit({.flops_share = 0.2, .bandwidth_share = 0.8}).what, "memory");
  const Limit kernels =
      find_limit({.phases = {{"wait", 0.05}}, .flops_share = 0.01, .slowest_section = "3 conv2d backward"});
  EXPECT_EQ(kernels.what, "kernels");
  EXPECT_NE(kernels.sentence.find("3 conv2d backward"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
