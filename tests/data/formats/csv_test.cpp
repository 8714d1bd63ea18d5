#include "lockstep/data/formats/csv.hpp"

#include <cmath>

#include "lockstep/data/table.hpp"
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

using Words = std::vector<std::string>;

TEST(Csv, ReadsNumbers) {
  const CsvTable table = parse("1,2.5,-3e2\n4,+5, 6 \n");
  EXPECT_TRUE(table.names.empty());
  EXPECT_EQ(table.values.dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(values_of(table.values), (std::vector<double>{1, 2.5, -300, 4, 5, 6}));
  EXPECT_EQ(values_of(parse("1,2\n\n3,4\n").values), (std::vector<double>{1, 2, 3, 4})) << "an empty line";
}

TEST(Csv, FindsTheSeparator) {
  for (const char* text : {"1,2\n3,4", "1;2\r\n3;4\r\n", "1\t2\n3\t4\n\n\n", "1|2\n3|4\n", "\uFEFF1,2\n3,4\n"}) {
    EXPECT_EQ(values_of(parse(text).values), (std::vector<double>{1, 2, 3, 4})) << text;
  }
  EXPECT_EQ(parse("\"a,b,c\";d\n1;2\n").names, (Words{"a,b,c", "d"}));
  EXPECT_EQ(values_of(parse("7\n8\n").values), (std::vector<double>{7, 8}));
  EXPECT_EQ(parse("a,b;c\n1,2\n", {.separator = ','}).names, (Words{"a", "b;c"}));
}

TEST(Csv, ReadsADecimalComma) {
  const CsvTable table = parse("a;b\r\n1,5;2\r\n-0,25;3\r\n");
  EXPECT_EQ(values_of(table.values), (std::vector<double>{1.5, 2, -0.25, 3}));
  EXPECT_TRUE(table.guessed_decimal);
  EXPECT_EQ(values_of(parse("1,5;2,5\n3,5;4,5\n").values), (std::vector<double>{1.5, 2.5, 3.5, 4.5}));
  expect_data_error("t.csv: line 2 has \"1,5\" and line 3 \"2.5\"; say in data.decimal whether",
                    [] { parse("a;b\n1,5;0\n2.5;1\n"); });
  EXPECT_EQ(parse("a;b\n1,5;0\n2.5;1\n", {.decimal = '.'}).columns[0].words, (Words{"1,5", "2.5"}));
  EXPECT_EQ(parse("a,b\n\"1,5\",0\n", {.decimal = ','}).values.value(0), 1.5);
}

TEST(Csv, FindsTheHeader) {
  const CsvTable table = parse("height,\"the \"\"width\"\"\",label\n1,2,0\n");
  EXPECT_EQ(table.names, (Words{"height", "the \"width\"", "label"}));
  EXPECT_EQ(values_of(table.values), (std::vector<double>{1, 2, 0}));
  EXPECT_EQ(parse("1,2\n3,4\n", {.header = true}).values.dims.front(), 1);
  EXPECT_TRUE(parse("5.1,3.5,setosa\n4.9,3.0,setosa\n").names.empty()) << "words in every line are no header";
  EXPECT_EQ(parse("name,kind\nann,x\nbob,y\n").names, (Words{"name", "kind"})) << "a line of words only is one";
  EXPECT_TRUE(parse("name,kind\nann,x\n", {.header = false}).names.empty());
  EXPECT_EQ(parse("a,a,a\n1,2,3\n").names, (Words{"a", "a (2)", "a (3)"}));
}

TEST(Csv, KeepsWordsAndMissingFields) {
  const CsvTable table = parse("colour,size\nred,1\n\"blue, dark\",NA\n,2\nred,nan\n?,N/A\n");
  EXPECT_EQ(table.columns[0].words, (Words{"blue, dark", "red"}));
  EXPECT_EQ(table.columns[0].missing, 2);
  EXPECT_EQ(table.columns[0].first_missing.line, 4);
  EXPECT_EQ(table.columns[1].missing, 3);
  EXPECT_EQ(table.columns[1].first_missing.text, "NA");
  EXPECT_TRUE(table.columns[1].words.empty());
  EXPECT_EQ(table.values.value(0), 1);
  EXPECT_EQ(table.values.value(2), 0);
  EXPECT_TRUE(std::isnan(table.values.value(3)));
  const auto first = [](auto, std::int64_t width) {
    std::vector<bool> words(static_cast<std::size_t>(width), false);
    words[0] = true;
    return words;
  };
  EXPECT_EQ(parse("k,x\n10,1\n9,2\n", {.as_words = first}).columns[0].words, (Words{"9", "10"})) << "by value";
  EXPECT_EQ(parse("k\ncaf\xE9\n").columns[0].words, (Words{"caf\xC3\xA9"})) << "Latin-1";
}

TEST(Csv, ReadsLineEndsInQuotes) {
  const CsvTable table = parse("a,b\n\"x\ny\",1\nz,q\n");
  EXPECT_EQ(table.columns[0].words, (Words{"x\ny", "z"}));
  EXPECT_EQ(table.columns[1].first_word.line, 4);
}

TEST(Csv, RefusesWhatIsNoTable) {
  expect_data_error("t.csv: no numbers, at least one line was expected", [] { parse(""); });
  expect_data_error("t.csv: no numbers", [] { parse("a,b\n"); });
  expect_data_error("t.csv: line 2, byte 4: 3 fields, the first line has 2", [] { parse("1,2\n3,4,5\n"); });
  expect_data_error("t.csv: line 3, byte 5: 1 fields, the first line has 2", [] { parse("1,2\n\n3\n"); });
  for (const char* bad : {"inf", "-Infinity"})
    expect_data_error("t.csv: line 2, byte 6: column 1: \"" + std::string(bad) + "\" is not a finite number",
                      [&] { parse("1,2\n3," + std::string(bad) + "\n"); });
  for (const char* word : {"1e999", "1.5x", "0x10", "--1", "+-1", "1 2"})
    EXPECT_EQ(parse("1,2\n3," + std::string(word) + "\n").columns[1].first_word.text, word);
  expect_data_error("t.csv: line 1, byte 2: a quoted field without its closing quote", [] { parse("1,\"2\n3,4\n"); });
  expect_data_error("t.csv: line 1, byte 5: text behind a closing quote", [] { parse("1,\"2\"3\n"); });
  expect_data_error("t.csv: line 1, byte 2: text behind a closing quote, or a stray", [] { parse("1\r2\r3\n"); });
  expect_data_error("t.csv: text of two bytes per letter (UTF-16); save it as UTF-8", [] { parse("\xFF\xFE\x31"); });
}

TEST(Csv, FindsColumns) {
  const Words names = {"a", "b", "c"};
  EXPECT_EQ(find_column(names, 3, "b"), 1);
  EXPECT_EQ(find_column(names, 3, "last"), 2);
  EXPECT_EQ(find_column(names, 3, "0"), 0);
  EXPECT_EQ(find_column(names, 3, "d"), std::nullopt);
  expect_error(ErrorCode::usage, "t.csv: no column \"d\" among 3 (names: a, b, c)",
               [&] { choose_label(names, 3, "d", "t.csv"); });
  expect_error(ErrorCode::usage, "t.csv: no column \"a\" among 2 (it has no header)",
               [] { choose_label({}, 2, "a", "t.csv"); });
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
  const LabelChoice last = choose({"height", "width", "kind"});
  EXPECT_EQ(last.column, 2);
  EXPECT_NE(last.note.find("the last one, column 2 (kind), is taken as the label; data.label_column"),
            std::string::npos)
      << last.note;
  EXPECT_EQ(choose_label({}, 4, "", "t.csv").note,
            "t.csv: it has no header; the last column, 3, is taken as the label; data.label_column names another");
  EXPECT_EQ(choose({"label", "a", "class"}, "class").column, 2);
  EXPECT_EQ(choose({"label", "a", "class"}, "class").note, "") << "the user said so";
  EXPECT_EQ(choose({"label", "a"}, "none").column, -1);
  expect_error(ErrorCode::usage,
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
