#include <cstdlib>

#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/inflate.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/data/table.hpp"
#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

template <class T>
Array counting(std::vector<std::int64_t> dims, int first = 0) {
  Array array = make_array(element_type_of<T>(), std::move(dims));
  auto values = array.as<T>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i + static_cast<std::size_t>(first));
  return array;
}

Array labels(const std::vector<std::uint8_t>& values) {
  return array_from<std::uint8_t>({static_cast<std::int64_t>(values.size())}, values);
}

Array column(const std::vector<double>& values) {
  return array_from<double>({static_cast<std::int64_t>(values.size()), 1}, values);
}

class FileSource : public testing::Test {
 protected:
  std::string put(const std::string& name, const Bytes& bytes) {
    write_file(folder_ / name, bytes);
    return (folder_ / name).string();
  }
  std::string put_text(const std::string& name, std::string_view text) { return put(name, to_bytes(text)); }
  static void refuse(ErrorCode code, const std::string& begin, const DataConfig& config) {
    expect_error(code, begin, [&] { load_data(config); });
  }

  TemporaryFolder folder_;
};

TEST_F(FileSource, Idx) {
  const std::string images = put("train-images-idx3-ubyte", write_idx(counting<std::uint8_t>({4, 2, 3})));
  DataConfig config{.source = images};
  refuse(ErrorCode::usage, "data: " + images + " holds no labels; name their file in data.labels, or \"none\"", config);
  config.labels = "none";
  EXPECT_EQ(load_data(config).train->describe(), "4 samples [1,2,3] uint8, no targets");
  config.labels = put("l", write_idx(labels({0, 1, 1, 2})));
  EXPECT_EQ(load_data(config).train->classes(), 3);
  EXPECT_EQ(gathered<float>(*load_data(config).train, ids_from(1, 1))[0], 6.0f * static_cast<float>(1.0 / 255));
  put("train-labels-idx1-ubyte", write_idx(labels({0, 1, 1, 1})));
  config.labels.clear();
  EXPECT_EQ(load_data(config).train->classes(), 2) << "the sibling file is found";
  config.stream = true;
  EXPECT_EQ(load_data(config).train->describe(), "4 samples [1,2,3] uint8, 2 classes, read by slices");
  config.transpose = true;
  refuse(ErrorCode::usage, "data: stream cannot transpose or resize images", config);
}

TEST_F(FileSource, IdxWithWrongLabels) {
  DataConfig config{.source = put("x", write_idx(counting<std::uint8_t>({4, 2, 3})))};
  config.labels = put("l", write_idx(labels({0, 1})));
  refuse(ErrorCode::data, config.source + ": 4 samples but 2 targets", config);
  config.labels = put("l", write_idx(labels({0, 1, 9, 1})));
  config.classes = 3;
  refuse(ErrorCode::data, config.labels + ": sample 2: label 9 is outside the 3 classes 0..2", config);
  config.labels = put("l", write_idx(counting<std::uint8_t>({4, 2})));
  refuse(ErrorCode::data, config.labels + ": targets uint8 [4,2], expected one per sample", config);
  config.labels = put_text("l.csv", "1,2\n3,4\n");
  refuse(ErrorCode::data, config.labels + ": a file of labels has one column", config);
  config.labels = put("l.npz", write_npz({}));
  refuse(ErrorCode::data, config.labels + ": labels are read from .npy, IDX or one-column .csv files", config);
}

TEST_F(FileSource, TestLabelsMustBeTrainingClasses) {
  DataConfig config{.source = put("x", write_idx(counting<std::uint8_t>({2, 3}))),
                    .test = put("tx", write_idx(counting<std::uint8_t>({1, 3}))),
                    .labels = put("l", write_idx(labels({0, 1}))),
                    .test_labels = put("tl", write_idx(labels({2})))};
  refuse(ErrorCode::data, config.test_labels + ": sample 0: label 2 is outside the 2 classes 0..1", config);
  config.test_labels = put("tl", write_idx(labels({1})));
  EXPECT_EQ(load_data(config).test->size(), 1);
  config.test = put("tx", write_idx(counting<std::uint8_t>({1, 4})));
  refuse(ErrorCode::usage, "data: training samples are [3], test samples [4]", config);
}

TEST_F(FileSource, Npy) {
  DataConfig config{.source = put("x.npy", write_npy(counting<float>({4, 3}))),
                    .labels = put("y.npy", write_npy(counting<std::int64_t>({4})))};
  EXPECT_EQ(load_data(config).train->describe(), "4 samples [3] float32, 4 classes");
  EXPECT_EQ(gathered<float>(*load_data(config).train, ids_from(1, 1))[0], 3.0f) << "float data are not scaled";
  config.scale = 2;
  EXPECT_EQ(gathered<float>(*load_data(config).train, ids_from(1, 1))[0], 1.5f);
  config.labels = put_text("y.csv", "label\n0\n1\n0\n1\n");
  EXPECT_EQ(all_labels(*load_data(config).train), (std::vector<std::int32_t>{0, 1, 0, 1}));
  config.labels = put("t.npy", write_npy(counting<double>({4, 2})));
  config.regression = true;
  EXPECT_EQ(load_data(config).train->target_size(), 2);
  config.stream = true;
  EXPECT_EQ(load_data(config).train->describe(), "4 samples [3] float32, targets [2], read by slices");
  Array bad = counting<float>({4, 3});
  bad.as<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  config.stream = false;
  config.source = put("bad.npy", write_npy(bad));
  refuse(ErrorCode::data, config.source + ": sample 2: feature 1 is nan, a finite number was expected", config);
}

TEST_F(FileSource, Npz) {
  const Array x = counting<std::uint8_t>({4, 2, 2}), y = labels({0, 1, 2, 0});
  const Array tx = counting<std::uint8_t>({2, 2, 2}, 50), ty = labels({1, 2});
  DataConfig config{.source = put("a.npz", write_npz(std::vector<NamedArray>{{"x", x}, {"y", y}}))};
  EXPECT_EQ(load_data(config).train->describe(), "4 samples [1,2,2] uint8, 3 classes");
  EXPECT_EQ(load_data(config).test, nullptr);
  const std::vector<NamedArray> keras{{"x_train", x}, {"y_train", y}, {"x_test", tx}, {"y_test", ty}};
  config.source = put("keras.npz", write_npz(keras));
  const DataSplits splits = load_data(config);
  ASSERT_NE(splits.test, nullptr);
  EXPECT_EQ(all_labels(*splits.test), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(gathered<double>(*splits.test, ids_from(0, 1))[0], 50 * (1.0 / 255));
  config.source = put("own.npz", write_npz(std::vector<NamedArray>{{"a", x}, {"b", y}, {"c", tx}, {"d", ty}}));
  refuse(ErrorCode::data,
         config.source +
             ": no array \"x_train\" (nor X_train, x, X, data, images); there are: a, b, c, d; data.x_key names it",
         config);
  config.x_key = "a";
  config.y_key = "b";
  EXPECT_EQ(load_data(config).test, nullptr);
  config.test_x_key = "c";
  config.test_y_key = "d";
  EXPECT_EQ(load_data(config).test->size(), 2);
  config = {.source = config.source, .x_key = "a", .y_key = "none"};
  EXPECT_EQ(load_data(config).train->describe(), "4 samples [1,2,2] uint8, no targets");
}

TEST_F(FileSource, Mat) {
  const Array x = counting<double>({4, 6});
  const auto file = [&](const std::string& name, const std::vector<double>& y) {
    return put(name, write_mat5(std::vector<NamedArray>{{"X", x}, {"y", column(y)}}));
  };
  DataConfig config{.source = file("digits.mat", {10, 1, 2, 9})};
  EXPECT_EQ(all_labels(*load_data(config).train), (std::vector<std::int32_t>{0, 1, 2, 9}));
  EXPECT_EQ(load_data(config).train->describe(), "4 samples [6] float64, 10 classes");
  config.test = file("test.mat", {3, 1, 2, 9});
  EXPECT_EQ(all_labels(*load_data(config).test), (std::vector<std::int32_t>{3, 1, 2, 9})) << "the rule of training";
  config = {.source = file("three.mat", {1, 2, 3, 3})};
  EXPECT_EQ(all_labels(*load_data(config).train), (std::vector<std::int32_t>{0, 1, 2, 2}));
  config = {.source = file("zero.mat", {0, 2, 10, 3})};
  EXPECT_EQ(all_labels(*load_data(config).train), (std::vector<std::int32_t>{0, 2, 10, 3}));
  config.shape = {1, 2, 3};
  config.transpose = true;
  EXPECT_EQ(load_data(config).train->sample_shape(), (Shape{1, 3, 2}));
  EXPECT_EQ(gathered<double>(*load_data(config).train, ids_from(0, 1)), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  config.y_key = "labels";
  refuse(ErrorCode::data, config.source + ": no variable \"labels\", there are: X, y", config);
}

TEST_F(FileSource, Csv) {
  DataConfig config{.source = put_text("a.csv", "h,w,kind\n1,2,0\n3,4,1\n5,6,1\n")};
  EXPECT_EQ(load_data(config).train->describe(), "3 samples [2] float64, 2 classes");
  config.label_column = "h";
  refuse(ErrorCode::usage, config.source + ": no column \"x\" among 3 (names: h, w, kind)",
         {.source = config.source, .label_column = "x"});
  EXPECT_EQ(all_labels(*load_data(config).train), (std::vector<std::int32_t>{1, 3, 5}));
  config.label_column = "none";
  EXPECT_EQ(load_data(config).train->describe(), "3 samples [3] float64, no targets");
  config = {.source = put_text("r.tsv", "1\t2.5\n3\t4.5\n"), .regression = true};
  EXPECT_EQ(load_data(config).train->describe(), "2 samples [1] float64, targets [1]");
  config.regression = false;
  EXPECT_TRUE(load_data(config).regression) << "numbers that are not whole are no classes";
  config.source = put_text("one.csv", "1\n2\n");
  refuse(ErrorCode::data, config.source + ": a single column cannot hold features and a label", config);
  config = {.source = put_text("a.csv", "1,2,0\n3,4,1\n"), .header = true};
  EXPECT_EQ(load_data(config).train->size(), 1);
}

/// The layout of Kaggle's digits: the label comes first.
TEST_F(FileSource, CsvWithItsLabelFirst) {
  const std::string text = "label,pixel1,pixel2\n3,0,255\n1,7,0\n0,9,0\n";
  DataConfig config{.source = put_text("train.csv", text), .test = put_text("test.csv", text)};
  const DataSplits splits = load_data(config);
  EXPECT_EQ(all_labels(*splits.train), (std::vector<std::int32_t>{3, 1, 0}));
  EXPECT_EQ(all_labels(*splits.test), (std::vector<std::int32_t>{3, 1, 0}));
  EXPECT_EQ(splits.label_column, "label");
  ASSERT_EQ(splits.notes.size(), 2u);
  EXPECT_EQ(splits.notes[0],
            config.source + ": column 0 (label) is taken as the label; data.label_column names another");
  EXPECT_NE(splits.notes[1].find("integers from 0 to 255; data.scale = 255"), std::string::npos) << splits.notes[1];
  config.scale = 255;
  EXPECT_EQ(load_data(config).notes.size(), 1u);
  config.test = put_text("test.csv", "pixel2,label,pixel1\n255,3,0\n");
  EXPECT_EQ(gathered<double>(*load_data(config).test, ids_from(0, 1)), (std::vector<double>{0, 1})) << "by name";
  config.test = put_text("test.csv", "label,pixel2,pixel3\n3,0,255\n");
  refuse(ErrorCode::data, config.test + ": no column \"pixel1\", which the table of training has; names: label, pixel2",
         config);
}

std::vector<double> column_of(const Dataset& data, std::int64_t column) {
  const std::vector<double> all = gathered<double>(data, ids_from(0, data.size()));
  std::vector<double> values;
  for (std::int64_t i = column; i < std::ssize(all); i += data.features())
    values.push_back(all[static_cast<std::size_t>(i)]);
  return values;
}

constexpr const char* kPeople =
    "id,name,sex,age,fare,survived\n1,Ann Lee,female,,7.5,yes\n2,Bob Ray,male,20,8,no\n3,Cy Fox,male,40,9,no\n"
    "4,Di Poe,female,NA,1,yes\n5,Ed Orr,male,30,2,no\n6,Fay May,female,60,3,yes\n";

TEST_F(FileSource, TablesWithWords) {
  DataConfig config{.source = put_text("p.csv", kPeople), .label_column = "survived", .drop = {"id"}};
  const DataSplits splits = load_data(config);
  EXPECT_EQ(splits.class_names, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(all_labels(*splits.train), (std::vector<std::int32_t>{1, 0, 0, 1, 0, 1}));
  ASSERT_TRUE(splits.table.has_value());
  ASSERT_EQ(splits.table->columns.size(), 3u) << "names are left out";
  EXPECT_EQ(splits.table->columns[0].categories, (std::vector<std::string>{"female", "male"}));
  EXPECT_EQ(splits.table->columns[1].fill, 37.5);
  EXPECT_EQ(column_of(*splits.train, 0), (std::vector<double>{1, 0, 0, 1, 0, 1}));
  EXPECT_EQ(column_of(*splits.train, 1), (std::vector<double>{0, 1, 1, 0, 1, 0}));
  EXPECT_EQ(column_of(*splits.train, 2), (std::vector<double>{37.5, 20, 40, 37.5, 30, 60}));
  config.missing = "median";
  EXPECT_EQ(load_data(config).table->columns[1].fill, 35);
  config.missing = "drop";
  EXPECT_EQ(load_data(config).train->size(), 4);
  config.missing = "error";
  refuse(ErrorCode::data, config.source + ": line 2: column 3 (age): the field is empty; data.missing = \"mean\"",
         config);
  config = {.source = config.source, .label_column = "survived", .columns = {"fare", "sex"}};
  EXPECT_EQ(load_data(config).table->columns[0].name, "fare") << "in the order that was asked for";
  config.columns = {"survived"};
  refuse(ErrorCode::usage, config.source + ": data.columns: column 5 (survived) is the label", config);
  config = {.source = config.source, .label_column = "survived", .drop = {"agee"}};
  refuse(ErrorCode::usage, config.source + ": data.drop: no column \"agee\" among 6 (names: id, name, sex", config);
}

TEST_F(FileSource, MissingNumbersFromTheTrainingPart) {
  std::string text = "a,label\n";
  for (int i = 0; i < 20; ++i)
    text += (i < 10 ? std::to_string(i) : i == 15 ? "" : "1000") + "," + std::to_string(i % 2) + "\n";
  DataConfig config{.source = put_text("m.csv", text), .shuffle = false, .stratify = false};
  config.split = {.train = 10, .test = 10};
  const DataSplits splits = load_data(config);
  EXPECT_EQ(splits.table->columns[0].fill, 4.5);
  EXPECT_EQ(column_of(*splits.test, 0)[5], 4.5);
}

TEST_F(FileSource, OtherTablesAreReadByThePlan) {
  DataConfig config{.source = put_text("p.csv", kPeople), .label_column = "survived", .drop = {"id"}};
  const DataSplits trained = load_data(config);
  const TrainedData rules{.table = trained.table, .class_names = trained.class_names, .named_labels = true};
  config.source = put_text("q.csv", "fare,age,sex\n2,?,other\n3,50,male\n");
  const DataSplits other = load_data(config, rules, DataUse::prediction);
  EXPECT_EQ(gathered<double>(*other.train, ids_from(0, 2)), (std::vector<double>{0, 0, 37.5, 2, 0, 1, 50, 3}));
  EXPECT_EQ(other.train->classes(), 0) << "there is no label";
  ASSERT_FALSE(other.notes.empty());
  EXPECT_NE(other.notes.back().find("column 2 (sex): other was not there in training"), std::string::npos)
      << other.notes.back();
  config.source = put_text("r.csv", "fare,age,sex,survived\n2,1,male,maybe\n");
  expect_error(ErrorCode::data,
               config.source + ": column 3 (survived): the label \"maybe\" is no class of training; classes: no, yes",
               [&] { load_data(config, rules, DataUse::evaluation); });
  EXPECT_EQ(load_data(config, rules, DataUse::prediction).train->classes(), 0) << "a label that nobody needs";
  config.source = put_text("u.csv", "fare,age,sex,survived\n2,1,male,no\n");
  EXPECT_EQ(all_labels(*load_data(config, rules, DataUse::evaluation).train), (std::vector<std::int32_t>{0}));
  expect_error(ErrorCode::data,
               config.source + ": column 3 (survived): the label \"no\" is no class of training; classes: numbers",
               [&] { load_data(config, {.table = trained.table}, DataUse::evaluation); });
  config.source = put_text("s.csv", "fare,sex,survived\n2,male,no\n");
  expect_error(ErrorCode::data, config.source + ": no column \"age\", which the table of training has",
               [&] { load_data(config, rules, DataUse::evaluation); });
  config.source = put_text("t.csv", "fare,age,sex,survived\n2,old,male,no\n");
  expect_error(
      ErrorCode::data,
      config.source + ": line 2: column 1 (age): \"old\" is not a number, and the model was trained on numbers",
      [&] { load_data(config, rules, DataUse::evaluation); });
}

TEST_F(FileSource, AWordAmongNumbersIsASlip) {
  std::string text = "a,label\n";
  for (int i = 0; i < 20; ++i) text += (i == 7 ? "x7" : std::to_string(i)) + "," + std::to_string(i % 2) + "\n";
  DataConfig config{.source = put_text("slip.csv", text)};
  refuse(ErrorCode::data, config.source + ": line 9: column 0 (a): \"x7\" stands among numbers; mend it, or say",
         config);
}

TEST_F(FileSource, RefusesASingleClass) {
  DataConfig config{.source = put_text("a.csv", "label,a\n0,0\n1,0\n0,0\n"), .label_column = "a"};
  refuse(ErrorCode::data,
         config.source +
             ": column 1 (a): every label is 0, and from one class nothing can be learnt; "
             "data.label_column says where the labels are",
         config);
  EXPECT_EQ(load_data(config, {}, DataUse::evaluation).train->size(), 3) << "a test of one class is one";
  config = {.source = put("x.npy", write_npy(counting<float>({2, 3}))),
            .labels = put("y.npy", write_npy(labels({5, 5})))};
  refuse(ErrorCode::data, config.labels + ": every label is 5", config);
}

TEST_F(FileSource, RowVectorsAreVectors) {
  const auto file = [&](std::vector<std::int64_t> x, std::vector<std::int64_t> y) {
    return put("r.npz", write_npz(std::vector<NamedArray>{{"x", counting<double>(std::move(x))},
                                                          {"y", counting<double>(std::move(y))}}));
  };
  DataConfig config{.source = file({40, 2}, {1, 40}), .regression = true};
  EXPECT_EQ(load_data(config).train->describe(), "40 samples [2] float64, targets [1]");
  config.source = file({1, 40}, {1, 40});
  EXPECT_EQ(load_data(config).train->describe(), "40 samples [1] float64, targets [1]");
  EXPECT_EQ(load_data(config).notes.size(), 1u) << "said aloud";
  config.shape = {40};
  EXPECT_EQ(load_data(config).train->describe(), "1 sample [40] float64, targets [40]") << "unless told otherwise";
  config = {.source = file({1, 5}, {1, 3}), .regression = true};
  EXPECT_EQ(load_data(config).train->describe(), "1 sample [5] float64, targets [3]");
  config = {.source = file({1, 40}, {40, 1})};
  EXPECT_EQ(load_data(config).train->describe(), "40 samples [1] float64, 40 classes");
}

TEST_F(FileSource, ChannelsLast) {
  const Array x = counting<std::uint8_t>({2, 2, 3, 2});  // height 2, width 3, channels 2
  DataConfig config{.source = put("x.npy", write_npy(x)), .labels = put("y.npy", write_npy(labels({0, 1})))};
  EXPECT_EQ(load_data(config).train->sample_shape(), (Shape{2, 3, 2})) << "as it stands";
  config.scale = 1;
  config.layout = "nhwc";
  const std::vector<double> second{12, 14, 16, 18, 20, 22, 13, 15, 17, 19, 21, 23};
  for (const bool stream : {false, true}) {
    config.stream = stream;
    const DataSplits splits = load_data(config);
    EXPECT_EQ(splits.train->sample_shape(), (Shape{2, 2, 3}));
    EXPECT_EQ(gathered<double>(*splits.train, ids_from(1, 1)), second) << (stream ? "by slices" : "in memory");
  }
  config.layout = "nchw";
  EXPECT_EQ(load_data(config).train->sample_shape(), (Shape{2, 3, 2}));
  config = {.source = put("flat.npy", write_npy(counting<std::uint8_t>({2, 12}))), .labels = config.labels, .scale = 1};
  config.layout = "nhwc";
  refuse(ErrorCode::usage, "data: layout = \"nhwc\", but samples [12] are plain lists", config);
  config.shape = {2, 3, 2};
  EXPECT_EQ(gathered<double>(*load_data(config).train, ids_from(1, 1)), second);
  config = {.source = put("grey.npy", write_npy(counting<std::uint8_t>({2, 3, 4}))), .labels = config.labels};
  config.layout = "nhwc";
  EXPECT_EQ(load_data(config).train->sample_shape(), (Shape{1, 3, 4})) << "no axis of channels";
  config.layout = "hwc";
  refuse(ErrorCode::usage, "data: layout \"hwc\" is unknown, expected nchw or nhwc", config);
}

TEST_F(FileSource, LabelRuleDecides) {
  DataConfig config{.source = put_text("a.csv", "a,label\n5,1\n6,3\n7,2\n"), .label_rule = "from-one"};
  EXPECT_EQ(all_labels(*load_data(config).train), (std::vector<std::int32_t>{0, 2, 1}));
  config.source =
      put("ten.mat", write_mat5(std::vector<NamedArray>{{"X", counting<double>({3, 2})}, {"y", column({10, 1, 2})}}));
  EXPECT_EQ(all_labels(*load_data(config).train), (std::vector<std::int32_t>{9, 0, 1}));
  EXPECT_EQ(load_data(config).label_rule, "from-one");
  config.label_rule.clear();
  EXPECT_EQ(load_data(config).label_rule, "digits");
  EXPECT_EQ(load_data(config).notes.size(), 1u);
}

TEST_F(FileSource, MessagesNameThePlaceOfTheSetting) {
  DataConfig config{.source = "no.csv"};
  config.places = {{"source", "a.toml:2"}, {"split", "a.toml:3"}};
  refuse(ErrorCode::data, "a.toml:2: data.source: no.csv: cannot open", config);
  config.source = put_text("a.csv", "1,0\n2,1\n");
  config.split = {.test = 5};
  refuse(ErrorCode::usage, "a.toml:3: data.split: split.test = 5, but there are 2 samples", config);
  config.split = {};
  config.test = "no.csv";
  config.places["test"] = "--set data.test=no.csv";
  refuse(ErrorCode::data, "--set data.test=no.csv: data.test: no.csv: cannot open", config);
}

TEST_F(FileSource, RefusesUnknownFiles) {
  refuse(ErrorCode::data, (folder_ / "missing.npz").string() + ": cannot open: No such file",
         {.source = (folder_ / "missing.npz").string()});
  refuse(ErrorCode::data, (folder_ / "missing").string() + ": cannot open: No such file",
         {.source = (folder_ / "missing").string()});
  const std::string text = put_text("notes.doc", "hello");
  refuse(ErrorCode::data, text + ": unknown kind of data file, expected .mat, .npz", {.source = text});
  const std::string deep = put("deep.npy", write_npy(counting<float>({1, 1, 1, 1, 2})));
  refuse(ErrorCode::data, deep + ": features [1,1,1,1,2], expected [samples]", {.source = deep, .labels = "none"});
  const std::string empty = put("empty.npy", write_npy(counting<float>({0, 2})));
  refuse(ErrorCode::data, empty + ": features [0,2] hold no samples", {.source = empty, .labels = "none"});
}

/// Sets an environment variable for one test.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~Environment() {
    if (old_) {
      ::setenv(name_, old_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST_F(FileSource, CatalogFindsFilesAndSaysHowToGetThem) {
  const Environment home("HOME", (folder_ / "home").string());
  const Environment data("LOCKSTEP_DATA_DIR", (folder_ / "data").string());
  const std::string root = folder_.path().string();
  refuse(ErrorCode::data,
         "mnist: files not found in " + root + "/data, " + root + "/data/mnist, " + root +
             "/home/.cache/lockstep/mnist, build/data/mnist; run `make data`",
         {.source = "mnist"});
  const Bytes images = write_idx(counting<std::uint8_t>({3, 4, 4})), three = write_idx(labels({7, 8, 9}));
  const auto put_all = [&](const std::string& where) {
    put(where + "/train-images-idx3-ubyte", images);
    put(where + "/train-labels-idx1-ubyte.gz", deflate_bytes(three, Deflate::gzip));
    put(where + "/t10k-images-idx3-ubyte.gz", deflate_bytes(images, Deflate::gzip));
    put(where + "/t10k-labels-idx1-ubyte", three);
  };
  put_all("home/.cache/lockstep/mnist");
  const DataSplits splits = load_data({.source = "mnist", .limit = 2, .test_limit = 1});
  EXPECT_EQ(splits.train->describe(), "2 of 3 samples [1,4,4] uint8, 10 classes");
  EXPECT_EQ(splits.test->size(), 1);
  EXPECT_TRUE(splits.class_names.empty());
  put_all("data/fashion-mnist");
  EXPECT_EQ(load_data({.source = "fashion-mnist"}).class_names.at(9), "Ankle boot");
}

}  // namespace
}  // namespace lockstep
