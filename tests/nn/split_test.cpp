#include "lockstep/nn/split.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/columns.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {
namespace {

TEST(SplitChannels, GivesEveryChannelToOneMember) {
  for (const std::int64_t channels : {1, 3, 10, 16, 33, 128})
    for (const int members : {1, 2, 3, 7, 40}) {
      const Split split = split_channels(channels, members);
      EXPECT_EQ(split.members(), members);
      std::int64_t next = 0;
      for (int m = 0; m < members; ++m) {
        const Channels part = split.part(channels, m);
        EXPECT_EQ(part.first, next);
        next += part.count;
        // Behind a flatten a channel is many rows.
        EXPECT_EQ(split.part(channels * 25, m).first, part.first * 25);
      }
      EXPECT_EQ(next, channels);
    }
}

TEST(Split, OfNothingIsEverybodysWhole) {
  const Split whole;
  EXPECT_TRUE(whole.whole());
  EXPECT_EQ(whole.part(12, 3).first, 0);
  EXPECT_EQ(whole.part(12, 3).count, 12);
}

TEST(SplitLayers, FollowChannelsThroughPooling) {
  Network net({1, 8, 8});
  net.add(Conv2d{.out = 6, .kernel = 3, .pad = 1}).add(BatchNorm{}).add(MaxPool2d{}).add(Flatten{}).add(Dropout{});
  net.add(Linear{.out = 10}).add(Softmax{}).add(Linear{.out = 4});
  std::vector<LayerPlan> plans = net.plans();
  split_layers(plans, 1, 2, split_channels(1, 2));
  const Split six = split_channels(6, 2), ten = split_channels(10, 2);
  for (const std::size_t layer : {0, 1, 2, 3, 4}) EXPECT_EQ(plans[layer].out_split, six) << layer;
  EXPECT_EQ(plans[5].in_split, six);
  EXPECT_EQ(plans[5].out_split, ten);
  EXPECT_EQ(plans[5].parameters[0].shape, (Shape{5, 96}));
  EXPECT_EQ(plans[5].parameters[0].skipped, 5 * 96);
  EXPECT_TRUE(plans[6].out_split.whole());  // softmax needs all, and everybody computes it
  EXPECT_EQ(plans[7].in_split, ten);
}

TEST(Columns, AreWhatTheRowsHoldOfTheseInputs) {
  const WeightShape shape{.out = 6, .in = 4, .groups = 2, .taps = 3};
  std::vector<float> weight(6 * 2 * 3);
  std::iota(weight.begin(), weight.end(), 0.0F);
  for (const Channels& ins : {Channels{0, 4}, Channels{1, 2}, Channels{3, 1}, Channels{2, 0}}) {
    std::vector<float> expected;  // output by output
    for (std::int64_t out = 0; out < 6; ++out)
      for (std::int64_t in = ins.first; in < ins.first + ins.count; ++in)
        for (std::int64_t tap = 0; tap < 3 && in / 2 == out / 3; ++tap)
          expected.push_back(weight[static_cast<std::size_t>((out * 2 + in % 2) * 3 + tap)]);
    EXPECT_EQ(column_elements(shape, {0, 6}, ins), static_cast<std::int64_t>(expected.size()));
    // From two holders of rows, one behind the other.
    std::vector<float> columns(expected.size());
    float* end = copy_columns(shape, weight.data(), {0, 4}, ins, columns.data());
    end = copy_columns(shape, weight.data() + 4 * 2 * 3, {4, 2}, ins, end);
    EXPECT_EQ(end, columns.data() + columns.size());
    EXPECT_EQ(columns, expected);
  }
}

TEST(GroupRuns, AreWholeGroupsOrPartsOfOne) {
  std::vector<std::vector<std::int64_t>> runs;
  for_each_group_run({1, 9}, 3, [&](const Channels& some, std::int64_t first_group, std::int64_t groups) {
    runs.push_back({some.first, some.count, first_group, groups});
  });
  EXPECT_EQ(runs, (std::vector<std::vector<std::int64_t>>{{1, 2, 0, 1}, {3, 6, 1, 2}, {9, 1, 3, 1}}));
}

}  // namespace
}  // namespace lockstep
