#include "lockstep/parallel/slot_sums.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "lockstep/kernels/naive/table.hpp"
#include "tests/parallel/slot_leaves.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t kSize = 37;

/// Slots [first, last) of a batch as one worker adds them up, in runs of at most `most` slots.
void sum_slots(SlotSums<float>& sums, std::int64_t first, std::int64_t last, std::int64_t most) {
  const KernelTable<float> kernels = make_naive_table<float>();
  KernelContext context;
  for (std::int64_t slot = first, run = 0; slot < last; slot += run) {
    run = aligned_run(slot, last, most);
    ASSERT_TRUE(std::has_single_bit(static_cast<std::uint64_t>(run)));
    ASSERT_EQ(slot % run, 0);
    float* const node = sums.next();
    for (std::int64_t e = 0; e < kSize; ++e) node[e] = subtree_sum(e, slot, run);
    sums.push(node_of(slot, run), kernels, context);
  }
}

TEST(SlotSums, AnyWorkersAndRunsGiveTheTree) {
  const KernelTable<float> kernels = make_naive_table<float>();
  KernelContext context;
  for (const std::int64_t slots : {1, 2, 4, 16, 64})
    for (const std::int64_t workers : {1, 2, 3, 4, 5, 7, 16, 70})
      for (const std::int64_t most : {1, 2, 8, 64}) {
        std::vector<SlotSums<float>> sums(static_cast<std::size_t>(workers), SlotSums<float>(kSize));
        std::vector<Subtree<float>> nodes;
        for (std::int64_t w = 0; w < workers; ++w) {
          SlotSums<float>& own = sums[static_cast<std::size_t>(w)];
          own.clear();
          sum_slots(own, slots * w / workers, slots * (w + 1) / workers, most);
          for (SlotNode<float>& node : own.nodes()) nodes.push_back({node.sum.data(), node.level, node.index});
        }
        // the vector in two stretches, as two members would finish it
        const auto left = add_up<float>(nodes, 0, 20, kernels, context);
        ASSERT_EQ(left.size(), 1U);
        const float* total = left[0].sum;
        EXPECT_EQ(total, add_up<float>(nodes, 20, kSize - 20, kernels, context)[0].sum);
        for (std::int64_t e = 0; e < kSize; ++e)
          ASSERT_EQ(total[e], subtree_sum(e, 0, slots))
              << slots << " slots, " << workers << " workers, runs of " << most;
      }
}

TEST(SlotSums, RangesFallIntoTheLargestSubtrees) {
  for (const std::int64_t last : {0, 1, 5, 8, 13, 64})
    for (std::int64_t first = 0; first <= last; ++first) {
      std::int64_t slot = first;
      for (const Subtree<float>& node : subtrees_of<float>(first, last)) {
        EXPECT_EQ(node.index << node.level, slot);
        slot += std::int64_t{1} << node.level;
        // nothing larger starts here and stays in the range
        EXPECT_TRUE(node.index % 2 != 0 || ((node.index + 2) << node.level) > last);
      }
      EXPECT_EQ(slot, last);
    }
}

TEST(SlotSums, TheOrderMatters) {
  // a check of the check: the plain chain over slots differs from the tree on this data
  std::int64_t different = 0;
  for (std::int64_t e = 0; e < kSize; ++e) {
    float chain = 0;
    for (std::int64_t s = 0; s < 64; ++s) chain += leaf(s, e);
    different += chain != subtree_sum(e, 0, 64);
  }
  EXPECT_GT(different, kSize / 2);
}

}  // namespace
}  // namespace lockstep
