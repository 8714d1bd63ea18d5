#include "lockstep/parallel/sliced_reduction.hpp"

#include <bit>
#include <thread>

#include <gtest/gtest.h>

#include "lockstep/kernels/naive/table.hpp"
#include "tests/parallel/rank_threads.hpp"
#include "tests/parallel/slot_leaves.hpp"

namespace lockstep {
namespace {

using Firsts = std::vector<std::int64_t>;

TEST(Slices, BeginAtLayersAndAreLargeEnough) {
  EXPECT_EQ(slices_of({0, 10, 50, 90}, 100, 1), (Firsts{90, 50, 10, 0}));
  EXPECT_EQ(slices_of({0, 10, 50, 90}, 100, 30), (Firsts{50, 10, 0}));
  EXPECT_EQ(slices_of({0, 10, 50, 90}, 100, 200), (Firsts{0}));
  EXPECT_EQ(slices_of({}, 0, 8), (Firsts{0}));
}

/// A member adds up its slots, the last of them slice by slice.
void sum_up(SlotSums<float>& sums, SlicedReduction<float>& slices, std::int64_t first, std::int64_t last,
            const std::function<std::vector<Subtree<float>>()>& subtrees) {
  const KernelTable<float> kernels = make_naive_table<float>();
  KernelContext context;
  sums.clear();
  const auto write = [](float* to, std::int64_t slot, std::int64_t from, std::int64_t end) {
    for (std::int64_t e = from; e < end; ++e) to[e] = leaf(slot, e);
  };
  for (std::int64_t slot = first; slot + 1 < last; ++slot) {
    write(sums.next(), slot, 0, slices.last(0));
    sums.push(0, slot, kernels, context);
  }
  float* const last_sum = first < last ? sums.next() : nullptr;
  if (first < last) sums.announce(0, last - 1);
  for (std::size_t slice = 0; slice < slices.count(); ++slice) {
    if (first < last) {
      write(last_sum, last - 1, slices.first(slice), slices.last(slice));
      sums.add_announced(slices.first(slice), slices.last(slice) - slices.first(slice), kernels, context);
    }
    std::this_thread::yield();
    slices.arrive(slice, subtrees, kernels, context);
  }
}

TEST(SlicedReduction, IsTheTreeForAnyRanks) {
  constexpr std::int64_t kElements = 41;
  for (const RankReduction reduction : {RankReduction::tree, RankReduction::gather})
    for (const std::int64_t slots : {1, 4, 16})
      for (const int size : {2, 3, 4})
        for (const int members : {1, 2, 3})
          run_ranks(size, [&](Ranks& ranks) {
            const KernelTable<float> kernels = make_naive_table<float>();
            KernelContext context;
            RankTree<float> tree(ranks, slots, {kElements, 36, 4}, reduction);
            SlicedReduction<float> slices(tree, {30, 11, 10, 0}, kElements, members);
            std::vector<SlotSums<float>> sums(static_cast<std::size_t>(members), SlotSums<float>(kElements));
            const auto subtrees = [&] {
              std::vector<Subtree<float>> nodes;
              for (SlotSums<float>& each : sums)
                for (SlotNode<float>& node : each.nodes()) nodes.push_back({node.sum.data(), node.level, node.index});
              return nodes;
            };
            for (int step = 0; step < 3; ++step) {
              std::vector<std::thread> team;
              const std::int64_t own = tree.last_slot() - tree.first_slot();
              for (int m = 0; m < members; ++m)
                team.emplace_back([&, m] {
                  sum_up(sums[static_cast<std::size_t>(m)], slices, tree.first_slot() + own * m / members,
                         tree.first_slot() + own * (m + 1) / members, subtrees);
                });
              for (std::thread& each : team) each.join();
              float* const total = slices.finish(kernels, context);
              tree.gather(total);
              for (std::int64_t e = 0; e < kElements; ++e)
                ASSERT_EQ(total[e], subtree_sum(e, 0, slots))
                    << slots << " slots, " << size << " ranks x " << members << ", element " << e;
            }
          });
}

}  // namespace
}  // namespace lockstep
