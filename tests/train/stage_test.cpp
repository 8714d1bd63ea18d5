#include "lockstep/train/stage.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

using Cuts = std::vector<std::size_t>;

TEST(BalancedCuts, MakeTheSlowestStageAsFastAsCanBe) {
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

TEST(Stages, HoldEveryParameterOnceInTheOrderOfTheVector) {
  const Network net = network();
  for (const int count : {1, 2, 3, 7}) {
    const std::vector<Stage> stages = cut_into_stages(net, net.plans(), count);
    ASSERT_EQ(stages.size(), static_cast<std::size_t>(count));
    std::int64_t trainable = 0, statistics = net.trainable_count(), inputs = net.input().elements();
    for (const Stage& stage : stages) {
      EXPECT_EQ(stage.inputs, inputs);
      inputs = stage.outputs;
      EXPECT_TRUE(stage.trainable == 0 || stage.first_trainable == trainable);
      EXPECT_TRUE(stage.count == stage.trainable || stage.first_statistic == statistics);
      trainable += stage.trainable;
      statistics += stage.count - stage.trainable;
      for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
        const ParameterInfo &own = stage.parameters[i], &whole = net.parameters()[stage.places[i]];
        EXPECT_EQ(own.name, whole.name);
        EXPECT_EQ(own.offset - (own.trainable() ? 0 : stage.trainable),
                  whole.offset - (own.trainable() ? stage.first_trainable : stage.first_statistic));
      }
    }
    EXPECT_EQ(trainable, net.trainable_count());
    EXPECT_EQ(statistics, net.parameter_count());
    EXPECT_EQ(inputs, net.output().elements());
  }
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
