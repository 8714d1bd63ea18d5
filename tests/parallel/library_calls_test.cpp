#include "lockstep/parallel/watchdog.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(LibraryCalls, ACallThatDoesNotReturnIsStuck) {
  LibraryCalls calls;
  CallWatch watch(&calls);
  EXPECT_EQ(watch.stuck(seconds(1)), nanoseconds{});
  std::optional<LibraryCall> call(std::in_place, &calls);
  EXPECT_EQ(watch.stuck(seconds(1)), nanoseconds{}) << "seen for the first time";
  // This thread waits for nothing, but its looks take no processor time worth mentioning.
  EXPECT_EQ(watch.stuck(seconds(1)), seconds(1));
  EXPECT_EQ(watch.stuck(seconds(2)), seconds(3));
  EXPECT_EQ(watch.stuck({}), seconds(3)) << "this process was suspended";
  call.reset();
  EXPECT_EQ(watch.stuck(seconds(1)), nanoseconds{});
  call.emplace(&calls);
  EXPECT_EQ(watch.stuck(seconds(1)), nanoseconds{}) << "another call";
}

TEST(LibraryCalls, ACallThatWorksIsNot) {
  LibraryCalls calls;
  CallWatch watch(&calls);
  const LibraryCall call(&calls);
  for (int look = 0; look < 3; ++look) {
    const auto end = std::chrono::steady_clock::now() + milliseconds(50);
    while (std::chrono::steady_clock::now() < end) {
    }
    EXPECT_EQ(watch.stuck(seconds(1)), nanoseconds{});
  }
}

TEST(LibraryCalls, NobodyNeedsToWatch) {
  const LibraryCall call(nullptr);
  EXPECT_EQ(CallWatch(nullptr).stuck(seconds(1)), nanoseconds{});
}

}  // namespace
}  // namespace lockstep
