#include "lockstep/core/words.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(Words, OneIsNotCountedAsMany) {
  EXPECT_EQ(count_of(1, "thread"), "1 thread");
  EXPECT_EQ(count_of(0, "thread"), "0 threads");
  EXPECT_EQ(count_of(12, "thread"), "12 threads");
  EXPECT_EQ(count_of(1, "class", "classes"), "1 class");
  EXPECT_EQ(count_of(10, "class", "classes"), "10 classes");
}

TEST(Words, TextFromAnywhereIsOneHarmlessLine) {
  EXPECT_EQ(one_line("plain \xc3\xa9 text"), "plain \xc3\xa9 text");
  EXPECT_EQ(one_line("two\nlines"), "two lines");
  EXPECT_EQ(one_line("\x1b[31mred\x07\r\t"), "\\x1b[31mred\\x07\\x0d\\x09");
  EXPECT_EQ(one_line(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
}

TEST(Words, WordsOfFiles) {
  EXPECT_EQ(trimmed("  a b "), "a b");
  EXPECT_EQ(trimmed("   "), "");
  EXPECT_EQ(lower_case("Pixel_\xc3\x89"), "pixel_\xc3\x89");
}

TEST(Words, ANumberIsTheWholeText) {
  EXPECT_EQ(parse_number<int>("-12"), -12);
  EXPECT_EQ(parse_number<double>("1e3"), 1000.0);
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "99999999999"}) EXPECT_FALSE(parse_number<int>(text)) << text;
}

}  // namespace
}  // namespace lockstep
