#include "lockstep/data/formats/ts.hpp"

#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

TsFile parse(std::string_view text) { return parse_ts(to_bytes(text), "t.ts"); }

std::vector<double> values_of(const Array& array) {
  const auto values = array.as<double>();
  return {values.begin(), values.end()};
}

constexpr std::string_view kClasses =
    "# a comment\n@problemName t\n\n@timeStamps false\n@classLabel true left right\n@data\n";

TEST(Ts, ReadsSequencesOfDifferentLengths) {
  const TsFile file = parse(std::string(kClasses) + "1,2,3:4,5,6:right\n\n-1.5:2e1:left\r\n");
  EXPECT_EQ(file.values.dims, (std::vector<std::int64_t>{2, 2, 3}));
  EXPECT_EQ(values_of(file.values), (std::vector<double>{1, 2, 3, 4, 5, 6, -1.5, 0, 0, 20, 0, 0}));
  EXPECT_EQ(file.lengths, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(file.class_names, (std::vector<std::string>{"left", "right"}));
  EXPECT_EQ(values_of(file.targets.value()), (std::vector<double>{1, 0}));
}

TEST(Ts, EqualLengthsNeedNoList) {
  const TsFile file = parse("@data\n1,2\n3,4");
  EXPECT_TRUE(file.lengths.empty());
  EXPECT_FALSE(file.targets.has_value());
  EXPECT_EQ(file.values.dims, (std::vector<std::int64_t>{2, 1, 2}));
}

TEST(Ts, RealTargets) {
  const TsFile file = parse("@targetLabel true\n@DATA\n1,2:0.5\n3:-2\n");
  EXPECT_TRUE(file.class_names.empty());
  EXPECT_EQ(values_of(file.targets.value()), (std::vector<double>{0.5, -2}));
  EXPECT_EQ(file.lengths, (std::vector<std::int64_t>{2, 1}));
}

TEST(Ts, RefusesWhatItCannotRead) {
  const std::string classes(kClasses);
  expect_data_error("t.ts: line 0: @data is missing", [] { parse(""); });
  expect_data_error("t.ts: line 1: a line of the header begins with @ or #, not with \"1,2\"", [] { parse("1,2\n"); });
  expect_data_error("t.ts: line 1: there is no sequence behind @data", [] { parse("@data\n"); });
  expect_data_error("t.ts: line 1: sequences with time stamps are not read",
                    [] { parse("@timeStamps true\n@data\n"); });
  expect_data_error("t.ts: line 1: @classlabel is followed by true or false",
                    [] { parse("@classLabel yes\n@data\n"); });
  expect_data_error("t.ts: line 1: @classLabel true is followed by the classes", [] { parse("@classLabel true\n"); });
  expect_data_error("t.ts: line 1: the class \"a\" stands twice", [] { parse("@classLabel true a a\n"); });
  expect_data_error("t.ts: line 7: the class \"up\" is not one of @classLabel", [&] { parse(classes + "1:up\n"); });
  expect_data_error("t.ts: line 7: the class or target behind the last colon is missing",
                    [&] { parse(classes + "1,2\n"); });
  expect_data_error("t.ts: line 2: \"?\" is no finite number; fill in missing values", [] { parse("@data\n1,?,3\n"); });
  expect_data_error("t.ts: line 2: \"nan\" is no finite number", [] { parse("@data\nnan\n"); });
  expect_data_error("t.ts: line 2: \"\" is no finite number", [] { parse("@data\n1,2:\n"); });
  expect_data_error("t.ts: line 2: dimension 2 has 1 step and the first one 2", [] { parse("@data\n1,2:3\n"); });
  expect_data_error("t.ts: line 3: 1 dimension, the first sequence has 2", [] { parse("@data\n1:2\n3\n"); });
}

/// Many short sequences and a long one.
TEST(Ts, RefusesPaddingOutOfProportion) {
  std::string text = "@data\n";
  for (int i = 0; i < 100000; ++i) text += "1\n";
  text += "1";
  for (int i = 0; i < 100000; ++i) text += ",1";
  expect_data_error("t.ts: its 100001 sequences of up to 100001 steps would be padded to many times the size",
                    [&] { parse(text); });
}

}  // namespace
}  // namespace lockstep
