#include "lockstep/parallel/heartbeat.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "tests/parallel/rank_threads.hpp"

namespace lockstep {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kSilence{1000};  // ten beats; long enough for a machine that is busy

/// What was said, and with which code ranks were ended by the heartbeat's thread.
struct Record {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::vector<int> ended;

  HeartbeatOptions options(milliseconds silence = kSilence, milliseconds grace = seconds(60)) {
    return {.silence = silence,
            .grace = grace,
            .launcher_gone = [] { return false; },
            .say =
                [this](const std::string& line) {
                  const std::lock_guard lock(mutex);
                  lines.push_back(line);
                },
            .end =
                [this](int code) {
                  const std::lock_guard lock(mutex);
                  ended.push_back(code);
                }};
  }
};

/// True when the run is over within a time that only a hang exceeds.
bool is_over(Ranks& ranks) {
  for (int i = 0; i < 2000 && !ranks.status().over; ++i) std::this_thread::sleep_for(milliseconds(10));
  return ranks.status().over;
}

TEST(Heartbeat, NobodyIsLostInARunThatEnds) {
  for (const int size : {1, 2, 5}) {
    Record record;
    run_ranks(size, [&](Ranks& ranks) {
      std::optional<Heartbeat> heartbeat(std::in_place, ranks, record.options(milliseconds(300)));
      EXPECT_EQ(heartbeat->unwatched(), 0);
      // Two silences long: beats are sent while the ranks are busy with other things.
      std::this_thread::sleep_for(milliseconds(600));
      ranks.barrier("test");
      EXPECT_FALSE(ranks.status().over);
      if (ranks.rank() == 1) std::this_thread::sleep_for(milliseconds(100));
      heartbeat.reset();
    });
    EXPECT_TRUE(record.lines.empty()) << record.lines.front();
    EXPECT_TRUE(record.ended.empty());
  }
}

/// A rank that never beats, as one that is stopped: nothing is heard of it, and its connection stays.
void expect_silence_is_noticed(int silent, int speaker) {
  Record record;
  std::atomic<int> thrown = 0;
  run_ranks(4, [&](Ranks& ranks) {
    ranks.note_step(41);
    HeartbeatOptions options = record.options();
    if (ranks.rank() == silent) {
      options.silence = std::chrono::hours(10);  // a tenth of it between two beats
      options.say = nullptr;
    }
    const Heartbeat heartbeat(ranks, options);
    if (ranks.rank() == silent) {
      EXPECT_TRUE(is_over(ranks)) << "the last beat of the others did not come";
      return;
    }
    try {
      std::byte byte{};
      ranks.receive(silent, {&byte, 1});
      ranks.wait("reduce");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::peer_lost);
      ++thrown;
    }
  });
  EXPECT_EQ(thrown, 3) << "all others leave their waits";
  ASSERT_EQ(record.lines.size(), 1u) << fmt::format("{}", fmt::join(record.lines, "\n"));
  for (const std::string& part :
       {fmt::format("rank {} on localhost was silent for 1 s", silent), std::string("phase training after step 41"),
        fmt::format("as rank {}", speaker), std::string("go on from the last checkpoint")})
    EXPECT_NE(record.lines[0].find(part), std::string::npos) << record.lines[0];
}

TEST(Heartbeat, ASilentRankIsLost) { expect_silence_is_noticed(2, 0); }
TEST(Heartbeat, ASilentRank0IsLost) { expect_silence_is_noticed(0, 1); }

TEST(Heartbeat, ARankThatEndsAllIsNotLost) {
  for (const int ending : {0, 2}) {
    Record record;
    run_ranks(3, [&](Ranks& ranks) {
      Heartbeat heartbeat(ranks, record.options());
      if (ranks.rank() == ending) {
        EXPECT_TRUE(heartbeat.end_all(5, "no space left"));
        EXPECT_FALSE(heartbeat.end_all(1, "an echo"));
      }
      EXPECT_TRUE(is_over(ranks));
      EXPECT_EQ(heartbeat.verdict(seconds(20)), 5);
    });
    EXPECT_EQ(record.lines, std::vector<std::string>{"no space left"});
    EXPECT_TRUE(record.ended.empty());
  }
}

TEST(Heartbeat, WhoDoesNotEndIsEnded) {
  Record record;
  run_ranks(2, [&](Ranks& ranks) {
    Heartbeat heartbeat(ranks, record.options(kSilence, milliseconds(50)));
    if (ranks.rank() == 0) heartbeat.end_all(7, "over");
    const auto both = [&] {
      const std::lock_guard lock(record.mutex);
      return record.ended.size() == 2;
    };
    for (int i = 0; i < 2000 && !both(); ++i) std::this_thread::sleep_for(milliseconds(10));
  });
  EXPECT_EQ(record.ended, (std::vector<int>{7, 7}));
}

TEST(Heartbeat, WhoCannotBeReachedIsNotWatched) {
  run_ranks(3, [](Ranks& ranks) {
    // No time to meet: all agree that no rank is connected, and go on.
    BeatLinks links(ranks, milliseconds(0));
    EXPECT_EQ(links.unwatched(), 2);
    EXPECT_TRUE(links.peers().empty());
    EXPECT_EQ(links.hosts(), std::vector<std::string>(3, "localhost"));
    ranks.barrier("test");
  });
}

TEST(Heartbeat, TheLauncherIsMissed) {
  Record record;
  run_ranks(1, [&](Ranks& ranks) {
    HeartbeatOptions options = record.options();
    options.launcher_gone = [] { return true; };
    const Heartbeat heartbeat(ranks, options);
    EXPECT_TRUE(is_over(ranks));
  });
  ASSERT_EQ(record.lines.size(), 1u);
  EXPECT_NE(record.lines[0].find("its launcher"), std::string::npos) << record.lines[0];
}

TEST(Heartbeat, ACallThatDoesNotReturnEndsTheRun) {
  for (const bool both : {false, true}) {
    Record record;
    std::vector<std::pair<int, std::string>> over;
    run_ranks(2, [&](Ranks& ranks) {
      LibraryCalls calls;
      const bool held = both || ranks.rank() == 1;
      HeartbeatOptions options = record.options();
      options.calls = &calls;
      options.stuck_call = milliseconds(500);
      options.on_over = [&](int code, const std::string& line) {
        const std::lock_guard lock(record.mutex);
        over.emplace_back(code, line);
      };
      ranks.note_step(41);
      const Heartbeat heartbeat(ranks, options);
      const LibraryCall call(held ? &calls : nullptr);
      EXPECT_TRUE(is_over(ranks));
    });
    ASSERT_EQ(record.lines.size(), 1u) << fmt::format("{}", fmt::join(record.lines, "\n"));
    EXPECT_TRUE(record.lines[0].starts_with(fmt::format("rank {} on localhost: a call into ", both ? 0 : 1)))
        << record.lines[0];
    EXPECT_NE(record.lines[0].find("not returned for 0.5 s, in phase training after step 41"), std::string::npos)
        << record.lines[0];
    ASSERT_EQ(over.size(), 2u) << "every rank learns it, one says it";
    EXPECT_EQ(over[0], std::pair(7, record.lines[0]));
    EXPECT_EQ(over[1], std::pair(7, std::string()));
  }
}

TEST(Heartbeat, RanksThatAllDoNothingEndTheRun) {
  Record record;
  run_ranks(3, [&](Ranks& ranks) {
    HeartbeatOptions options = record.options();
    options.idle = milliseconds(500);
    // Their threads share one processor clock: those that wait do not work.
    ranks.status().waiting = true;
    const Heartbeat heartbeat(ranks, options);
    EXPECT_TRUE(is_over(ranks));
  });
  ASSERT_EQ(record.lines.size(), 1u) << fmt::format("{}", fmt::join(record.lines, "\n"));
  EXPECT_NE(record.lines[0].find("no rank has done anything for 0.5 s"), std::string::npos) << record.lines[0];
}

TEST(Heartbeat, EveryRankKnowsThatOneWorks) {
  Record record;
  run_ranks(3, [&](Ranks& ranks) {
    const Heartbeat heartbeat(ranks, record.options());
    // All threads share one processor clock here: whoever does not wait works.
    ranks.status().waiting = ranks.rank() != 2;
    std::atomic<bool> stop = false;
    std::thread busy([&] {
      while (!stop) {
      }
    });
    bool known = false;
    for (int i = 0; i < 2000 && !known; ++i) {
      known = ranks.status().somebody_works;
      std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_TRUE(known);
    ranks.barrier("test");
    ranks.status().waiting = true;
    bool idle = false;
    for (int i = 0; i < 2000 && !idle; ++i) {
      idle = !ranks.status().somebody_works;
      std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_TRUE(idle);
    stop = true;
    busy.join();
    ranks.barrier("test");
  });
}

}  // namespace
}  // namespace lockstep
