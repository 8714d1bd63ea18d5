// Dropout against naive, bit by bit: the vector Philox must draw the words of the scalar one.
#include "lockstep/kernels/dropout.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

template <class T>
class SimdDropout : public ::testing::Test {};
TYPED_TEST_SUITE(SimdDropout, Scalars);

TYPED_TEST(SimdDropout, MatchesNaive) {
  using T = TypeParam;
  // Every field of the key at its full width; ids beyond 32 bits.
  const RandomKey keys[] = {
      {.seed = 1, .purpose = Purpose::dropout},
      {.seed = 0xFEDCBA9876543210U, .purpose = Purpose::dropout, .epoch = 0xABCDEF, .layer = 0xFFFE}};
  for (const RandomKey& key : keys)
    for (const std::int64_t rows : {0, 1, 2, 3, 4, 5, 11})
      for (const std::int64_t samples : kAwkwardSamples)
        for (const Layout& layout : layouts(samples)) {
          SCOPED_TRACE(::testing::Message() << rows << " x " << samples << " stride " << layout.stride);
          std::vector<std::int64_t> ids;
          for (std::int64_t s = 0; s < samples; ++s) ids.push_back(s % 2 == 0 ? s * 7919 : (s << 33) + 5);
          expect_like_naive<T>([&](const KernelTable<T>& table) {
            KernelContext context;
            OddMatrix<T> x(rows, samples, layout.stride, layout.shift, 1),
                y(rows, samples, layout.stride, layout.shift);
            table.dropout_apply({.key = key, .sample_ids = ids, .p = 0.3, .x = x.view(), .y = y.view()}, context);
            table.dropout_apply(
                {.key = key, .sample_ids = ids, .first_row = 4 * rows, .p = 0.6, .x = x.view(), .y = x.view()},
                context);
            std::vector<T> all;
            collect(all, x);
            collect(all, y);
            return all;
          });
        }
}

TYPED_TEST(SimdDropout, ExtremeProbabilities) {
  using T = TypeParam;
  std::vector<std::int64_t> ids(19, 3);
  for (const double p : {0.0, 0x1p-32, 0.5, 1 - 0x1p-32})
    expect_like_naive<T>([&](const KernelTable<T>& table) {
      KernelContext context;
      OddMatrix<T> x(50, 19, 19, 0, 1), y(50, 19, 19, 0);
      table.dropout_apply(
          {.key = {.seed = 9, .purpose = Purpose::dropout}, .sample_ids = ids, .p = p, .x = x.view(), .y = y.view()},
          context);
      return y.elements();
    });
}

TYPED_TEST(SimdDropout, KeepsAtTheThreshold) {
  using T = TypeParam;
  RandomKey key = {.seed = 11, .purpose = Purpose::dropout};
  const std::vector<std::int64_t> ids(19, 7);
  key.sample = 7;
  const std::uint32_t word = random_block(key, 0)[2];
  for (const double p : {double(word) / 4294967296.0, (double(word) + 1) / 4294967296.0})
    expect_like_naive<T>([&](const KernelTable<T>& table) {
      KernelContext context;
      OddMatrix<T> x(3, 19, 19, 0, 1), y(3, 19, 19, 0);
      table.dropout_apply({.key = key, .sample_ids = ids, .p = p, .x = x.view(), .y = y.view()}, context);
      return y.elements();
    });
}

}  // namespace
}  // namespace lockstep::test
