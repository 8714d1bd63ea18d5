#include "lockstep/lab/text_table.hpp"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(TextTable, AlignsColumns) {
  TextTable table("lr");
  table.row({"a", "1"});
  table.row({"long name", "1000"});
  table.row({"b"});
  EXPECT_EQ(table.str(), "a             1\nlong name  1000\nb\n");
  EXPECT_EQ(table.str(2), "  a             1\n  long name  1000\n  b\n");
}

TEST(TextTable, CountsCharactersNotBytes) {
  TextTable table("ll");
  table.row({"\xc3\xa9\xc3\xa9", "x"});
  table.row({"ab", "y"});
  EXPECT_EQ(table.str(), "\xc3\xa9\xc3\xa9  x\nab  y\n");
}

TEST(TextTable, NumbersForPeople) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(61706), "61,706");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(with_commas(-123), "-123");
  EXPECT_EQ(with_commas(-1234), "-1,234");
  EXPECT_EQ(with_prefix(0), "0");
  EXPECT_EQ(with_prefix(999), "999");
  EXPECT_EQ(with_prefix(416520), "416.5 k");
  EXPECT_EQ(with_prefix(999960), "1 M");
  EXPECT_EQ(with_prefix(2.31e9), "2.31 G");
  EXPECT_EQ(duration(0.0123), "0.012 s");
  EXPECT_EQ(duration(3.2), "3.20 s");
  EXPECT_EQ(duration(32.14), "32.1 s");
  EXPECT_EQ(duration(247), "4 min 07 s");
  EXPECT_EQ(duration(7500), "2 h 05 min");
  EXPECT_EQ(loss_text(0.28762916), "0.2876");
  EXPECT_EQ(loss_text(1.5e-5), "1.500e-05");
  EXPECT_EQ(loss_text(0), "0.0000");
  EXPECT_EQ(percent(0.9752), "97.52 %");
  EXPECT_EQ(percent(std::nullopt), "-");
}

}  // namespace
}  // namespace lockstep
