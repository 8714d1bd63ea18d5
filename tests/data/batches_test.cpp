#include "lockstep/data/batches.hpp"

#include <algorithm>
#include <limits>

#include "lockstep/core/random.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

std::vector<std::int64_t> ids_of(const Batches& batches, std::int64_t batch) {
  const auto ids = batches.ids(batch);
  return {ids.begin(), ids.end()};
}

TEST(Batches, LastHoldsTheRemainder) {
  const Batches batches({.samples = 10, .batch = 4, .shuffle = false});
  ASSERT_EQ(batches.count(), 3);
  EXPECT_EQ(ids_of(batches, 0), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(ids_of(batches, 2), (std::vector<std::int64_t>{8, 9}));
}

TEST(Batches, OfEverySize) {
  for (const std::int64_t samples : {0, 1, 15, 16, 17}) {
    for (const std::int64_t batch : {std::int64_t{0}, std::int64_t{1}, std::int64_t{16}, std::int64_t{17},
                                     std::numeric_limits<std::int64_t>::max()}) {
      const Batches batches({.samples = samples, .batch = batch, .seed = 3});
      std::vector<std::int64_t> all;
      for (std::int64_t b = 0; b < batches.count(); ++b) {
        const auto ids = ids_of(batches, b);
        EXPECT_FALSE(ids.empty());
        all.insert(all.end(), ids.begin(), ids.end());
      }
      if (batch == 0) {
        EXPECT_EQ(batches.count(), samples == 0 ? 0 : 1);
      }
      EXPECT_TRUE(std::equal(all.begin(), all.end(), batches.order().begin(), batches.order().end()));
      std::sort(all.begin(), all.end());
      EXPECT_EQ(all, ids_from(0, samples));
    }
  }
}

TEST(Batches, ShufflesByTheCounter) {
  const Batches batches({.samples = 100, .batch = 10, .seed = 7, .epoch = 3});
  const auto expected = permutation(7, Purpose::shuffle, 3, 100);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), batches.order().begin(), batches.order().end()));
  const Batches next({.samples = 100, .batch = 10, .seed = 7, .epoch = 4});
  EXPECT_FALSE(std::equal(next.order().begin(), next.order().end(), batches.order().begin()));
}

/// The windows of a batch's sequences follow each other, in the same places.
TEST(Batches, OfWindows) {
  const Batches batches({.samples = 5, .batch = 3, .shuffle = false, .windows = 2});
  ASSERT_EQ(batches.count(), 4);
  EXPECT_EQ(ids_of(batches, 0), (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(ids_of(batches, 1), (std::vector<std::int64_t>{1, 3, 5}));
  EXPECT_EQ(ids_of(batches, 2), (std::vector<std::int64_t>{6, 8}));
  EXPECT_EQ(ids_of(batches, 3), (std::vector<std::int64_t>{7, 9}));
  // The sequences come in the order of samples without windows.
  const Batches whole({.samples = 50, .batch = 7, .seed = 3}),
      cut({.samples = 50, .batch = 7, .seed = 3, .windows = 4});
  ASSERT_EQ(cut.count(), 4 * whole.count());
  for (std::int64_t b = 0; b < cut.count(); ++b)
    for (std::size_t i = 0; i < cut.ids(b).size(); ++i) EXPECT_EQ(cut.ids(b)[i], whole.ids(b / 4)[i] * 4 + b % 4);
}

TEST(Batches, RefusesMisuse) {
  const Batches batches({.samples = 10, .batch = 4});
  expect_error(ErrorCode::bug, "batches: batch 3 asked for, there are 3", [&] { batches.ids(3); });
  expect_error(ErrorCode::bug, "batches: batch -1 asked for", [&] { batches.ids(-1); });
  expect_error(ErrorCode::bug, "batches: 10 samples in batches of -4", [] { Batches({.samples = 10, .batch = -4}); });
}

}  // namespace
}  // namespace lockstep
