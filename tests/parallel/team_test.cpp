#include "lockstep/parallel/team.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

TEST(Team, EveryMemberRunsOnce) {
  for (const int threads : {1, 2, 3, 8, 64}) {
    std::vector<int> seen(static_cast<std::size_t>(threads));
    run_team(threads, [&](const Member& member) {
      EXPECT_EQ(member.size, threads);
      ++seen[static_cast<std::size_t>(member.index)];
    });
    EXPECT_EQ(seen, std::vector<int>(static_cast<std::size_t>(threads), 1));
  }
}

TEST(Team, SharesCoverARangeWithoutOverlap) {
  Barrier barrier(5, std::chrono::nanoseconds{0});
  const Member member{.index = 0, .size = 5, .barrier = barrier};
  for (const std::int64_t count : {0, 1, 4, 5, 64, 1001}) {
    EXPECT_EQ(member.share(count, 0), 0);
    EXPECT_EQ(member.share(count, 5), count);
    for (int m = 0; m < 5; ++m) {
      const std::int64_t size = member.share(count, m + 1) - member.share(count, m);
      EXPECT_GE(size, count / 5);
      EXPECT_LE(size, count / 5 + 1);
    }
  }
}

TEST(Team, FailureReachesTheCallerAndFreesOthers) {
  try {
    run_team(4, [](const Member& member) {
      if (member.index == 2) throw Error(ErrorCode::diverged, "member 2");
      member.barrier.wait();  // would wait for ever
    });
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "member 2");
  }
}

TEST(Team, RunsAgainAfterAFailure) {
  Team team(3);
  for (int round = 0; round < 3; ++round) {
    EXPECT_THROW(team.run([](const Member& member) {
      if (member.index == 1) throw Error(ErrorCode::diverged, "member 1");
      member.barrier.wait();
    }),
                 Error);
    std::vector<int> seen(3), sums(3);
    team.run([&](const Member& member) {
      seen[static_cast<std::size_t>(member.index)] = member.index + 1;
      member.barrier.wait();
      sums[static_cast<std::size_t>(member.index)] = std::accumulate(seen.begin(), seen.end(), 0);
    });
    EXPECT_EQ(sums, std::vector<int>(3, 6));
  }
}

TEST(Team, ThreadsComeFromTheEnvironmentFirst) {
  ASSERT_EQ(setenv("OMP_NUM_THREADS", "3", 1), 0);
  EXPECT_EQ(default_threads(), 3);
  ASSERT_EQ(setenv("OMP_NUM_THREADS", "2, 4", 1), 0);  // of nested regions: the first is ours
  EXPECT_EQ(default_threads(), 2);
  for (const char* garbage : {"many", "0", "-1", "1025", "100000", "99999999999", "2x", "2,", "1e3"}) {
    ASSERT_EQ(setenv("OMP_NUM_THREADS", garbage, 1), 0);
    EXPECT_THROW(static_cast<void>(default_threads()), Error) << garbage;
  }
  ASSERT_EQ(unsetenv("OMP_NUM_THREADS"), 0);
  EXPECT_EQ(default_threads(), available_cpus());
  EXPECT_GE(available_cpus(), 1);
}

TEST(Team, OneThreadInsideAParallelRegion) {
  std::vector<int> threads(2);
  std::string refused;
  run_team(2, [&](const Member& member) {
    threads[static_cast<std::size_t>(member.index)] = default_threads();
    if (member.index == 0) try {
        run_team(2, [](const Member&) {});
      } catch (const Error& error) {
        refused = error.what();
      }
  });
  if (refused.empty()) GTEST_SKIP() << "teams of this build are no OpenMP regions";
  EXPECT_EQ(threads, std::vector<int>(2, 1));
  EXPECT_NE(refused.find("inside a parallel region"), std::string::npos) << refused;
  EXPECT_EQ(refused.find("--"), std::string::npos) << refused;
}

TEST(Team, TheMapNamesEveryThread) {
  const std::vector<std::string> map = thread_map(3);
  ASSERT_EQ(map.size(), 3U);
  EXPECT_EQ(map[2].rfind("thread 2 on cpu ", 0), 0U) << map[2];
}

}  // namespace
}  // namespace lockstep
