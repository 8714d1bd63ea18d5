#include "lockstep/distribute/stage.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

using Cuts = std::vector<std::size_t>;

TEST(BalancedCuts, MakeTheSlowestStageFastest) {
  EXPECT_EQ(balanced_cuts({1, 1, 1, 1}, 2), (Cuts{2, 4}));
  EXPECT_EQ(balanced_cuts({5, 1, 1, 1}, 2), (Cuts{1, 4}));
  EXPECT_EQ(balanced_cuts({1, 1, 1, 5}, 2), (Cuts{3, 4}));
  EXPECT_EQ(balanced_cuts({3, 3, 2, 2, 2}, 3), (Cuts{1, 3, 5}));
  EXPECT_EQ(balanced_cuts({0, 0, 7}, 3), (Cuts{1, 2, 3}));
  EXPECT_EQ(balanced_cuts({4, 2}, 1), (Cuts{2}));
}

Network network() {
  Network net({1, 8, 8});
  net.add(Conv2d{.out = 4, .kernel = 3}).add(BatchNorm{}).add(Relu{}).add(Flatten{});
  net.add(Linear{.out = 20}).add(BatchNorm{}).add(Linear{.out = 5});
  return net;
}

/// Grouped and ordinary convolutions, a residual block, more channels than members and fewer.
Network branched() {
  Network net({2, 8, 8});
  net.add(Conv2d{.out = 6, .kernel = 3, .pad = 1, .groups = 2}).add(MaxPool2d{});
  net.add(Residual{{Conv2d{.out = 6, .kernel = 1}, BatchNorm{}}, {}}).add(Flatten{}).add(Linear{.out = 3});
  return net;
}

TEST(Stages, HoldEveryParameterOnce) {
  for (const Network& net : {network(), branched()})
    for (const int count : {1, 2, 3, 5})
      for (const int members : {1, 2, 3, 7}) {
        const std::vector<Stage> parts = cut_into_stages(net, net.plans(), count, members);
        ASSERT_EQ(parts.size(), static_cast<std::size_t>(count * members));
        std::vector<int> holders(static_cast<std::size_t>(net.parameter_count()));
        for (const Stage& part : parts) {
          std::int64_t next = 0;
          for (const Piece& piece : part.pieces) {
            EXPECT_EQ(piece.own, next);
            EXPECT_EQ(piece.own < part.trainable, piece.whole < net.trainable_count());
            next += piece.count;
            for (std::int64_t i = 0; i < piece.count; ++i) ++holders[static_cast<std::size_t>(piece.whole + i)];
          }
          EXPECT_EQ(next, part.count);
          std::int64_t offset = 0;
          for (std::size_t i = 0; i < part.parameters.size(); ++i) {
            const ParameterInfo &own = part.parameters[i], &whole = net.parameters()[part.places[i]];
            EXPECT_EQ(own.name, whole.name);
            EXPECT_EQ(own.offset, offset);
            EXPECT_LE(own.skipped + own.elements(), whole.elements());
            offset += own.elements();
          }
        }
        EXPECT_EQ(holders, std::vector<int>(holders.size(), 1)) << count << " stages x " << members;
        EXPECT_EQ(parts.front().inputs, net.input().elements());
        EXPECT_EQ(parts.back().outputs, net.output().elements());
      }
}

TEST(Stages, WholeOnesAreTwoStretches) {
  const Network net = network();
  for (const Stage& stage : cut_into_stages(net, net.plans(), 2)) EXPECT_EQ(stage.pieces.size(), 2U);
}

TEST(Stages, NeedALayerEach) {
  const Network net = network();
  try {
    cut_into_stages(net, net.plans(), 8);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "parallel.pipeline = 8: the network has 7 layers, and a stage needs one");
  }
}

}  // namespace
}  // namespace lockstep
