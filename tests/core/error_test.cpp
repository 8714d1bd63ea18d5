#include "lockstep/core/error.hpp"

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Error, CarriesCodeAndMessage) {
  const Error error(ExitCode::data, "train.idx: byte 4: size 9 is larger than the file");
  EXPECT_EQ(error.code(), ExitCode::data);
  EXPECT_STREQ(error.what(), "train.idx: byte 4: size 9 is larger than the file");
}

// Scripts test the numbers, so they are part of the interface.
TEST(Error, ExitCodesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(ExitCode::done), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::bug), 1);
  EXPECT_EQ(static_cast<int>(ExitCode::usage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::data), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::checkpoint), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::resources), 5);
  EXPECT_EQ(static_cast<int>(ExitCode::in_use), 6);
  EXPECT_EQ(static_cast<int>(ExitCode::peer_lost), 7);
  EXPECT_EQ(static_cast<int>(ExitCode::diverged), 8);
  EXPECT_EQ(static_cast<int>(ExitCode::integrity), 9);
  EXPECT_EQ(static_cast<int>(ExitCode::preempted), 10);
}

TEST(Error, SystemFailureIsSaidInWords) {
  try {
    fail_system(ExitCode::resources, "cannot write run/model.safetensors", ENOSPC);
    FAIL() << "fail_system returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::resources);
    EXPECT_EQ(std::string(error.what()), "cannot write run/model.safetensors: No space left on device");
  }
}

}  // namespace
}  // namespace lockstep
