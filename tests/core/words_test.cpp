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

}  // namespace
}  // namespace lockstep
