// Samples as sequences: images by rows and columns, padding, lengths in .npz and .ts files.
#include "lockstep/data/sequences.hpp"

#include <fstream>

#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/memory_dataset.hpp"
#include "lockstep/data/source.hpp"
#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

Array numbers(const std::vector<std::int64_t>& dims) {
  Array array = make_array(ElementType::float64, dims);
  double next = 0;
  for (double& value : array.as<double>()) value = ++next;
  return array;
}

std::vector<double> features_of(const Dataset& data, std::int64_t id) {
  std::vector<double> x(static_cast<std::size_t>(data.features()));
  data.gather(std::span(&id, 1), dense_matrix(x.data(), data.features(), 1));
  return x;
}

std::vector<std::int64_t> lengths_of(const Dataset& data) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(data.size()));
  data.lengths(ids_from(0, data.size()), lengths);
  return lengths;
}

TEST(Sequences, RowsAndColumnsOfImages) {
  const Samples image{numbers({1, 2, 2, 3}), {2, 2, 3}, {}};  // two channels of 2x3
  const Samples rows = image_steps(image, "rows"), columns = image_steps(image, "columns");
  EXPECT_EQ(rows.shape, (Shape{6, 2}));
  EXPECT_EQ(columns.shape, (Shape{4, 3}));
  const auto x = rows.features.as<double>();
  // Feature 1 of both steps is the second column of the first channel.
  EXPECT_EQ((std::vector<double>{x[2], x[3]}), (std::vector<double>{2, 5}));
  EXPECT_TRUE(std::ranges::equal(columns.features.as<double>(), image.features.as<double>()));
}

TEST(Sequences, PaddedToMoreSteps) {
  const Samples longer = with_steps({numbers({2, 1, 2}), {1, 2}, {}}, 4, "t");
  EXPECT_EQ(longer.shape, (Shape{1, 4}));
  EXPECT_EQ(longer.lengths, (std::vector<std::int64_t>{2, 2}));
  const auto x = longer.features.as<double>();
  EXPECT_EQ(std::vector<double>(x.begin(), x.end()), (std::vector<double>{1, 2, 0, 0, 3, 4, 0, 0}));
  EXPECT_EQ(with_steps({numbers({2, 1, 3}), {1, 3}, {}, {2, 1}}, 2, "t").shape, (Shape{1, 2}));
  expect_data_error("t: sample 1 has 3 steps, more than data.steps = 2", [] {
    with_steps({numbers({2, 1, 3}), {1, 3}, {}, {2, 3}}, 2, "t");
  });
}

TEST(Sequences, LengthsAreChecked) {
  const auto make = [](std::vector<std::int64_t> lengths) {
    return MemoryDataset(numbers({2, 1, 3}), {1, 3}, {}, "t", std::nullopt, std::nullopt, false, std::move(lengths));
  };
  const MemoryDataset data = make({3, 1});
  EXPECT_TRUE(data.has_lengths());
  EXPECT_EQ(lengths_of(data), (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(features_of(data, 1), (std::vector<double>{4, 0, 0}));  // what stands behind the end is gone
  EXPECT_EQ(data.describe(), "2 samples [1,3] of 1 to 3 steps float64, no targets");
  EXPECT_FALSE(make({}).has_lengths());
  EXPECT_EQ(lengths_of(make({})), (std::vector<std::int64_t>{3, 3}));
  expect_data_error("t: sample 1: its length is 0, expected 1 to 3", [&] { make({1, 0}); });
  expect_data_error("t: sample 0: its length is 4, expected 1 to 3", [&] { make({4, 1}); });
  expect_data_error("t: 1 length for 2 samples", [&] { make({1}); });
}

TEST(Sequences, LengthsInArchives) {
  const TemporaryFolder folder;
  const auto write = [&](const std::vector<NamedArray>& arrays) {
    std::string path = (folder.path() / "s.npz").string();
    const std::vector<std::byte> bytes = write_npz(arrays);
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    return path;
  };
  const auto list = [](std::vector<double> values) {
    Array array = make_array(ElementType::float64, {std::ssize(values)});
    std::ranges::copy(values, array.as<double>().begin());
    return array;
  };
  DataConfig config{.source = write({{"x_train", numbers({2, 3, 2})},
                                     {"y_train", list({0, 1})},
                                     {"lengths_train", list({3, 2})},
                                     {"x_test", numbers({1, 3, 2})},
                                     {"y_test", list({1})},
                                     {"lengths_test", list({1})}})};
  config.as_sequence = "rows";  // [samples, steps, features], as PyTorch has it with batch_first
  const DataSplits data = load_data(config);
  EXPECT_EQ(data.train->sample_shape(), (Shape{2, 3}));
  EXPECT_EQ(lengths_of(*data.train), (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(lengths_of(*data.test), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(features_of(*data.train, 1), (std::vector<double>{7, 9, 0, 8, 10, 0}));
  config.source = write({{"x", numbers({2, 3, 2})}, {"y", list({0, 1})}, {"lengths", list({3, 1.5})}});
  expect_data_error(config.source + ": lengths: sample 1: 1.5 is no number of steps", [&] { load_data(config); });
  config.source = write({{"x_train", numbers({2, 3, 2})}, {"y_train", list({0, 1})}, {"lengths", list({3, 1})}});
  expect_data_error(config.source + ": it holds lengths, but no array lengths_train for x_train",
                    [&] { load_data(config); });
}

TEST(Sequences, TimeSeriesFiles) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
    return (folder.path() / name).string();
  };
  const std::string head = "@classLabel true a b c\n@data\n";
  DataConfig config{.source = write("train.ts", head + "1,2:3,4:b\n5:6:a\n7:8:a\n"),
                    .test = write("test.ts", head + "1,2,3:4,5,6:c\n")};
  expect_error(ErrorCode::usage,
               "data: training samples are [2,2], test samples [2,3]; data.steps = 3 gives both the same",
               [&] { load_data(config); });
  config.steps = 3;
  const DataSplits data = load_data(config);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(data.train->classes(), 3);
  EXPECT_EQ(lengths_of(*data.train), (std::vector<std::int64_t>{2, 1, 1}));
  EXPECT_EQ(features_of(*data.train, 0), (std::vector<double>{1, 2, 0, 3, 4, 0}));
  config.standardise = true;
  expect_error(ErrorCode::usage, "data: sequences of different lengths are not standardised",
               [&] { load_data(config); });
}

}  // namespace
}  // namespace lockstep
