#include "lockstep/simulate/alpha_beta.hpp"

#include <array>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

// A microsecond per message, a nanosecond per byte: everything can be added up by hand.
constexpr AlphaBeta kNetwork{.alpha = 1e-6, .beta = 1e-9};

double seconds(RankReduction how, int ranks, std::int64_t slots, double bytes) {
  return reduction_seconds(how, kNetwork, ranks, {.slots = slots, .bytes = bytes});
}

TEST(AlphaBeta, OneRankTellsNobody) {
  for (const RankReduction how : {RankReduction::tree, RankReduction::gather, RankReduction::library})
    EXPECT_EQ(seconds(how, 1, 64, 1e6), 0);
  EXPECT_EQ(gather_seconds(kNetwork, 1, 1e6), 0);
}

TEST(AlphaBeta, TreeByHalving) {
  // 2 ranks: half of 100000 bytes there, half back: 2 (1 us + 50 us).
  EXPECT_DOUBLE_EQ(seconds(RankReduction::tree, 2, 64, 1e5), 102e-6);
  // 4 ranks: two messages each way with 50000 + 25000 bytes.
  EXPECT_DOUBLE_EQ(seconds(RankReduction::tree, 4, 64, 1e5), 2 * (2e-6 + 75e-6));
  // 8 ranks: three, with 7/8 of the bytes.
  EXPECT_DOUBLE_EQ(seconds(RankReduction::tree, 8, 64, 1e5), 2 * (3e-6 + 87.5e-6));
}

TEST(AlphaBeta, TreeByExchange) {
  // 3 ranks of 64 slots have 3, 5 and 3 subtrees (docs/algorithms.md): 5 times 2/3 of the bytes, and back once.
  EXPECT_NEAR(seconds(RankReduction::tree, 3, 64, 3e5), 2e-6 + 6 * 200e-6, 1e-12);
  // More ranks than slots: some have no subtree, nobody more than one.
  EXPECT_NEAR(seconds(RankReduction::tree, 4, 2, 1e5), 2e-6 + 2 * 75e-6, 1e-12);
}

TEST(AlphaBeta, ManyRanksPassOnWhatTheyKnow) {
  // 32 subtrees of one slot; one exchange, and six rounds in which 48 ranks learn everything
  EXPECT_NEAR(seconds(RankReduction::tree, 48, 32, 48e3), 7e-6 + 2 * 47e-6, 1e-12);
}

TEST(AlphaBeta, GatherGoesThroughOneRank) {
  // 4 ranks with one subtree each: three vectors in, three out.
  EXPECT_NEAR(seconds(RankReduction::gather, 4, 64, 1e5), 2e-6 + 6 * 100e-6, 1e-12);
}

TEST(AlphaBeta, LibraryChoosesBySize) {
  // 1000 bytes on 8 ranks: recursive doubling in three rounds; on 5 ranks as many.
  EXPECT_NEAR(seconds(RankReduction::library, 8, 64, 1000), 3 * 2e-6, 1e-15);
  EXPECT_NEAR(seconds(RankReduction::library, 5, 64, 1000), 3 * 2e-6, 1e-15);
  // 80000 bytes on 8 ranks: a ring of 14 messages with 10000 bytes each.
  EXPECT_NEAR(seconds(RankReduction::library, 8, 64, 80000), 14 * 11e-6, 1e-12);
}

TEST(AlphaBeta, PartsOfAMatrix) { EXPECT_DOUBLE_EQ(gather_seconds(kNetwork, 4, 4e5), 1e-6 + 300e-6); }

TEST(AlphaBeta, PipelineFillsAndDrains) {
  // Two stages, the slower one 3 ms, 4 chunks of 1000 bytes: 5 times 3 ms, and one message each way.
  const std::array stages = {2e-3, 3e-3};
  EXPECT_DOUBLE_EQ(pipeline_seconds(kNetwork, stages, 4, 1000), 15e-3 + 2 * 2e-6);
}

SumTraffic all_ranks(int ranks, std::int64_t count) {
  SumTraffic all;
  for (int rank = 0; rank < ranks; ++rank) {
    const SumTraffic own = library_sum_traffic(ranks, rank, count, 4);
    all = {all.messages + own.messages, all.bytes + own.bytes};
  }
  return all;
}

TEST(AlphaBeta, BytesOfTheLibrarysSum) {
  EXPECT_EQ(all_ranks(1, 11926).bytes, 0);
  // 2 ranks, 11926 numbers: a ring, every number goes there and its sum comes back.
  EXPECT_EQ(all_ranks(2, 11926).bytes, 2 * 11926 * 4);
  for (const int ranks : {2, 3, 4, 7, 16})
    for (const std::int64_t count : {2500, 2501, 100003}) {
      EXPECT_EQ(all_ranks(ranks, count).bytes, 2 * (ranks - 1) * count * 4) << ranks << " " << count;
      EXPECT_EQ(all_ranks(ranks, count).messages, 2 * (ranks - 1) * ranks);
    }
  // Below 10 kB everything goes log2 R times; 3 ranks: one hands over, two swap, and it gets the sum.
  EXPECT_EQ(all_ranks(8, 100).bytes, 8 * 3 * 400);
  EXPECT_EQ(all_ranks(3, 100).messages, 1 + 2 + 1);
  EXPECT_EQ(all_ranks(6, 100).messages, 2 + 4 * 2 + 2);
}

}  // namespace
}  // namespace lockstep
