#include "lockstep/data/opened_source.hpp"

#include <algorithm>
#include <numeric>

#include "lockstep/core/random.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

using Ids = std::vector<std::int64_t>;

/// counts[k] samples of class k, class after class, as many a file is sorted.
MemoryDataset sorted_by_class(const Ids& counts) {
  Targets targets;
  targets.classes = static_cast<std::int64_t>(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k)
    targets.labels.insert(targets.labels.end(), static_cast<std::size_t>(counts[k]), static_cast<std::int32_t>(k));
  const auto samples = static_cast<std::int64_t>(targets.labels.size());
  return MemoryDataset(make_array(ElementType::uint8, {samples, 1}), {1}, std::move(targets));
}

DataConfig file(SplitConfig split) { return {.source = "iris.csv", .split = split}; }

Ids counts_of(const Dataset& data, const Ids& ids) {
  std::vector<std::int32_t> labels(ids.size());
  data.labels(ids, labels);
  Ids counts(static_cast<std::size_t>(data.classes()), 0);
  for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  return counts;
}

Ids sizes(const SplitParts& parts) {
  return {static_cast<std::int64_t>(parts.train.size()), static_cast<std::int64_t>(parts.validation.size()),
          static_cast<std::int64_t>(parts.test.size())};
}

SplitParts divided(const DataConfig& config, const Dataset& data, DataUse use = DataUse::training) {
  return divide(config, data, data.size(), use);
}

TEST(Split, UsesEverySample) {
  const MemoryDataset iris = sorted_by_class({50, 50, 50});
  const SplitParts parts = divided(file({0.7, 0.15, 0.15}), iris);
  EXPECT_EQ(sizes(parts), (Ids{105, 22, 23}));
  EXPECT_TRUE(parts.notes.empty());
  Ids all;
  for (const Ids* part : {&parts.train, &parts.validation, &parts.test})
    all.insert(all.end(), part->begin(), part->end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, ids_from(0, 150));
  EXPECT_EQ(sizes(divided(file({0.7, 0.2, 0.1}), iris)), (Ids{105, 30, 15}));
  EXPECT_EQ(sizes(divided(file({0.34, 0.33, 0.33}), iris)), (Ids{51, 49, 50}));
  EXPECT_EQ(sizes(divided(file({0, 0.15, 0.15}), iris)), (Ids{106, 22, 22})) << "training gets what is left";
  EXPECT_EQ(sizes(divided(file({0.29, 0, 0.71}), sorted_by_class({50, 50}))), (Ids{29, 0, 71}));
}

TEST(Split, GivesEveryPartItsShareOfEveryClass) {
  const MemoryDataset iris = sorted_by_class({50, 50, 50});
  const SplitParts parts = divided(file({0.7, 0.15, 0.15}), iris);
  EXPECT_EQ(counts_of(iris, parts.train), (Ids{35, 35, 35}));
  const Ids unequal{600, 301, 77, 22};
  const MemoryDataset data = sorted_by_class(unequal);
  const SplitParts others = divided(file({0.6, 0.25, 0.15}), data);
  const auto expect_share = [&](const Ids& part, double share) {
    const Ids counts = counts_of(data, part);
    for (std::size_t k = 0; k < counts.size(); ++k)
      EXPECT_NEAR(static_cast<double>(counts[k]), share * static_cast<double>(unequal[k]), 1.0) << "class " << k;
  };
  expect_share(others.train, 0.6);
  expect_share(others.validation, 0.25);
  expect_share(others.test, 0.15);
}

const Ids kGoldenTest{62, 129, 71, 88, 66, 126};

TEST(Split, IsAFunctionOfTheSeed) {
  const MemoryDataset iris = sorted_by_class({50, 50, 50});
  DataConfig config = file({0.7, 0.15, 0.15});
  const SplitParts parts = divided(config, iris);
  EXPECT_EQ(divided(config, iris).test, parts.test);
  EXPECT_FALSE(std::is_sorted(parts.train.begin(), parts.train.end())) << "it is shuffled too";
  // Golden: these are part of the bits of a training.
  EXPECT_EQ(Ids(parts.test.begin(), parts.test.begin() + 6), kGoldenTest);
  config.seed = 2;
  EXPECT_NE(divided(config, iris).test, parts.test);
}

TEST(Split, CanBeSwitchedOff) {
  const MemoryDataset data = sorted_by_class({40, 40, 40});
  DataConfig config = file({.validation = 20, .test = 20});
  config.stratify = false;
  const Ids order = permutation(1, Purpose::split, 0, 120);
  EXPECT_EQ(divided(config, data).train, Ids(order.begin(), order.begin() + 80)) << "shuffled alone";
  config.stratify = true;
  config.shuffle = false;
  const Ids in_order = divided(config, data).train;
  EXPECT_TRUE(std::is_sorted(in_order.begin(), in_order.end()));
  EXPECT_EQ(counts_of(data, in_order), (Ids{27, 27, 26})) << "stratified alone";
  config.stratify.reset();
  EXPECT_FALSE(config.stratifies()) << "without shuffling, as the samples come";
}

TEST(Split, LeavesNamedSourcesInTheirOrder) {
  const MemoryDataset data = sorted_by_class({40, 40});
  for (const std::string& name : source_names()) {
    const DataConfig config{.source = name, .split = {.train = 60, .test = 20}};
    EXPECT_EQ(divided(config, data).train, ids_from(0, 60)) << name;
  }
  EXPECT_FALSE(DataConfig{.source = "a.csv"}.shuffles()) << "nothing is split";
}

TEST(Split, RealTargetsAreShuffledOnly) {
  DataConfig config = file({.test = 10});
  config.regression = true;
  EXPECT_TRUE(config.shuffles());
  EXPECT_FALSE(config.stratifies());
  const MemoryDataset data(make_array(ElementType::uint8, {30, 1}), {1}, {});
  const Ids order = permutation(1, Purpose::split, 0, 30);
  EXPECT_EQ(divided(config, data).train, Ids(order.begin(), order.begin() + 20));
  config.stratify = true;
  expect_error(ErrorCode::usage, "data: stratify needs class labels", [&] { divided(config, data); });
}

TEST(Split, RefusesTrainingWithoutAClass) {
  const MemoryDataset data = sorted_by_class({50, 50, 50});
  DataConfig config = file({0.6, 0.2, 0.2});
  config.shuffle = false;
  config.places = {{"split", "a.toml:4"}};
  expect_data_error("a.toml:4: data.split: the training part of the split has no sample of class 2; leave out",
                    [&] { divided(config, data); });
  EXPECT_EQ(sizes(divided(config, data, DataUse::evaluation)), (Ids{90, 30, 30}))
      << "a test of what was trained before";
}

TEST(Split, NamesRareClasses) {
  const SplitParts parts = divided(file({0.7, 0.15, 0.15}), sorted_by_class({100, 3, 60}));
  EXPECT_EQ(parts.notes, (std::vector<std::string>{"the training part of the split has fewer than 5 samples of class 1",
                                                   "the test part of the split has no sample of class 1"}));
  const SplitParts half = divided(file({.train = 0.5}), sorted_by_class({20, 20}));
  EXPECT_EQ(half.notes, (std::vector<std::string>{"20 of 40 samples are in no part of the split"}));
}

}  // namespace
}  // namespace lockstep
