#include "lockstep/simulate/machine_model.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

/// Four ranks on two hosts of one machine with two cores, a fifth on a machine of its own.
MachineModel example() {
  return {.machine = {0, 0, 0, 0, 1},
          .cores = {2, 1},
          .host = {0, 0, 1, 1, 2},
          .local = {{100, 2e-6, 2e-6}, {1000, 4e-6, 4e-6}},
          .remote = {{100, 20e-6, 6e-6}},
          .nap = {50e-6, 5e-6}};
}

TEST(MachineModel, MessagesLieBetweenThoseMeasured) {
  const MachineModel model = example();
  EXPECT_DOUBLE_EQ(message_time(model.local, 10).seconds, 2e-6);
  EXPECT_DOUBLE_EQ(message_time(model.local, 550).seconds, 3e-6);
  EXPECT_DOUBLE_EQ(message_time(model.local, 2000).cpu_seconds, 8e-6);
  EXPECT_EQ(message_time({}, 10).seconds, 0);
}

TEST(MachineModel, EachEndOfAMessageHasHalfTheWork) {
  const MachineModel model = example();
  EXPECT_DOUBLE_EQ(model.message_cpu(0, 1, 100), 1e-6);
  EXPECT_DOUBLE_EQ(model.message_cpu(0, 2, 100), 3e-6);  // the same machine, but another host
  EXPECT_EQ(MachineModel{}.message_cpu(0, 1, 100), 0);
}

TEST(MachineModel, MoreRanksThanCoresTakeTurns) {
  EXPECT_TRUE(example().crowded(3));
  EXPECT_FALSE(example().crowded(4));
  EXPECT_FALSE(MachineModel{}.crowded(0));
}

TEST(MachineModel, WhoNapsNoticesLater) {
  const NapTime nap{.seconds = 50e-6};
  EXPECT_DOUBLE_EQ(noticed_after(nap, 90e-6), 90e-6);    // it still looks again and again
  EXPECT_DOUBLE_EQ(noticed_after(nap, 110e-6), 150e-6);  // after one nap
  EXPECT_DOUBLE_EQ(noticed_after(nap, 199e-6), 200e-6);
  EXPECT_NEAR(noticed_after(nap, 5.1e-3), 5e-3 + 230e-6, 1e-12);  // naps have become sleep: 180 us longer
  EXPECT_DOUBLE_EQ(noticed_after({}, 1), 1);
}

TEST(MachineModel, SurvivesItsFile) {
  const MachineModel again = parse_model(model_json(example()));
  EXPECT_EQ(again.machine, example().machine);
  EXPECT_EQ(again.host, example().host);
  EXPECT_EQ(again.cores, example().cores);
  EXPECT_DOUBLE_EQ(again.message_cpu(0, 2, 100), 3e-6);
  EXPECT_DOUBLE_EQ(again.message_cpu(0, 1, 550), 1.5e-6);
  EXPECT_DOUBLE_EQ(again.nap.cpu_seconds, 5e-6);
  EXPECT_TRUE(parse_model(model_json({})).empty());
  EXPECT_THROW(parse_model("{}"), Error);
}

}  // namespace
}  // namespace lockstep
