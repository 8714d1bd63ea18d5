#include "lockstep/parallel/overlapped_reduction.hpp"

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

/// A thread adds up its slots, the last of them slice by slice.
void sum_up(OverlappedReduction<float>& reduction, SlotSums<float>& sums, const Firsts& firsts, std::int64_t elements,
            std::int64_t first, std::int64_t last) {
  const KernelTable<float> kernels = make_naive_table<float>();
  KernelContext context;
  OverlappedReduction<float>::Thread thread(reduction, sums, context);
  thread.begin(nullptr);
  sums.clear();
  const auto write = [](float* to, std::int64_t slot, std::int64_t from, std::int64_t end) {
    for (std::int64_t e = from; e < end; ++e) to[e] = leaf(slot, e);
  };
  for (std::int64_t slot = first; slot + 1 < last; ++slot) {
    write(sums.next(), slot, 0, elements);
    sums.push(node_of(slot, 1), kernels, context);
  }
  float* const last_sum = first < last ? sums.next() : nullptr;
  if (first < last) thread.announce(node_of(last - 1, 1));
  std::int64_t end = elements;
  for (const std::int64_t from : firsts) {
    if (first < last) write(last_sum, last - 1, from, end);
    std::this_thread::yield();
    thread.complete_from(from);
    end = from;
  }
}

TEST(OverlappedReduction, IsTheTreeForAnyRanks) {
  constexpr std::int64_t kElements = 41;
  const Firsts firsts = {30, 11, 10, 0};
  for (const RankReduction reduce : {RankReduction::tree, RankReduction::gather})
    for (const std::int64_t slots : {1, 4, 16})
      for (const int size : {2, 3, 4})
        for (const int threads : {1, 2, 3})
          run_ranks(size, [&](Ranks& ranks) {
            const KernelTable<float> kernels = make_naive_table<float>();
            KernelContext context;
            RankTree<float> tree(ranks, slots, {kElements, 36, 4}, reduce);
            std::vector<SlotSums<float>> sums(static_cast<std::size_t>(threads), SlotSums<float>(kElements));
            std::vector<SlotSums<float>*> all;
            for (SlotSums<float>& each : sums) all.push_back(&each);
            OverlappedReduction<float> reduction(tree, firsts, kElements, all, kernels);
            for (int step = 0; step < 3; ++step) {
              std::vector<std::thread> team;
              const std::int64_t own = tree.last_slot() - tree.first_slot();
              for (int m = 0; m < threads; ++m)
                team.emplace_back([&, m] {
                  sum_up(reduction, sums[static_cast<std::size_t>(m)], firsts, kElements,
                         tree.first_slot() + own * m / threads, tree.first_slot() + own * (m + 1) / threads);
                });
              for (std::thread& each : team) each.join();
              float* const total = reduction.finish(context);
              tree.gather(total);
              for (std::int64_t e = 0; e < kElements; ++e)
                ASSERT_EQ(total[e], subtree_sum(e, 0, slots))
                    << slots << " slots, " << size << " ranks x " << threads << ", element " << e;
            }
          });
}

}  // namespace
}  // namespace lockstep
