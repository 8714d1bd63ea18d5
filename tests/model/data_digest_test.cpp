#include "lockstep/model/checkpoint.hpp"

#include <set>

#include <gtest/gtest.h>

#include "lockstep/core/sha256.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/views.hpp"

namespace lockstep {
namespace {

DataConfig moons() { return {.source = "moons", .split = {.validation = 20, .test = 10}, .count = 600}; }

std::string digest_of(const DataConfig& config) { return data_digest(load_data(config)); }

TEST(DataDigest, IsTheSameForTheSameData) { EXPECT_EQ(digest_of(moons()), digest_of(moons())); }

TEST(DataDigest, DiffersForOtherSamplesAndOrders) {
  std::set<std::string> all = {digest_of(moons())};
  std::size_t count = 1;
  const auto add = [&](const auto& change) {
    DataConfig config = moons();
    change(config);
    all.insert(digest_of(config));
    EXPECT_EQ(all.size(), ++count);
  };
  add([](DataConfig& c) { c.seed = 2; });
  add([](DataConfig& c) { c.scale = 2; });
  add([](DataConfig& c) { c.standardise = true; });
  add([](DataConfig& c) { c.count = 601; });
  add([](DataConfig& c) { c.shuffle = true; });
  add([](DataConfig& c) { c.one_hot = true; });
  add([](DataConfig& c) { c.split = {.validation = 21, .test = 9}; });
  add([](DataConfig& c) { c.split = {.validation = 30}; });
  add([](DataConfig& c) { c.split = {.test = 30}; });
}

/// Views of the same samples, in memory or not, with and without a fast way of their own.
TEST(DataDigest, ViewsOfTheSameSamplesAreTheSame) {
  const DataSplits whole = load_data({.source = "moons", .count = 600});
  DataSplits view = whole;
  view.train = std::make_shared<SubsetDataset>(whole.train, 0, 600);
  EXPECT_EQ(data_digest(view), data_digest(whole));
  view.train = std::make_shared<SubsetDataset>(std::make_shared<SubsetDataset>(whole.train, 1, 599), 0, 599);
  const std::string part = data_digest(view);
  view.train = std::make_shared<SubsetDataset>(whole.train, 1, 599);
  EXPECT_EQ(data_digest(view), part);
  EXPECT_NE(data_digest(whole), part);
}

/// One label of 600, beyond the first block, makes another digest.
TEST(DataDigest, SeesEveryLabelAndEveryFeature) {
  const auto data = [](std::int64_t changed_feature, std::int64_t changed_label) {
    Array features = make_array(ElementType::float32, {600, 3});
    if (changed_feature >= 0) features.as<float>()[static_cast<std::size_t>(changed_feature)] = 1;
    Targets targets;
    targets.classes = 2;
    targets.labels.assign(600, 0);
    if (changed_label >= 0) targets.labels[static_cast<std::size_t>(changed_label)] = 1;
    DataSplits splits;
    splits.train = std::make_shared<MemoryDataset>(std::move(features), Shape{3}, std::move(targets));
    return data_digest(splits);
  };
  std::set<std::string> all = {data(-1, -1)};
  for (const std::int64_t i : {0, 255, 256, 599}) {
    all.insert(data(i, -1));
    all.insert(data(3 * i + 2, -1));
    all.insert(data(-1, i));
  }
  EXPECT_EQ(all.size(), 13U);
}

}  // namespace
}  // namespace lockstep
