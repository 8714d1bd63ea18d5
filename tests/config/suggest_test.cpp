#include "lockstep/config/suggest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace lockstep {
namespace {

const std::vector<std::string> kNames = {"epochs", "batch", "optimizer", "lr"};

TEST(Suggest, DistanceCountsEditsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("epoch", "epochs"), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("bacth", "batch"), 1);
  EXPECT_EQ(edit_distance("abcd", "dcba"), 3);
}

TEST(Suggest, NearestTakesTheClosestName) {
  EXPECT_EQ(nearest("epoch", kNames), "epochs");
  EXPECT_EQ(nearest("bacth", kNames), "batch");
  EXPECT_EQ(nearest("optimiser", kNames), "optimizer");
  EXPECT_EQ(nearest("batch-size", kNames), "batch");  // what others call it
}

TEST(Suggest, NearestIgnoresCaseAndTheKindOfDash) {
  const std::vector<std::string> names = {"xavier-uniform"};
  EXPECT_EQ(nearest("Xavier_Uniform", names), "xavier-uniform");
}

TEST(Suggest, NothingIsNearToSomethingElse) {
  EXPECT_EQ(nearest("zebra", kNames), std::nullopt);
  EXPECT_EQ(nearest("", kNames), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'e'), kNames), std::nullopt);
}

TEST(Suggest, ListsEverythingWhenNothingIsNear) {
  EXPECT_EQ(suggestion("epoch", kNames), "; did you mean epochs?");
  EXPECT_EQ(suggestion("zebra", kNames), "; known are epochs, batch, optimizer, lr");
}

}  // namespace
}  // namespace lockstep
