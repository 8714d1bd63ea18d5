// What ranks tell each other besides gradients: directly where they are few, passing on what they know where they are
// many.

#include "lockstep/distribute/rank_grid.hpp"

#include <gtest/gtest.h>

#include "tests/parallel/rank_threads.hpp"

namespace lockstep {
namespace {

/// Every rank of several, of which `parts` hold one network as a pipeline, tells the scores of its slots.
void expect_all_scores(int size, int parts, int requester) {
  constexpr std::size_t kSlots = 64;
  const std::vector<Stage> stages(static_cast<std::size_t>(parts));
  run_ranks(size, [&](Ranks& ranks) {
    RankGrid grid(ranks, stages, 1);
    for (int round = 0; round < 2; ++round) {
      SlotScores scores{.loss = std::vector<double>(kSlots, -1), .correct = std::vector<std::int64_t>(kSlots, -1)};
      const Ranks& replicas = grid.replicas();
      const auto share = [&](int rank) { return static_cast<std::size_t>(replicas.share(kSlots, rank)); };
      const bool last = ranks.rank() % parts == parts - 1;  // of its pipeline: it has the scores
      for (std::size_t slot = share(replicas.rank()); last && slot < share(replicas.rank() + 1); ++slot) {
        scores.loss[slot] = double(slot) + round;
        scores.correct[slot] = static_cast<std::int64_t>(slot) * 2 + round;
      }
      grid.send_scores(scores, {.stop = ranks.rank() == requester && round == 1});
      EXPECT_EQ(grid.receive_scores(scores).stop, round == 1 && requester >= 0);
      for (std::size_t slot = 0; slot < kSlots; ++slot) {
        EXPECT_EQ(scores.loss[slot], double(slot) + round) << "slot " << slot << " at rank " << ranks.rank();
        EXPECT_EQ(scores.correct[slot], static_cast<std::int64_t>(slot) * 2 + round);
      }
    }
  });
}

TEST(RankGrid, FewRanksTellEachOtherTheScores) {
  expect_all_scores(1, 1, 0);
  expect_all_scores(4, 1, 3);
  expect_all_scores(6, 2, -1);
  expect_all_scores(16, 2, 9);
}

TEST(RankGrid, ManyRanksDoubleWhatTheyKnow) {
  expect_all_scores(32, 1, 0);
  expect_all_scores(32, 2, 31);
  expect_all_scores(32, 4, -1);
}

TEST(RankGrid, ManyRanksThatAreNoPowerOfTwo) {
  expect_all_scores(17, 1, 5);
  expect_all_scores(18, 2, 17);
  expect_all_scores(31, 1, -1);
  expect_all_scores(33, 3, 32);
}

}  // namespace
}  // namespace lockstep
