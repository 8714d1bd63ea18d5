#include "lockstep/parallel/rank_tree.hpp"

#include <gtest/gtest.h>

#include "lockstep/kernels/naive/table.hpp"
#include "tests/parallel/rank_threads.hpp"
#include "tests/parallel/slot_leaves.hpp"

namespace lockstep {
namespace {

float expected(std::int64_t slots, std::int64_t element) { return subtree_sum(element, 0, slots); }

/// The sums of a rank's slots, as its team leaves them.
std::vector<std::vector<float>> local_sums(const std::vector<Subtree<float>>& nodes, std::int64_t elements) {
  std::vector<std::vector<float>> sums;
  for (const Subtree<float>& node : nodes) {
    std::vector<float>& sum = sums.emplace_back(static_cast<std::size_t>(elements));
    for (std::int64_t e = 0; e < elements; ++e)
      sum[static_cast<std::size_t>(e)] = subtree_sum(e, node.index << node.level, std::int64_t{1} << node.level);
  }
  return sums;
}

TEST(RankTree, AnyNumberOfRanksGivesTheTree) {
  const KernelTable<float> kernels = make_naive_table<float>();
  for (const StretchLayout layout : {StretchLayout{37, 30, 4}, StretchLayout{3, 3, 4}, StretchLayout{9, 0, 4}})
    for (const std::int64_t slots : {1, 2, 4, 8, 64})
      for (const int size : {1, 2, 3, 4, 5, 7, 8, 9, 17, 32, 37})
        run_ranks(size, [&](Ranks& ranks) {
          KernelContext context;
          RankTree<float> tree(ranks, slots, layout);
          std::vector<Subtree<float>> nodes = subtrees_of<float>(tree.first_slot(), tree.last_slot());
          std::vector<std::vector<float>> sums = local_sums(nodes, layout.elements);
          for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].sum = sums[i].data();
          float* const total = tree.reduce(nodes, kernels, context);
          for (std::int64_t e = tree.first(); e < tree.last(); ++e) ASSERT_EQ(total[e], expected(slots, e));
          tree.gather(total);
          for (std::int64_t e = 0; e < layout.elements; ++e)
            ASSERT_EQ(total[e], expected(slots, e)) << slots << " slots, " << size << " ranks, element " << e;
        });
}

// One rank owns everything: other messages, the same sums.
TEST(RankTree, GatheringAtRankZeroGivesTheTree) {
  const KernelTable<float> kernels = make_naive_table<float>();
  const StretchLayout layout{37, 30, 4};
  for (const std::int64_t slots : {1, 8, 64})
    for (const int size : {1, 2, 3, 8})
      run_ranks(size, [&](Ranks& ranks) {
        KernelContext context;
        RankTree<float> tree(ranks, slots, layout, RankReduction::gather);
        EXPECT_EQ(tree.last() - tree.first(), ranks.leader() ? 37 : 0);
        EXPECT_EQ(tree.last_block() - tree.first_block(), ranks.leader() ? 8 : 0);
        EXPECT_EQ(tree.owns_the_end(), ranks.leader());
        std::vector<Subtree<float>> nodes = subtrees_of<float>(tree.first_slot(), tree.last_slot());
        std::vector<std::vector<float>> sums = local_sums(nodes, layout.elements);
        for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].sum = sums[i].data();
        float* const total = tree.reduce(nodes, kernels, context);
        tree.gather(total);
        for (std::int64_t e = 0; e < layout.elements; ++e)
          ASSERT_EQ(total[e], expected(slots, e)) << slots << " slots, " << size << " ranks, element " << e;
      });
}

TEST(RankTree, StretchesCoverTheVectorOnce) {
  const StretchLayout layout{100, 90, 16};
  for (const int size : {1, 2, 3, 4, 8, 16})
    run_ranks(size, [&](Ranks& ranks) {
      const RankTree<double> tree(ranks, 64, layout);
      // which rank owns each element: gathered, and counted
      std::vector<std::int64_t> owners(100 * static_cast<std::size_t>(size), 0);
      for (std::int64_t e = tree.first(); e < tree.last(); ++e)
        owners[static_cast<std::size_t>(100 * ranks.rank() + e)] = 1;
      gather_shares(ranks, owners.data(), 100 * size, "test");
      for (std::size_t e = 0; e < 100; ++e) {
        std::int64_t count = 0;
        for (std::size_t rank = 0; rank < static_cast<std::size_t>(size); ++rank) count += owners[100 * rank + e];
        EXPECT_EQ(count, 1) << "element " << e;
      }
      EXPECT_TRUE(tree.first() == tree.last() || tree.first() % 16 == 0 || tree.first() >= 90);
      EXPECT_EQ(tree.owns_the_end(), tree.last() == 100 && tree.first_block() < 6);
    });
}

TEST(RankTree, BlocksAreGathered) {
  for (const int size : {2, 3, 4})
    run_ranks(size, [&](Ranks& ranks) {
      RankTree<float> tree(ranks, 8, {70, 70, 8});
      std::vector<double> squares(9, -1);
      for (std::int64_t b = tree.first_block(); b < tree.last_block(); ++b)
        squares[static_cast<std::size_t>(b)] = double(b);
      tree.gather_blocks(squares.data());
      for (std::size_t b = 0; b < 9; ++b) EXPECT_EQ(squares[b], double(b));
    });
}

// The figures of docs/algorithms.md.
TEST(RankTree, BytesAreThoseOfTheAlgorithm) {
  for (const int size : {2, 4, 8})
    run_ranks(size, [&](Ranks& ranks) {
      const KernelTable<float> kernels = make_naive_table<float>();
      KernelContext context;
      RankTree<float> tree(ranks, 8, {64, 64, 1});
      std::vector<float> sum(64, 1.0F);
      const Subtree<float> node{sum.data(), 0, ranks.rank()};
      tree.gather(tree.reduce(std::span(&node, 1), kernels, context));
      EXPECT_EQ(tree.bytes_sent(), 2 * 64 * 4 * (size - 1) / size);
    });
}

TEST(RankTree, ManyRanksSendNoMoreBytes) {
  constexpr int kRanks = 24;
  run_ranks(kRanks, [&](Ranks& ranks) {
    RankTree<float> tree(ranks, 8, {48, 48, 1});
    std::vector<float> values(48, -1.0F);
    for (std::int64_t e = tree.first(); e < tree.last(); ++e) values[static_cast<std::size_t>(e)] = float(e);
    tree.gather(values.data());
    for (std::size_t e = 0; e < values.size(); ++e) EXPECT_EQ(values[e], float(e));
    EXPECT_EQ(tree.bytes_sent(), 48 * 4 * (kRanks - 1) / kRanks);
  });
}

}  // namespace
}  // namespace lockstep
