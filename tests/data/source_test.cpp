#include "lockstep/data/source.hpp"

#include <algorithm>

#include "lockstep/core/random.hpp"
#include "tests/data/png_file.hpp"
#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

void refuse(ErrorCode code, std::string_view begin, const DataConfig& config) {
  expect_error(code, begin, [&] { load_data(config); });
}

TEST(Source, GeneratesTrainingAndTestSets) {
  const DataSplits splits = load_data({.source = "quadrants", .count = 2048, .test_count = 1024, .seed = 3});
  ASSERT_NE(splits.test, nullptr);
  EXPECT_EQ(splits.validation, nullptr);
  EXPECT_EQ(splits.train->describe(), "2048 samples [2] float64, 2 classes");
  EXPECT_EQ(splits.test->size(), 1024);
  const DataSplits longer = load_data({.source = "quadrants", .count = 3072, .seed = 3});
  EXPECT_EQ(gathered<double>(*splits.test, ids_from(0, 1024)), gathered<double>(*longer.train, ids_from(2048, 1024)));
}

TEST(Source, HasDefaultsForEveryGenerator) {
  for (const char* name : {"quadrants", "moons", "circles", "blobs"}) {
    const DataSplits splits = load_data({.source = name});
    EXPECT_EQ(splits.train->size(), 1000) << name;
    EXPECT_EQ(splits.train->classes(), std::string_view(name) == "blobs" ? 3 : 2);
    EXPECT_EQ(splits.test, nullptr);
  }
  EXPECT_EQ(load_data({.source = "blobs", .classes = 5, .features = 7}).train->describe(),
            "1000 samples [7] float64, 5 classes");
}

TEST(Source, SplitsByCountAndFraction) {
  DataConfig config{.source = "moons", .count = 1000};
  config.split = {.train = 0, .validation = 0.25, .test = 100};
  const DataSplits splits = load_data(config);
  EXPECT_EQ(splits.train->size(), 650);
  EXPECT_EQ(splits.validation->size(), 250);
  EXPECT_EQ(splits.test->size(), 100);
  const DataSplits whole = load_data({.source = "moons", .count = 1000});
  EXPECT_EQ(gathered<double>(*splits.validation, ids_from(0, 250)), gathered<double>(*whole.train, ids_from(650, 250)));
  EXPECT_EQ(gathered<double>(*splits.test, ids_from(0, 100)), gathered<double>(*whole.train, ids_from(900, 100)));
  config.split = {.train = 0.5};
  EXPECT_EQ(load_data(config).train->size(), 500);
}

TEST(Source, ShufflesBeforeTheSplitAfterTheLimit) {
  DataConfig config{.source = "moons", .limit = 300, .shuffle = true, .count = 1000, .seed = 11};
  config.split = {.train = 200, .validation = 100};
  const DataSplits splits = load_data(config);
  const auto order = permutation(11, Purpose::split, 0, 300);
  const DataSplits whole = load_data({.source = "moons", .count = 1000, .seed = 11});
  EXPECT_EQ(gathered<double>(*splits.train, ids_from(0, 200)),
            gathered<double>(*whole.train, std::span(order).first(200)));
  EXPECT_EQ(gathered<double>(*splits.validation, ids_from(0, 100)),
            gathered<double>(*whole.train, std::span(order).subspan(200)));
}

TEST(Source, StandardisesByTheTrainingSet) {
  DataConfig config{.source = "blobs", .standardise = true, .count = 600};
  config.split = {.train = 400, .validation = 200};
  const DataSplits splits = load_data(config);
  const auto mean_square = [](const Dataset& data) {
    double sum = 0;
    for (const double x : gathered<double>(data, ids_from(0, data.size()))) sum += x * x;
    return sum / static_cast<double>(data.size() * data.features());
  };
  EXPECT_NEAR(mean_square(*splits.train), 1, 1e-12);
  EXPECT_NEAR(mean_square(*splits.validation), 1, 0.1);
  EXPECT_GT(std::abs(mean_square(*splits.validation) - 1), 1e-6);
}

TEST(Source, MakesOneHotTargets) {
  const DataSplits splits = load_data({.source = "blobs", .one_hot = true});
  EXPECT_EQ(splits.train->target_size(), 3);
  EXPECT_EQ(splits.train->classes(), 3);
}

TEST(Source, RefusesSettingsThatMakeNoSense) {
  const ErrorCode usage = ErrorCode::usage;
  refuse(usage, "data: no source given, expected fashion-mnist", {});
  refuse(usage, "data: count -1 is out of range", {.source = "moons", .count = -1});
  refuse(usage, "data: test_count -1 is out of range", {.source = "moons", .test_count = -1});
  refuse(usage, "data: classes -2 is out of range", {.source = "blobs", .classes = -2});
  refuse(usage, "data: features -2 is out of range", {.source = "blobs", .features = -2});
  refuse(usage, "data: limit = -1 is negative", {.source = "moons", .limit = -1});
  refuse(usage, "data: test_limit = -5 is negative", {.source = "moons", .test_limit = -5, .test_count = 9});
  refuse(usage, "data: scale = -1 is not positive", {.source = "moons", .scale = -1});
  refuse(usage, "data: shape [3] does not fit samples [2] of moons", {.source = "moons", .shape = {3}});
  refuse(usage, "data: shape has an extent that is not positive", {.source = "moons", .shape = {-2, -1}});
  refuse(usage, "data: shape has more than three extents", {.source = "moons", .shape = {1, 1, 1, 2}});
  refuse(usage, "transpose: samples [2] are no images", {.source = "moons", .transpose = true});
  DataConfig config{.source = "moons", .count = 100};
  config.split = {.train = 90, .validation = 20};
  refuse(usage, "data: split of 100 samples into train 90, validation 20, test 0 is impossible", config);
  config.split = {.validation = 100};
  refuse(usage, "data: split of 100 samples into train 0", config);
  config.split = {.validation = 2.5};
  refuse(usage, "data: split.validation = 2.5, expected a count or a fraction below 1", config);
  config.split = {.test = 101};
  refuse(usage, "data: split.test = 101, but there are 100 samples", config);
  config.split = {.train = -1};
  refuse(usage, "data: split.train = -1, expected", config);
  config.split = {.test = 10};
  config.test_count = 10;
  refuse(usage, "data: the source has a test set of its own", config);
  config = {.source = "moons"};
  config.shape = {1, 1, 2};
  config.resize = {.size = 2, .method = "linear"};
  refuse(usage, "resize: unknown method \"linear\"", config);
}

TEST(Source, ReadsAnImageFolder) {
  const TemporaryFolder folder;
  write_file(folder.path() / "train/ant/a.png", grey_png(4, 4, 0));
  write_file(folder.path() / "train/bee/b.png", grey_png(4, 4, 100));
  write_file(folder.path() / "test/bee/c.png", grey_png(4, 4, 200));
  DataConfig config{.source = (folder / "train").string(), .test = (folder / "test").string()};
  DataSplits splits = load_data(config);
  EXPECT_EQ(splits.class_names, (std::vector<std::string>{"ant", "bee"}));
  EXPECT_EQ(splits.train->describe(), "2 samples [1,4,4] uint8, 2 classes");
  EXPECT_EQ(all_labels(*splits.test), (std::vector<std::int32_t>{1}));
  EXPECT_EQ(gathered<double>(*splits.train, ids_from(1, 1))[3], 103 * (1.0 / 255));
  config.scale = 256;
  config.resize = {.size = 2, .method = "average"};
  splits = load_data(config);
  EXPECT_EQ(splits.train->sample_shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(gathered<double>(*splits.train, ids_from(0, 1))[0], (0 + 1 + 4 + 5) / 4.0 / 256);
  config.stream = true;
  const DataSplits streamed = load_data(config);
  EXPECT_NE(streamed.train->describe().find("read by slices"), std::string::npos);
  const std::vector<std::int64_t> ids = ids_from(0, splits.train->size());
  EXPECT_EQ(gathered<double>(*streamed.train, ids), gathered<double>(*splits.train, ids));
  EXPECT_EQ(all_labels(*streamed.train), all_labels(*splits.train));
}

}  // namespace
}  // namespace lockstep
