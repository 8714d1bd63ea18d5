#include "cli/process/captured.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "cli/process/tools.hpp"

namespace lockstep::cli {
namespace {

TEST(Captured, BothStreamsAndTheExitCode) {
  const Captured done = run_captured({"sh", "-c", "echo out; echo one >&2; echo why >&2; exit 3"});
  EXPECT_EQ(done.code, 3);
  EXPECT_FALSE(done.ok());
  EXPECT_EQ(done.out, "out\n");
  EXPECT_EQ(done.err, "one\nwhy\n");
  EXPECT_EQ(done.reason(), "why");
}

TEST(Captured, MoreThanAPipeHoldsOnBothStreams) {
  const Captured done = run_captured({"sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"});
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(done.out.size(), 300000U);
  EXPECT_EQ(done.err.size(), 300000U);
}

TEST(Captured, WhatDoesNotEndIsEndedWithItsChildren) {
  const auto start = std::chrono::steady_clock::now();
  const Captured done =
      run_captured({"sh", "-c", "sleep 60 & echo begun; sleep 60"}, {.patience = std::chrono::milliseconds(300)});
  EXPECT_TRUE(done.timed_out);
  EXPECT_FALSE(done.ok());
  EXPECT_EQ(done.out, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Captured, WhatItLeavesBehindIsNotWaitedFor) {
  const auto start = std::chrono::steady_clock::now();
  const Captured done = run_captured({"sh", "-c", "sleep 60 & echo done"});
  EXPECT_TRUE(done.ok());
  EXPECT_EQ(done.out, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Captured, TheUserMayStopIt) {
  const Captured done = run_captured({"sleep", "60"}, {.stopped = [] { return true; }});
  EXPECT_TRUE(done.stopped);
  EXPECT_FALSE(done.ok());
  EXPECT_EQ(done.reason(), "stopped by a signal");
}

TEST(Captured, AProgramThatIsNotThere) {
  const Captured done = run_captured({"lockstep-no-such-program"});
  EXPECT_EQ(done.code, 127);
  EXPECT_EQ(done.reason(), "it cannot be started");
}

TEST(Captured, EnvironmentIsAddedAndReplaced) {
  const Captured done =
      run_captured({"sh", "-c", "echo $LOCKSTEP_A $HOME"}, {.environment = {{"LOCKSTEP_A", "b"}, {"HOME", "c"}}});
  EXPECT_EQ(done.out, "b c\n");
}

TEST(Captured, NoInput) { EXPECT_EQ(run_captured({"cat"}).out, ""); }

TEST(Tools, ProgramsOnPath) {
  EXPECT_TRUE(find_program("sh"));
  EXPECT_FALSE(find_program("lockstep-no-such-program"));
  EXPECT_FALSE(find_in_tree("no/such/file"));
}

}  // namespace
}  // namespace lockstep::cli
