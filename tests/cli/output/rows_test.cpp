#include "cli/output/rows.hpp"

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {
namespace {

using Rows = std::vector<std::int64_t>;

TEST(Rows, SinglesAndRangesInTheirOrder) {
  EXPECT_EQ(parse_rows("0", 1), (Rows{0}));
  EXPECT_EQ(parse_rows("0,5,7-9", 10), (Rows{0, 5, 7, 8, 9}));
  EXPECT_EQ(parse_rows("5,0,0", 10), (Rows{5, 0, 0}));
  EXPECT_EQ(parse_rows("3-3", 10), (Rows{3}));
}

TEST(Rows, EverythingElseIsRefused) {
  for (const char* text :
       {"", ",", "1,", "-1", "a", "1-", "1--2", "1-2-3", "1 2", "3-1", "10", "0-10", "99999999999999999999", "0x1"}) {
    try {
      parse_rows(text, 10);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(std::string(error.what()).rfind(std::string("--rows ") + text + ": ", 0), 0U) << error.what();
    }
  }
}

TEST(Rows, ManyRowsAreTooMany) {
  EXPECT_EQ(parse_rows("0-999999", 5'000'000).size(), 1'000'000U);
  EXPECT_THROW(parse_rows("0-1000000", 5'000'000), Error);
  EXPECT_THROW(parse_rows("0-999999,7", 5'000'000), Error);
}

}  // namespace
}  // namespace lockstep::cli
