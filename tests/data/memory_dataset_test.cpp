#include "lockstep/data/memory_dataset.hpp"

#include <cmath>
#include <limits>
#include <thread>

#include "lockstep/core/random.hpp"
#include "lockstep/data/views.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

template <class T>
Array random_array(std::vector<std::int64_t> dims, std::uint64_t seed) {
  Array array = make_array(element_type_of<T>(), std::move(dims));
  auto values = array.as<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double u = uniform({.seed = seed, .purpose = Purpose::data}, i);
    values[i] = std::is_floating_point_v<T> ? static_cast<T>(4 * u - 2) : static_cast<T>(100 * u);
  }
  return array;
}

Targets cyclic_labels(std::int64_t samples, std::int64_t classes) {
  Targets targets;
  targets.classes = classes;
  for (std::int64_t i = 0; i < samples; ++i) targets.labels.push_back(static_cast<std::int32_t>(i % classes));
  return targets;
}

template <class T>
T by_definition(double raw, const Scaling& scaling, std::int64_t f) {
  const T scale = static_cast<T>(scaling.scale(f)), offset = static_cast<T>(scaling.offset(f)), x = static_cast<T>(raw);
  if (offset != 0) return std::fma(x, scale, offset);
  return scale == 1 ? x : x * scale;
}

/// Every element of a gather against the definition, NaN in every place that must not be touched.
template <class T>
void expect_gather(const Array& raw, std::int64_t features, const Scaling& scaling, std::int64_t count) {
  const std::int64_t samples = raw.dims.front();
  const auto data = MemoryDataset(raw, {features}, {}).scaled(scaling);
  std::vector<std::int64_t> ids;
  for (std::int64_t j = 0; j < count; ++j) ids.push_back((j * 7 + 3) % samples);
  const std::int64_t stride = count + 5;
  std::vector<T> x(static_cast<std::size_t>(features * stride), std::numeric_limits<T>::quiet_NaN());
  data->gather(ids, Matrix<T>{x.data(), features, count + 2, stride});
  for (std::int64_t f = 0; f < features; ++f) {
    for (std::int64_t j = 0; j < stride; ++j) {
      const T value = x[static_cast<std::size_t>(f * stride + j)];
      if (j >= count) {
        EXPECT_TRUE(std::isnan(value)) << "column " << j << " was touched";
      } else {
        ASSERT_EQ(value, by_definition<T>(raw.value(ids[static_cast<std::size_t>(j)] * features + f), scaling, f));
      }
    }
  }
}

template <class Raw>
void expect_gather_of() {
  for (const std::int64_t features : {1, 2, 63, 64, 65, 131}) {
    std::vector<double> scales, offsets;
    for (std::int64_t f = 0; f < features; ++f) {
      scales.push_back(0.1 * static_cast<double>(f) - 1);
      offsets.push_back(f % 3 == 0 ? 0.0 : 0.3 * static_cast<double>(f));
    }
    const Array raw = random_array<Raw>({11, features}, 5);
    for (const std::int64_t count : {0, 1, 15, 16, 17, 40}) {
      for (const Scaling& scaling : {Scaling{}, Scaling{1.0 / 255}, Scaling{0.3, -0.7}, Scaling{scales, offsets}}) {
        expect_gather<float>(raw, features, scaling, count);
        expect_gather<double>(raw, features, scaling, count);
      }
    }
  }
}

TEST(MemoryDataset, GathersEveryTypeByTheDefinition) {
  expect_gather_of<std::uint8_t>();
  expect_gather_of<std::int8_t>();
  expect_gather_of<std::uint16_t>();
  expect_gather_of<std::int16_t>();
  expect_gather_of<std::uint32_t>();
  expect_gather_of<std::int32_t>();
  expect_gather_of<std::uint64_t>();
  expect_gather_of<std::int64_t>();
  expect_gather_of<float>();
  expect_gather_of<double>();
}

TEST(MemoryDataset, DescribesItself) {
  const MemoryDataset data(random_array<std::uint8_t>({6, 1, 28, 28}, 1), {1, 28, 28}, cyclic_labels(6, 3));
  EXPECT_EQ(data.describe(), "6 samples [1,28,28] uint8, 3 classes");
  EXPECT_EQ(data.size(), 6);
  EXPECT_EQ(data.features(), 784);
  EXPECT_EQ(data.classes(), 3);
  EXPECT_EQ(data.target_size(), 0);
  EXPECT_EQ(MemoryDataset(random_array<float>({6, 2}, 1), {2}, {}).describe(), "6 samples [2] float32, no targets");
}

TEST(MemoryDataset, SharesItsSamplesBetweenScalings) {
  const MemoryDataset data(random_array<float>({6, 2}, 1), {2}, {});
  const auto scaled = data.scaled(Scaling(2.0));
  const auto& other = dynamic_cast<const MemoryDataset&>(*scaled);
  EXPECT_EQ(&data.raw_features(), &other.raw_features());
  EXPECT_EQ(gathered<float>(*scaled, ids_from(0, 1))[1], 2 * gathered<float>(data, ids_from(0, 1))[1]);
}

TEST(MemoryDataset, GivesLabelsAndTargets) {
  const MemoryDataset labelled(random_array<float>({6, 2}, 1), {2}, cyclic_labels(6, 3));
  const std::vector<std::int64_t> ids{5, 0, 4};
  std::vector<std::int32_t> labels(3);
  labelled.labels(ids, labels);
  EXPECT_EQ(labels, (std::vector<std::int32_t>{2, 0, 1}));
  Targets values = make_values(random_array<double>({6, 2}, 9), "t");
  const MemoryDataset real(random_array<float>({6, 2}, 1), {2}, values);
  EXPECT_EQ(real.target_size(), 2);
  std::vector<float> t(6);
  real.targets(ids, dense_matrix(t.data(), 2, 3));
  std::vector<double> t64(6);
  real.targets(ids, dense_matrix(t64.data(), 2, 3));
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t k = 0; k < 2; ++k) {
      const double expected = values.values.value(ids[j] * 2 + static_cast<std::int64_t>(k));
      EXPECT_EQ(t64[k * 3 + j], expected);
      EXPECT_EQ(t[k * 3 + j], static_cast<float>(expected));
    }
  }
}

TEST(MemoryDataset, RefusesMisuse) {
  const MemoryDataset data(random_array<float>({6, 2}, 1), {2}, cyclic_labels(6, 3));
  std::vector<float> x(2);
  const std::vector<std::int64_t> outside{6}, negative{-1};
  const auto matrix = dense_matrix(x.data(), 2, 1);
  expect_error(ErrorCode::bug, "data set: sample 6 asked for, there are 6", [&] { data.gather(outside, matrix); });
  expect_error(ErrorCode::bug, "data set: sample -1 asked for", [&] { data.gather(negative, matrix); });
  expect_error(ErrorCode::bug, "data set: real targets asked for", [&] { data.targets(ids_from(0, 1), matrix); });
  const MemoryDataset bare(random_array<float>({6, 2}, 1), {2}, {});
  std::vector<std::int32_t> label(1);
  expect_error(ErrorCode::bug, "data set: labels asked for", [&] { bare.labels(ids_from(0, 1), label); });
  expect_error(ErrorCode::bug, "data set: float32 [6,2] does not hold samples [3]", [] {
    MemoryDataset(random_array<float>({6, 2}, 1), {3}, {});
  });
  expect_error(ErrorCode::bug, "data set: the scaling is for another number",
               [&] { bare.scaled(Scaling(std::vector<double>(3), std::vector<double>(3))); });
  expect_error(ErrorCode::bug, "scaling: 2 scales, 3 offsets",
               [] { Scaling(std::vector<double>(2), std::vector<double>(3)); });
  expect_data_error("f.npy: 6 samples but 5 targets", [] {
    MemoryDataset(random_array<float>({6, 2}, 1), {2}, cyclic_labels(5, 3), "f.npy");
  });
}

TEST(MemoryDataset, RefusesNumbersThatAreNotFinite) {
  std::vector<float> values(12, 1.0f);
  values[7] = std::numeric_limits<float>::quiet_NaN();
  expect_data_error("x.npy: sample 3: feature 1 is nan, a finite number was expected", [&] {
    MemoryDataset(array_from<float>({6, 2}, values), {2}, {}, "x.npy");
  });
  std::vector<double> wide(12, 1.0);
  wide[10] = -std::numeric_limits<double>::infinity();
  expect_data_error("data set: sample 5: feature 0 is -inf", [&] {
    MemoryDataset(array_from<double>({6, 2}, wide), {2}, {});
  });
  Targets real;
  real.values = array_from<double>({6, 2}, wide);
  expect_data_error("data set: sample 5: target -inf is not finite", [&] {
    MemoryDataset(random_array<float>({6, 2}, 1), {2}, real);
  });
}

TEST(MemoryDataset, RefusesLabelsOutsideTheClasses) {
  const auto refuse = [](std::string_view begin, std::vector<std::int32_t> labels, std::int64_t classes) {
    Targets targets;
    targets.labels = std::move(labels);
    targets.classes = classes;
    expect_data_error(begin, [&] { MemoryDataset(random_array<float>({3, 2}, 1), {2}, targets); });
  };
  refuse("data set: sample 1: label 3 is outside the 3 classes 0..2", {0, 3, 1}, 3);
  refuse("data set: sample 2: label -1 is outside the 3 classes 0..2", {0, 2, -1}, 3);
  refuse("data set: 3 labels but 0 classes", {0, 1, 2}, 0);
}

TEST(MemoryDataset, IsReadByManyThreads) {
  const MemoryDataset data(random_array<std::uint8_t>({100, 50}, 3), {50}, {});
  const std::vector<float> expected = gathered<float>(data, ids_from(0, 100));
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&data, &result] { result = gathered<float>(data, ids_from(0, 100)); });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

TEST(SubsetDataset, TranslatesIds) {
  const auto base = std::make_shared<MemoryDataset>(random_array<float>({600, 3}, 1), Shape{3}, cyclic_labels(600, 7));
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < 500; ++i) chosen.push_back((i * 37) % 600);
  const SubsetDataset subset(base, chosen);
  EXPECT_EQ(subset.size(), 500);
  EXPECT_EQ(subset.classes(), 7);
  EXPECT_EQ(subset.describe(), "500 of 600 samples [3] float32, 7 classes");
  EXPECT_EQ(gathered<float>(subset, ids_from(0, 500)), gathered<float>(*base, chosen));
  EXPECT_EQ(gathered<double>(subset, ids_from(0, 500)), gathered<double>(*base, chosen));
  std::vector<std::int32_t> expected(500);
  base->labels(chosen, expected);
  EXPECT_EQ(all_labels(subset), expected);
  const SubsetDataset range(base, 590, 10);
  EXPECT_EQ(gathered<float>(range, ids_from(0, 10)), gathered<float>(*base, ids_from(590, 10)));
  expect_error(ErrorCode::bug, "data set: sample 600 asked for", [&] { SubsetDataset(base, 591, 10); });
  std::vector<float> x(3);
  const std::vector<std::int64_t> outside{10};
  expect_error(ErrorCode::bug, "data set: sample 10 asked for, there are 10",
               [&] { range.gather(outside, dense_matrix(x.data(), 3, 1)); });
}

TEST(SubsetDataset, TranslatesTargets) {
  const auto base = std::make_shared<MemoryDataset>(random_array<float>({9, 3}, 1), Shape{3},
                                                    make_values(random_array<double>({9, 2}, 4), "t"));
  const SubsetDataset subset(base, {8, 1});
  std::vector<double> t(4), expected(4);
  subset.targets(ids_from(0, 2), dense_matrix(t.data(), 2, 2));
  base->targets(std::vector<std::int64_t>{8, 1}, dense_matrix(expected.data(), 2, 2));
  EXPECT_EQ(t, expected);
  std::vector<float> t32(4);
  subset.targets(ids_from(0, 2), dense_matrix(t32.data(), 2, 2));
  EXPECT_EQ(t32[3], static_cast<float>(expected[3]));
}

TEST(OneHotDataset, GivesVectorsAndKeepsLabels) {
  const auto base = std::make_shared<MemoryDataset>(random_array<float>({300, 3}, 1), Shape{3}, cyclic_labels(300, 3));
  const OneHotDataset data(base);
  EXPECT_EQ(data.target_size(), 3);
  EXPECT_EQ(data.classes(), 3);
  EXPECT_EQ(data.describe(), "300 samples [3] float32, 3 classes, one-hot targets");
  EXPECT_EQ(gathered<float>(data, ids_from(0, 4)), gathered<float>(*base, ids_from(0, 4)));
  std::vector<float> t(3 * 300);
  data.targets(ids_from(0, 300), dense_matrix(t.data(), 3, 300));
  std::vector<double> t64(3 * 300);
  data.targets(ids_from(0, 300), dense_matrix(t64.data(), 3, 300));
  for (std::size_t j = 0; j < 300; ++j) {
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(t[k * 300 + j], j % 3 == k ? 1.0f : 0.0f);
      EXPECT_EQ(t64[k * 300 + j], j % 3 == k ? 1.0 : 0.0);
    }
  }
  const auto bare = std::make_shared<MemoryDataset>(random_array<float>({6, 2}, 1), Shape{2}, Targets{});
  expect_error(ErrorCode::usage, "one_hot: the data set has no labels", [&] { OneHotDataset one_hot(bare); });
}

std::string features_hash(const Dataset& data, const std::vector<std::int64_t>& ids) {
  Sha256 sha;
  data.hash_features(ids, sha);
  return to_hex(sha.finish());
}

TEST(MemoryDataset, HashesWhatFeaturesAreMadeOf) {
  const auto make = [](std::uint64_t seed, const Scaling& scaling) {
    return MemoryDataset(random_array<std::uint8_t>({20, 3}, seed), Shape{3}, cyclic_labels(20, 2)).scaled(scaling);
  };
  const auto data = make(1, Scaling(0.5));
  const std::string hash = features_hash(*data, {0, 1, 2});
  EXPECT_EQ(features_hash(*make(1, Scaling(0.5)), {0, 1, 2}), hash);
  EXPECT_EQ(features_hash(SubsetDataset(data, {5, 0, 1, 2}), {1, 2, 3}), hash);
  EXPECT_EQ(features_hash(OneHotDataset(data), {0, 1, 2}), hash);
  EXPECT_NE(features_hash(*data, {0, 2, 1}), hash);
  EXPECT_NE(features_hash(*data, {0, 1}), hash);
  EXPECT_NE(features_hash(*make(2, Scaling(0.5)), {0, 1, 2}), hash);
  EXPECT_NE(features_hash(*make(1, Scaling(0.25)), {0, 1, 2}), hash);
  EXPECT_NE(features_hash(*make(1, Scaling(0.5, 1)), {0, 1, 2}), hash);
  Sha256 gathered;
  data->Dataset::hash_features(std::vector<std::int64_t>{0}, gathered);
  EXPECT_NE(to_hex(gathered.finish()), features_hash(*data, {0})) << "stored bytes, not gathered numbers";
}

TEST(MemoryDataset, IsMadeOfSpans) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const std::vector<int> y{0, 2, 1};
  const MemoryDataset data(x, {2}, y);
  EXPECT_EQ(data.describe(), "3 samples [2] float32, 3 classes");
  const std::vector<std::int64_t> ids{2, 0};
  EXPECT_EQ(gathered<float>(data, ids), (std::vector<float>{5, 6, 1, 2}));
  EXPECT_EQ(MemoryDataset(x, {2}, y, 5).classes(), 5);
  EXPECT_EQ(MemoryDataset(x, {1, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}).target_size(), 2);
  EXPECT_EQ(MemoryDataset(x, {2}, std::span<const float>()).target_size(), 0);
  expect_error(ErrorCode::data, "data set: 6 numbers are no whole samples of [4], 4 numbers each",
               [&] { MemoryDataset(x, {4}, y); });
  expect_error(ErrorCode::data, "data set", [&] { MemoryDataset(x, {2}, std::vector<int>{0, 1}); });
  expect_error(ErrorCode::data, "data set", [&] { MemoryDataset(x, {2}, std::vector<int>{0, -1, 1}); });
  expect_error(ErrorCode::data, "data set: 4 targets for 3 samples: each needs as many", [&] {
    MemoryDataset(x, {2}, std::vector<float>{0, 1, 2, 3});
  });
}

}  // namespace
}  // namespace lockstep
