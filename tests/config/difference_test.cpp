#include <gtest/gtest.h>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

constexpr const char* kBase = R"([data]
source = "moons"
count = 100
[model]
sizes = "2-3-1"
output = "sigmoid"
[train]
loss = "binary-cross-entropy"
optimizer = "adam"
epochs = 5
)";

std::string resolved(const std::vector<std::string>& set) { return resolved_toml(parse_config(kBase, "a.toml", set)); }

std::optional<ConfigDifference> difference(const std::vector<std::string>& first,
                                           const std::vector<std::string>& second) {
  return find_difference(resolved(first), resolved(second));
}

void expect_difference(const std::string& set, const std::string& key, const std::string& first,
                       const std::string& second) {
  const auto found = difference({}, {set});
  ASSERT_TRUE(found) << set;
  EXPECT_EQ(found->key, key);
  EXPECT_EQ(found->first, first);
  EXPECT_EQ(found->second, second);
  EXPECT_TRUE(difference({set}, {})) << set << ", the other way round";
}

TEST(ConfigDifference, NoneBetweenTheSame) {
  EXPECT_FALSE(difference({}, {}));
  EXPECT_FALSE(difference({"train.optimizer.lr=0.3"}, {"train.optimizer.lr=0.3"}));
}

TEST(ConfigDifference, NamesTheKeyAndBothValues) {
  expect_difference("train.optimizer.lr=0.5", "train.optimizer.lr", "0.001", "0.5");
  expect_difference("train.seed=2", "train.seed", "1", "2");
  expect_difference("train.batch=full", "train.batch", "64", "\"full\"");
  expect_difference("train.shuffle=false", "train.shuffle", "true", "false");
  expect_difference("train.optimizer=rmsprop", "train.optimizer.name", "\"adam\"", "\"rmsprop\"");
  expect_difference("data.limit=50", "data.limit", "nothing", "50");
  expect_difference("data.source=circles", "data.source", "\"moons\"", "\"circles\"");
  expect_difference("model.sizes=2-4-1", "model.layers[0].linear.out", "3", "4");
  expect_difference("model.sizes=2-3-1-1", "model.layers[4]", "nothing", "{linear = {bias = true, out = 1}}");
  expect_difference("model.precision=float64", "model.precision", "\"float32\"", "\"float64\"");
}

/// Before the two keys were written down, a split took the samples as they came.
TEST(ConfigDifference, AnOlderSplitWasNotShuffled) {
  const std::string old = "[data]\nsource = \"a.csv\"\nsplit = {test = 5}\n";
  EXPECT_FALSE(find_difference(old, old + "shuffle = false\nstratify = false\n"));
  const auto found = find_difference(old, old + "shuffle = true\nstratify = true\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key + " " + found->first + " " + found->second, "data.shuffle false true");
}

TEST(ConfigDifference, HowOftenARunIsSavedIsNone) {
  EXPECT_FALSE(difference({}, {"checkpoint.every_steps=3", "checkpoint.every_minutes=7"}));
}

TEST(ConfigDifference, MoreEpochsAreNoneFewerAreOne) {
  EXPECT_FALSE(difference({}, {"train.epochs=6"}));
  EXPECT_EQ(difference({}, {"train.epochs=4"})->key, "train.epochs");
  EXPECT_FALSE(difference({"train.schedule=step"}, {"train.schedule=step", "train.epochs=6"}));
  const auto cosine = difference({"train.schedule=cosine"}, {"train.schedule=cosine", "train.epochs=6"});
  ASSERT_TRUE(cosine);
  EXPECT_TRUE(difference({"train.schedule=one-cycle"}, {"train.schedule=one-cycle", "train.epochs=6"}));
  EXPECT_EQ(cosine->key + " " + cosine->first + " " + cosine->second, "train.epochs 5 6");
}

TEST(ConfigDifference, TextThatIsNoTomlIsRefused) {
  EXPECT_THROW(find_difference("[data", resolved({})), Error);
  EXPECT_TRUE(find_difference("", resolved({})));
  EXPECT_TRUE(find_difference("data = 3", resolved({})));
}

}  // namespace
}  // namespace lockstep
