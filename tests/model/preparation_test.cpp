// What a model was trained with is in its file, and comes back out of it: every key of [data] that matters.
#include "lockstep/model/preparation.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/data/data_fields.hpp"
#include "lockstep/train/trainer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

// Keys that say which samples there are, and not how they are prepared.
const std::set<std::string> kNoPreparation = {"source",      "limit",      "test_limit", "test",   "labels",
                                              "test_labels", "test_x_key", "test_y_key", "stream", "shuffle",
                                              "stratify",    "split",      "count",      "noise",  "factor",
                                              "test_count",  "features",   "seed",       "from",   "columns",
                                              "drop",        "categorical", "augment"};

/// Another value than the default, whatever the type.
void change(std::string& value) { value = "other"; }
void change(bool& value) { value = !value; }
void change(std::optional<bool>& value) { value = false; }
void change(double& value) { value = 0.1 + 0.2; }
void change(std::int64_t& value) { value = 7; }
void change(std::vector<std::int64_t>& value) { value = {1, 2, 3}; }
void change(ResizeConfig& value) { value = {.size = 20, .method = "bicubic"}; }

DataConfig everything_changed() {
  DataConfig config;
  for_each_preparation_key([&](const char*, auto field) { change(config.*field); });
  return config;
}

Network small_network() {
  Network network({3});
  network.add(Linear{.out = 2});
  return network;
}

TEST(Preparation, EveryKeyOfDataIsInItOrNamedHere) {
  const std::vector<std::string> all = field_names(DataConfig{}, data_fields());
  std::set<std::string> keys = kNoPreparation;
  for_each_preparation_key([&](const char* key, auto) { EXPECT_TRUE(keys.insert(key).second) << key; });
  EXPECT_EQ(keys, std::set<std::string>(all.begin(), all.end()))
      << "a new key of [data] belongs into lockstep/data/data_fields.hpp, or into the list of this test";
}

TEST(Preparation, EveryKeyIsInTheModelFileAndComesBack) {
  const DataConfig changed = everything_changed(), usual;
  for_each_preparation_key([&](const char* key, auto field) { EXPECT_NE(changed.*field, usual.*field) << key; });
  const ModelInfo info{.preparation = changed, .source_shape = {1, 28, 28}, .pictures = true};
  const std::vector<std::byte> file = write_model(small_network(), info);
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for_each_preparation_key([&](const char* key, auto) {
    EXPECT_NE(text.find(fmt::format("\\\"{}\\\":", key)), std::string_view::npos) << key;
  });
  EXPECT_EQ(parse_model(file, "memory").info, info);
}

TEST(Preparation, TheColumnsOfATableComeBack) {
  ModelInfo info{.class_names = {"no", "yes"}, .named_labels = true};
  info.table = TablePlan{.columns = {{.name = "sex", .index = 2, .categories = {"female", "male"}},
                                     {.name = "age", .index = 3, .fill = 0.1 + 0.2},
                                     {.name = "fare", .index = 5}},
                         .width = 7};
  EXPECT_EQ(info_from_metadata(info_to_metadata(info)), info);
  EXPECT_EQ(info.table->inputs(), 4);
  auto metadata = info_to_metadata(info);
  std::string& text = metadata.at("lockstep.data");
  text.replace(text.find("\"index\":5"), 9, "\"index\":9");
  EXPECT_THROW(info_from_metadata(metadata), Error);
}

TEST(Preparation, AnUnknownKeyIsRefused) {
  const auto with = [](const std::string& preparation) {
    return info_from_metadata({{"lockstep.data", fmt::format(R"({{"preparation":{}}})", preparation)}});
  };
  EXPECT_EQ(with(R"({"scale":2.5})").preparation->scale, 2.5);
  for (const char* bad : {R"({"rotate":90})", R"({"scale":"x"})", R"({"resize":3})", "[]"})
    EXPECT_THROW(with(bad), Error) << bad;
}

TEST(Preparation, WhatIsNotChosenIsAsInTraining) {
  const DataConfig trained = everything_changed();
  const ModelInfo info{.preparation = trained};
  std::vector<std::string> notes;
  const PreparationOptions options{.chosen = {"transpose"},
                                   .note = [&](const std::string& line) { notes.push_back(line); }};
  const DataConfig config = complete_config(info, {.source = "a.csv", .limit = 5, .scale = 2}, options);
  DataConfig expected = trained;
  expected.source = "a.csv";
  expected.limit = 5;
  expected.scale = 2;          // another value than the default
  expected.transpose = false;  // the default, but chosen
  EXPECT_EQ(config, expected);
  EXPECT_TRUE(std::ranges::count(notes, "data.label_column = \"other\", as in training") == 1);
  EXPECT_TRUE(std::ranges::count(notes, "data.transpose = false here; the model was trained with true") == 1);
  EXPECT_TRUE(std::ranges::any_of(notes, [](const std::string& line) { return line.starts_with("data.scale = 2"); }));
  EXPECT_EQ(complete_config({}, {.source = "a.csv"}), DataConfig{.source = "a.csv"});
}

/// Twelve images of 4x4 numbers from 0 to 255 behind their label.
std::string table_of_images() {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += std::to_string(i % 3);
    for (int p = 0; p < 16; ++p) text += fmt::format(",{}", (37 * i + 11 * p * p) % 256);
    text += '\n';
  }
  return text;
}

DataConfig table_config(const TemporaryFolder& folder) {
  write_file_atomically(folder / "x.csv", table_of_images());
  return {.source = (folder / "x.csv").string(),
          .label_column = "0",
          .shape = {1, 4, 4},
          .transpose = true,
          .resize = {.size = 2},
          .scale = 255};
}

std::vector<std::int64_t> first_ids(std::int64_t count) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  return ids;
}

Model trained_model(const DataConfig& config, const DataSplits& data) {
  Model model{.network = Network({1, 2, 2})};
  model.network.add(Flatten{}).add(Linear{.out = 3});
  model.network.initialise(3);
  describe_data(config, data, model.info);
  return parse_model(write_model(model.network, model.info), "memory");
}

TEST(Preparation, LoadsOtherDataAsThatOfTraining) {
  const TemporaryFolder folder;
  const DataConfig config = table_config(folder);
  for (const bool standardise : {false, true}) {
    DataConfig used = config;
    used.standardise = standardise;
    const DataSplits data = load_data(used);
    const Model model = trained_model(used, data);
    EXPECT_EQ(model.info.source_shape, std::vector<std::int64_t>{16});
    const DataSplits again = load_data_for(model.info, {.source = config.source});
    const auto ids = first_ids(12);
    EXPECT_EQ(predict(model.network, *again.train, ids), predict(model.network, *data.train, ids));
    std::vector<std::int32_t> labels(12), wanted(12);
    again.train->labels(ids, labels);
    data.train->labels(ids, wanted);
    EXPECT_EQ(labels, wanted);
  }
}

TEST(Preparation, PredictorTakesRawSamples) {
  const TemporaryFolder folder;
  const DataConfig config = table_config(folder);
  const DataSplits data = load_data(config);
  const Model model = trained_model(config, data);
  const std::vector<double> wanted = predict(model.network, *data.train, first_ids(12));
  std::vector<float> raw, outputs(36);
  for (int i = 0; i < 12; ++i)
    for (int p = 0; p < 16; ++p) raw.push_back(static_cast<float>((37 * i + 11 * p * p) % 256));
  Predictor predictor(model, {.threads = 2});
  predictor.run(std::span<const float>(raw), std::span(outputs));
  EXPECT_EQ(std::vector<double>(outputs.begin(), outputs.end()), wanted);
  std::vector<double> in_double(raw.begin(), raw.end()), out_double(36);
  predictor.run(std::span<const double>(in_double), std::span(out_double));
  EXPECT_EQ(out_double, wanted);
  EXPECT_THROW(predictor.run(std::span<const float>(raw).first(17), std::span(outputs)), Error);
  EXPECT_THROW(predictor.run(std::span<const float>(raw).first(16), std::span(outputs)), Error);
}

}  // namespace
}  // namespace lockstep
