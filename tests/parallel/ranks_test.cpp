#include "lockstep/parallel/ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "lockstep/core/error.hpp"
#include "lockstep/parallel/team.hpp"
#include "tests/parallel/rank_threads.hpp"

namespace lockstep {
namespace {

TEST(Ranks, EverybodyHearsEverybody) {
  for (const int size : {1, 2, 3, 5, 8})
    run_ranks(size, [&](Ranks& ranks) {
      // texts of different lengths, one of them empty
      const auto text_of = [](int rank) {
        return std::string(static_cast<std::size_t>(rank * rank), char('a' + rank));
      };
      const std::vector<std::string> all = ranks.all_gather(text_of(ranks.rank()), "test");
      ASSERT_EQ(all.size(), static_cast<std::size_t>(size));
      for (int rank = 0; rank < size; ++rank) EXPECT_EQ(all[static_cast<std::size_t>(rank)], text_of(rank));
      EXPECT_EQ(ranks.broadcast(ranks.leader() ? "from rank 0" : "not mine", "test"), "from rank 0");
      ranks.barrier("test");
    });
}

TEST(Ranks, SharesAreGathered) {
  for (const int size : {1, 2, 3, 7})
    for (const std::int64_t count : {0, 1, 5, 16})
      run_ranks(size, [&](Ranks& ranks) {
        std::vector<double> data(static_cast<std::size_t>(count), -1);
        for (std::int64_t i = ranks.share(count, ranks.rank()); i < ranks.share(count, ranks.rank() + 1); ++i)
          data[static_cast<std::size_t>(i)] = double(i);
        gather_shares(ranks, data.data(), count, "test");
        for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(data[static_cast<std::size_t>(i)], double(i));
      });
}

TEST(Ranks, ASilentPeerIsNamed) {
  try {
    run_ranks(
        3,
        [](Ranks& ranks) {
          ranks.note_step(41);
          if (ranks.rank() == 2) return;  // says nothing and leaves
          ranks.barrier("reduce");
        },
        std::chrono::milliseconds(50));
    FAIL() << "nobody noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::peer_lost);
    const std::string message = error.what();
    for (const char* part : {"rank 0", "rank 2", "phase reduce", "after step 41", "go on from the last checkpoint"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(Ranks, AWaitIsPatientWhileSomebodyWorks) {
  run_ranks(
      2,
      [](Ranks& ranks) {
        ranks.status().somebody_works = true;
        if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        ranks.barrier("test");
      },
      std::chrono::milliseconds(50));
}

TEST(Ranks, AWaitTellsWhatTheRankDoes) {
  run_ranks(2, [](Ranks& ranks) {
    ranks.note_phase("loading");
    std::atomic<bool> seen = false;
    std::thread other([&] {
      for (int i = 0; i < 5000 && !seen; ++i) {
        seen = ranks.status().waiting && std::string(ranks.status().phase) == "meeting";
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ranks.barrier("meeting");
    if (ranks.rank() == 1) seen = true;  // may not have had to wait
    other.join();
    EXPECT_TRUE(seen);
    EXPECT_FALSE(ranks.status().waiting);
    EXPECT_STREQ(ranks.status().phase, "loading");
    ranks.note_step(5);
    EXPECT_STREQ(ranks.status().phase, "training");
  });
}

TEST(Ranks, MoreRanksThanProcessorsShareThem) {
  const int processors = available_cpus();
  for (const int size : {processors, processors + 1})
    run_ranks(size, [&](Ranks& ranks) {
      EXPECT_EQ(ranks.transport().shares_cores(), size > processors);
      std::vector<int> all(static_cast<std::size_t>(size));
      for (int rank = 0; rank < size; ++rank) all[static_cast<std::size_t>(rank)] = rank;
      Ranks group(ranks, all, 1);
      EXPECT_EQ(group.transport().shares_cores(), size > processors);
      group.barrier("test");
    });
}

TEST(Ranks, TheTimeoutComesFromTheEnvironment) {
  ::setenv("LOCKSTEP_PEER_TIMEOUT", "2.5", 1);
  EXPECT_EQ(peer_timeout(), std::chrono::milliseconds(2500));
  for (const char* bad : {"0", "-1", "soon", "1s", "1e9", "nan"}) {
    ::setenv("LOCKSTEP_PEER_TIMEOUT", bad, 1);
    EXPECT_THROW(peer_timeout(), Error) << bad;
  }
  ::setenv("LOCKSTEP_PEER_TIMEOUT", "1000", 1);
  EXPECT_EQ(wait_timeout(), std::chrono::seconds(1000));
  ::unsetenv("LOCKSTEP_PEER_TIMEOUT");
  EXPECT_EQ(peer_timeout(), std::chrono::seconds(8));
  EXPECT_EQ(wait_timeout(), std::chrono::seconds(300));
}

}  // namespace
}  // namespace lockstep
