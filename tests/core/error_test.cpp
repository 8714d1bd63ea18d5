#include "lockstep/core/error.hpp"

#include <cerrno>
#include <string>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Error, CarriesCodeAndMessage) {
  const Error error(ErrorCode::data, "train.idx: byte 4: size 9 is larger than the file");
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_STREQ(error.what(), "train.idx: byte 4: size 9 is larger than the file");
}

// Scripts test the numbers, so they are part of the interface.
TEST(Error, ExitCodesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(ErrorCode::done), 0);
  EXPECT_EQ(static_cast<int>(ErrorCode::bug), 1);
  EXPECT_EQ(static_cast<int>(ErrorCode::usage), 2);
  EXPECT_EQ(static_cast<int>(ErrorCode::data), 3);
  EXPECT_EQ(static_cast<int>(ErrorCode::checkpoint), 4);
  EXPECT_EQ(static_cast<int>(ErrorCode::resources), 5);
  EXPECT_EQ(static_cast<int>(ErrorCode::in_use), 6);
  EXPECT_EQ(static_cast<int>(ErrorCode::peer_lost), 7);
  EXPECT_EQ(static_cast<int>(ErrorCode::diverged), 8);
  EXPECT_EQ(static_cast<int>(ErrorCode::integrity), 9);
  EXPECT_EQ(static_cast<int>(ErrorCode::preempted), 10);
}

TEST(Error, SystemFailureIsSaidInWords) {
  try {
    fail_system(ErrorCode::resources, "cannot write run/model.safetensors", ENOSPC);
    FAIL() << "fail_system returned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resources);
    EXPECT_EQ(std::string(error.what()), "cannot write run/model.safetensors: No space left on device");
  }
}

}  // namespace
}  // namespace lockstep
