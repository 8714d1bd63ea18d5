#include "lockstep/core/system.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace lockstep {
namespace {

TEST(System, TimeIsUtcInIsoForm) {
  EXPECT_TRUE(std::regex_match(utc_now(), std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"))) << utc_now();
}

TEST(System, BootIdStaysTheSame) {
  EXPECT_EQ(boot_id().size(), 36U);
  EXPECT_EQ(boot_id(), boot_id());
}

}  // namespace
}  // namespace lockstep
