#include "cli/simulate/units.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {
namespace {

TEST(Units, Bandwidth) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("100Gbit/s"), 12.5e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("12.5 GB/s"), 12.5e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("1e9"), 1e9);
  for (const char* text : {"", "fast", "0", "-1GB/s", "1GB", "nan", "inf", "1e308TB/s"})
    EXPECT_THROW(parse_bandwidth(text), Error);
}

TEST(Units, Latency) {
  EXPECT_DOUBLE_EQ(parse_latency("1us"), 1e-6);
  EXPECT_DOUBLE_EQ(parse_latency("500 ns"), 500e-9);
  EXPECT_DOUBLE_EQ(parse_latency("0"), 0);
  for (const char* text : {"", "us", "-1us", "1 hour"}) EXPECT_THROW(parse_latency(text), Error);
}

TEST(Units, Nodes) {
  using Nodes = std::vector<int>;
  EXPECT_EQ(parse_nodes("3", 64), Nodes{3});
  EXPECT_EQ(parse_nodes("1,2,4,...,64", 64), (Nodes{1, 2, 4, 8, 16, 32, 64}));
  EXPECT_EQ(parse_nodes("1,2,...,7", 64), (Nodes{1, 2, 4, 7}));
  EXPECT_EQ(parse_nodes("2,3,...,6,9", 64), (Nodes{2, 3, 4, 5, 6, 9}));
  for (const char* text : {"", "0", "65", "2,1", "2,2", "1,...,8", "1,2,...", "1,2,...,...,8", "a", "1,,2", "1,2,4,"})
    EXPECT_THROW(parse_nodes(text, 64), Error) << text;
}

TEST(Units, Times) {
  EXPECT_EQ(time_text(1.5e-6), "1.5 us");
  EXPECT_EQ(time_text(12.34e-3), "12.3 ms");
  EXPECT_EQ(time_text(2), "2 s");
}

}  // namespace
}  // namespace lockstep::cli
