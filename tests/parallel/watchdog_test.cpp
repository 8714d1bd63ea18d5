#include "lockstep/parallel/watchdog.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>

namespace lockstep {
namespace {

using std::chrono::milliseconds;

TEST(Watchdog, EndsWhatDoesNotReturn) {
  std::atomic<int> code = 0;
  testing::internal::CaptureStderr();
  {
    const Watchdog guard(milliseconds(20), "too late", 7, [&](int exit_code) { code = exit_code; });
    for (int i = 0; i < 500 && code == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(code, 7);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "too late\n");
}

TEST(Watchdog, LetsGoWhatReturns) {
  for (int i = 0; i < 100; ++i)
    const Watchdog guard(std::chrono::hours(1), "", 7, [](int) { ADD_FAILURE() << "ended"; });
}

TEST(Watchdog, ReallyEndsTheProcess) {
  EXPECT_EXIT(
      {
        const Watchdog guard(milliseconds(20), "gone", 7);
        std::this_thread::sleep_for(std::chrono::seconds(60));
      },
      testing::ExitedWithCode(7), "gone");
}

TEST(Watchdog, DoesNotWaitWhereThereIsNoHope) {
  std::atomic<int> code = 0;
  std::atomic<bool> hopeless = false;
  const Watchdog guard(
      std::chrono::hours(1), "", 7, [&](int exit_code) { code = exit_code; }, [&] { return hopeless.load(); });
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(code, 0);
  hopeless = true;
  for (int i = 0; i < 500 && code == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(code, 7);
}

TEST(Watchdog, ItsThreadsHearNoSignals) {
  bool blocked = false;
  start_quiet_thread([&] {
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1;
  }).join();
  EXPECT_TRUE(blocked);
}

}  // namespace
}  // namespace lockstep
