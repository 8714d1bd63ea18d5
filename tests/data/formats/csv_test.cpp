#include "lockstep/data/formats/csv.hpp"

#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

CsvTable parse(std::string_view text, const CsvOptions& options = {}) {
  return parse_csv(to_bytes(text), "t.csv", options);
}

std::vector<double> values_of(const Array& array) {
  const auto values = array.as<double>();
  return {values.begin(), values.end()};
}

TEST(Csv, ReadsNumbers) {
  const CsvTable table = parse("1,2.5,-3e2\n4,+5, 6 \n");
  EXPECT_TRUE(table.columns.empty());
  EXPECT_EQ(table.values.dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(values_of(table.values), (std::vector<double>{1, 2.5, -300, 4, 5, 6}));
}

TEST(Csv, FindsTheSeparator) {
  for (const char* text : {"1,2\n3,4", "1;2\r\n3;4\r\n", "1\t2\n3\t4\n\n\n",
                           "\xEF\xBB\xBF"
                           "1,2\n3,4\n"}) {
    EXPECT_EQ(values_of(parse(text).values), (std::vector<double>{1, 2, 3, 4})) << text;
  }
  EXPECT_EQ(parse("\"a,b,c\";d\n1;2\n").columns, (std::vector<std::string>{"a,b,c", "d"}));
  EXPECT_EQ(values_of(parse("7\n8\n").values), (std::vector<double>{7, 8}));
}

TEST(Csv, FindsTheHeader) {
  const CsvTable table = parse("height,\"the \"\"width\"\"\",label\n1,2,0\n");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"height", "the \"width\"", "label"}));
  EXPECT_EQ(values_of(table.values), (std::vector<double>{1, 2, 0}));
  EXPECT_EQ(parse("1,2\n3,4\n", {.header = true}).values.dims.front(), 1);
  expect_data_error("t.csv: line 1, byte 0: column 0: \"a\" is not a finite number",
                    [] { parse("a,b\n1,2\n", {.header = false}); });
}

bool mentions_classes(std::string_view text, const CsvOptions& options) {
  try {
    parse(text, options);
  } catch (const Error& error) {
    return std::string_view(error.what()).find("class") != std::string_view::npos;
  }
  ADD_FAILURE() << "nothing was thrown";
  return false;
}

TEST(Csv, RefusesWhatIsNoTable) {
  expect_data_error("t.csv: no numbers, at least one line was expected", [] { parse(""); });
  expect_data_error("t.csv: no numbers", [] { parse("a,b\n"); });
  expect_data_error("t.csv: line 2, byte 4: 3 fields, the first line has 2", [] { parse("1,2\n3,4,5\n"); });
  expect_data_error("t.csv: line 2, byte 4: 1 fields, the first line has 2", [] { parse("1,2\n\n3,4\n"); });
  expect_data_error(
      "t.csv: line 3, byte 10: column 1 (b): \"setosa\" is not a finite number; this is the label: give "
      "classes as integers from 0",
      [] { parse("a,b\n1,2\n3,setosa\n", {.label = ""}); });
  EXPECT_FALSE(mentions_classes("a,b\n1,2\n3,setosa\n", {.label = "a"})) << "b is a feature";
  EXPECT_FALSE(mentions_classes("a,b\n1,2\n3,setosa\n", {.label = "b", .classes = false})) << "a real target";
  for (const char* bad : {"nan", "inf", "1e999", "", "1.5x", "0x10", "--1", "+-1", "1 2"}) {
    expect_data_error("t.csv: line 2, byte 6: column 1: \"" + std::string(bad) + "\" is not a finite number",
                      [&] { parse("1,2\n3," + std::string(bad) + "\n"); });
  }
  expect_data_error("t.csv: line 1, byte 2: a quoted field without its closing quote", [] { parse("1,\"2\n3,4\n"); });
  expect_data_error("t.csv: line 1, byte 5: text behind a closing quote", [] { parse("1,\"2\"3\n"); });
  expect_data_error("t.csv: line 1, byte 2: text behind a closing quote, or a stray", [] { parse("1\r2\r3\n"); });
}

TEST(Csv, FindsColumns) {
  const CsvTable table = parse("a,b,c\n1,2,3\n4,5,6\n");
  const auto find = [&](std::string_view column) { return find_column(table.columns, 3, column, "t.csv"); };
  EXPECT_EQ(find("b"), 1);
  EXPECT_EQ(find("last"), 2);
  EXPECT_EQ(find("0"), 0);
  expect_error(ExitCode::usage, "t.csv: no column \"d\" among 3 (names: a, b, c)", [&] { find("d"); });
  expect_error(ExitCode::usage, "t.csv: no column \"3\" among 3", [&] { find("3"); });
  expect_error(ExitCode::usage, "t.csv: no column \"a\" among 2 (it has no header)",
               [] { find_column({}, 2, "a", "t.csv"); });
  const CsvParts parts = take_column(table, 1);
  EXPECT_EQ(values_of(parts.features), (std::vector<double>{1, 3, 4, 6}));
  EXPECT_EQ(parts.features.dims, (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(values_of(parts.column), (std::vector<double>{2, 5}));
}

TEST(Csv, ChoosesTheLabelByName) {
  const auto choose = [](const std::vector<std::string>& columns, std::string_view wanted = "") {
    return choose_label(columns, static_cast<std::int64_t>(columns.size()), wanted, "t.csv");
  };
  EXPECT_EQ(choose({"label", "pixel1", "pixel2"}).column, 0);
  EXPECT_EQ(choose({"label", "pixel1", "pixel2"}).note,
            "t.csv: column 0 (label) is taken as the label; data.label_column names another");
  for (const char* name : {"Class", "TARGET", " y ", "Species", "outcome"})
    EXPECT_EQ(choose({"a", name, "b"}).column, 1) << name;
  EXPECT_EQ(choose({"x", "y", "kind"}).column, 2) << "y beside x is a coordinate";
  EXPECT_EQ(choose({"x", "y", "class"}).column, 2);
  const CsvLabel last = choose({"height", "width", "kind"});
  EXPECT_EQ(last.column, 2);
  EXPECT_NE(last.note.find("the last one, column 2 (kind), is taken as the label; data.label_column"),
            std::string::npos)
      << last.note;
  EXPECT_EQ(choose_label({}, 4, "", "t.csv").note,
            "t.csv: it has no header; the last column, 3, is taken as the label; data.label_column names another");
  EXPECT_EQ(choose({"label", "a", "class"}, "class").column, 2);
  EXPECT_EQ(choose({"label", "a", "class"}, "class").note, "") << "the user said so";
  EXPECT_EQ(choose({"label", "a"}, "none").column, -1);
  expect_error(ExitCode::usage,
               "t.csv: column 0 (label) and column 2 (class) could both be the label; say which in data.label_column",
               [&] {
                 choose({"label", "a", "class"});
               });
}

TEST(Csv, ReadsFiles) {
  const TemporaryFolder folder;
  write_file(folder / "t.csv", to_bytes("1,2\n"));
  EXPECT_EQ(values_of(read_csv(folder / "t.csv").values), (std::vector<double>{1, 2}));
}

}  // namespace
}  // namespace lockstep
