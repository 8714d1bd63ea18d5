#include "lockstep/config/toml.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

std::string message_of(std::string_view text) {
  try {
    parse_toml(text, "a.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Toml, EveryValueKnowsItsLine) {
  const Value root = parse_toml("a = 1\n[s]\nb = [1,\n  2.5]\nc = {d = \"x\", e = true}\n", "a.toml");
  EXPECT_EQ(std::get<std::int64_t>(root.find("a")->data), 1);
  EXPECT_EQ(root.find("a")->origin, "a.toml:1");
  const Value* section = root.find("s");
  EXPECT_EQ(section->find("b")->origin, "a.toml:3");
  EXPECT_EQ((*section->find("b")->array())[1].origin, "a.toml:4");
  EXPECT_EQ(std::get<double>((*section->find("b")->array())[1].data), 2.5);
  EXPECT_EQ(*section->find("c")->find("d")->string(), "x");
  EXPECT_EQ(section->find("c")->find("e")->origin, "a.toml:5");
  EXPECT_EQ(root.find("nothing"), nullptr);
  EXPECT_EQ(root.find("a")->find("b"), nullptr);
}

TEST(Toml, TextThatIsNoTomlNamesTheLine) {
  EXPECT_EQ(message_of("a = 1\nb = \n").substr(0, 9), "a.toml:2:");
  EXPECT_EQ(message_of("a = 1\na = 2\n").substr(0, 9), "a.toml:2:");
  EXPECT_EQ(message_of("[data\n").substr(0, 9), "a.toml:1:");
  EXPECT_EQ(message_of("a = \"\xff\"\n").substr(0, 9), "a.toml:1:");
  EXPECT_EQ(message_of(std::string_view("a = 1\n\0", 7)),
            "a.toml:2: a zero byte: this is no text; is this the right file?");
}

TEST(Toml, SizeAndDepthAreBounded) {
  EXPECT_EQ(message_of(std::string(kMaxConfigBytes + 1, '#')),
            "a.toml:1: 1048577 bytes: a configuration has at most 1048576; is this the right file?");
  std::string dotted = "a";
  for (int i = 0; i < 100'000; ++i) dotted += ".a";
  const std::string_view expected = "a.toml:1: a key of more than 64 parts";
  EXPECT_EQ(message_of(dotted + " = 1"), expected);
  EXPECT_EQ(message_of("[" + dotted + "]"), expected);
  EXPECT_EQ(message_of("\"\\\"\"." + dotted + " = 1"), expected);
  EXPECT_EQ(message_of("x = {" + dotted + " = 1}"), expected);
  EXPECT_EQ(message_of("x = {y = \"\"\"a\"b\"\"\", " + dotted + " = 1}"), expected);
  EXPECT_EQ(message_of("a = " + std::string(100'000, '[')).substr(0, 9), "a.toml:1:");
  std::string tables = "a = ";
  for (int i = 0; i < 10'000; ++i) tables += "{a=";
  EXPECT_EQ(message_of(tables).substr(0, 9), "a.toml:1:");
}

TEST(Toml, WhatTheParserStumblesOverNamesTheLine) {
  EXPECT_EQ(message_of("a = 1\n[\nb]\nc = 2\n"), "a.toml:2: a key, a bracket or a value is incomplete");
  EXPECT_EQ(message_of("a = 1\n\xc3\xa9 = 2\n").substr(0, 9), "a.toml:2:");
}

TEST(Toml, ADateOfEndlessUnderscoresIsRefused) {
  for (const int count : {99, 114, 115, 116, 117, 118, 200}) {
    const std::string underscores(static_cast<std::size_t>(count), '_');
    for (const std::string& date : {"1980-01-0" + underscores + "1", "1980-\"" + underscores + "\"-01"}) {
      EXPECT_EQ(message_of("a = 1\nb = " + date + " 10:00:00\n").substr(0, 9), "a.toml:2:") << count;
      EXPECT_EQ(message_of("a = 1\nb=[" + date + " 1").substr(0, 9), "a.toml:2:") << count;
    }
  }
  EXPECT_EQ(message_of("a = 1980-01-01" + std::string(120, '_') + " 1"),
            "a.toml:1: a value with 100 underscores or more");
  EXPECT_EQ(message_of("#" + std::string(200, '_') + " 1. data\na = '" + std::string(200, '_') + "1'\n"), "no error");
}

TEST(Toml, LettersOfAnyKindStandInStringsAndComments) {
  EXPECT_EQ(message_of("# \xc3\xa9\n\"\xc3\xa9\" = '\xc3\xa9' # \xc3\xa9 it's\nb = 1\n"), "no error");
  EXPECT_EQ(message_of("a = \"\"\"\n\xc3\xa9 \\\"\"\" '''\n\"\"\"\nb = '''\n\xc3\xa9 ' '' \\'''\nc = ''\n"),
            "no error");
}

TEST(Toml, AByteOrderMarkIsSkipped) {
  EXPECT_EQ(std::get<std::int64_t>(parse_toml("\xef\xbb\xbf"
                                              "a = 1\n",
                                              "a.toml")
                                       .find("a")
                                       ->data),
            1);
}

TEST(Toml, DotsInStringsAndNumbersAreNoKeys) {
  EXPECT_EQ(message_of("a = \"" + std::string(1000, '.') + "\""), "no error");
  std::string list = "a = [";
  for (int i = 0; i < 1000; ++i) list += "0.5,";
  EXPECT_EQ(message_of(list + "]"), "no error");
}

TEST(Toml, AValueOfTheCommandLine) {
  const auto parse = [](std::string_view text) { return parse_toml_value(text, "--set a.b=..."); };
  EXPECT_EQ(std::get<std::int64_t>(parse("3").data), 3);
  EXPECT_EQ(std::get<double>(parse("1e-3").data), 1e-3);
  EXPECT_EQ(std::get<bool>(parse("true").data), true);
  EXPECT_EQ(*parse("\"full\"").string(), "full");
  EXPECT_EQ(*parse("{name = \"adam\"}").find("name")->string(), "adam");
  EXPECT_EQ(parse("[1, 28, 28]").array()->size(), 3U);
  EXPECT_EQ(parse("3").origin, "--set a.b=...");
}

TEST(Toml, ABareWordIsAString) {
  for (const std::string word : {"full", "fashion-mnist", "../data/x y.mat", "784-128-10", "2000-10-10", "3 apples",
                                 "a=b", "d\xc3\xa9j\xc3\xa0.csv"})
    EXPECT_EQ(*parse_toml_value(word, "--set").string(), word) << word;
}

TEST(Toml, AValueThatIsNoneIsRefused) {
  for (const std::string text : {"", "[1, 2", "{name = adam}", "\"open", "'open", "1\nb = 2", "\xff\xfe"})
    EXPECT_THROW(parse_toml_value(text, "--set"), Error) << text;
}

TEST(Toml, QuotedTextParsesBack) {
  const std::string awkward = "a\"b\\c\nd\te\x01\x7f \xc3\xa9";
  const Value root = parse_toml("a = " + toml_quote(awkward), "a.toml");
  EXPECT_EQ(*root.find("a")->string(), awkward);
}

TEST(Toml, ExcerptsAreShort) {
  const Value root = parse_toml(
      "a = [1, 2.5, true, \"x\", {b = 1}]\nd = 2000-01-01\nlong = [" +
          [] {
            std::string numbers;
            for (int i = 0; i < 1000; ++i) numbers += "12345678, ";
            return numbers;
          }() +
          "]",
      "a.toml");
  EXPECT_EQ(excerpt(*root.find("a")), "[1, 2.5, true, \"x\", {b = 1}]");
  EXPECT_EQ(excerpt(*root.find("d")), "2000-01-01");
  EXPECT_EQ(excerpt(*root.find("long")).size(), 60U);
  EXPECT_EQ(type_in_words(*root.find("d")), "a date or time");
}

}  // namespace
}  // namespace lockstep
