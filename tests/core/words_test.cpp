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

}  // namespace
}  // namespace lockstep
