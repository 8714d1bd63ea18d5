#include "lockstep/parallel/barrier.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace lockstep {
namespace {

/// Every thread writes its cell in each round; after the barrier all cells must show that round.
void run_rounds(int threads, int spin, int rounds) {
  Barrier barrier(threads, std::chrono::microseconds(spin));
  std::vector<int> cells(static_cast<std::size_t>(threads), -1);
  std::atomic<int> wrong{0};
  std::vector<std::jthread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      for (int round = 0; round < rounds; ++round) {
        cells[static_cast<std::size_t>(t)] = round;
        barrier.wait();
        for (const int cell : cells) wrong += cell != round;
        barrier.wait();
      }
    });
  team.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(Barrier, OneThreadNeverWaits) { run_rounds(1, 0, 1000); }
TEST(Barrier, ShowsEveryWriteWhenSpinning) { run_rounds(2, 50, 2000); }
TEST(Barrier, ShowsEveryWriteWhenSleeping) { run_rounds(7, 0, 200); }

TEST(Barrier, AFailureWakesSleepersAndStays) {
  Barrier barrier(2, std::chrono::nanoseconds{0});
  std::atomic<bool> woken{false};
  std::jthread waiter([&] {
    try {
      barrier.wait();
    } catch (const TeamFailed&) {
      woken = true;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  barrier.fail();
  waiter.join();
  EXPECT_TRUE(woken);
  EXPECT_THROW(barrier.wait(), TeamFailed);
}

}  // namespace
}  // namespace lockstep
