#include "cli/output/console.hpp"

#include <gtest/gtest.h>

namespace lockstep::cli {
namespace {

TEST(Console, TextFromAnywhereIsOneHarmlessLine) {
  EXPECT_EQ(one_line("plain \xc3\xa9 text"), "plain \xc3\xa9 text");
  EXPECT_EQ(one_line("two\nlines"), "two lines");
  EXPECT_EQ(one_line("\x1b[31mred\x07\r\t"), "\\x1b[31mred\\x07\\x0d\\x09");
  EXPECT_EQ(one_line(std::string_view("a\0b\x7f", 4)), "a\\x00b\\x7f");
}

}  // namespace
}  // namespace lockstep::cli
