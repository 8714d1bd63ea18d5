#include "lockstep/parallel/ranks.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
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
    EXPECT_EQ(error.code(), ExitCode::peer_lost);
    const std::string message = error.what();
    for (const char* part : {"rank 0", "rank 2", "phase reduce", "after step 41", "--resume"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

TEST(Ranks, TheTimeoutComesFromTheEnvironment) {
  ::setenv("LOCKSTEP_PEER_TIMEOUT", "2.5", 1);
  EXPECT_EQ(peer_timeout(), std::chrono::milliseconds(2500));
  for (const char* bad : {"0", "-1", "soon", "1s", "1e9", "nan"}) {
    ::setenv("LOCKSTEP_PEER_TIMEOUT", bad, 1);
    EXPECT_THROW(peer_timeout(), Error) << bad;
  }
  ::unsetenv("LOCKSTEP_PEER_TIMEOUT");
  EXPECT_EQ(peer_timeout(), std::chrono::seconds(300));
}

}  // namespace
}  // namespace lockstep
