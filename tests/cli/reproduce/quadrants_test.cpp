#include "cli/reproduce/quadrants_data.hpp"

#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/reproduce/cuda_quadrants/experiment.hpp"
#include "cli/reproduce/cuda_quadrants/published.hpp"

namespace lockstep::cli {
namespace {

TEST(GlibcRand, FirstNumbersOfTheCLibrary) {
  GlibcRand random;
  for (const int expected : {1804289383, 846930886, 1681692777, 1714636915, 1957747793}) EXPECT_EQ(random(), expected);
}

#ifdef __GLIBC__
TEST(GlibcRand, EqualsRandForALongWay) {
  std::srand(1);
  GlibcRand random;
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(random(), std::rand()) << i;
}
#endif

TEST(QuadrantData, LabelsTellTheQuadrants) {
  const QuadrantData data = published_quadrants(3, 64);
  ASSERT_EQ(data.train->size(), 128);
  ASSERT_EQ(data.test->size(), 64);
  std::vector<std::int64_t> ids(64);
  for (std::int64_t i = 0; i < 64; ++i) ids[static_cast<std::size_t>(i)] = i;
  std::vector<float> x(128);
  std::vector<std::int32_t> labels(64);
  data.test->gather(ids, dense_matrix(x.data(), 2, 64));
  data.test->labels(ids, labels);
  int ones = 0;
  for (std::size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(labels[i] == 0, (x[i] >= 0) == (x[64 + i] >= 0)) << i;
    ones += labels[i];
  }
  EXPECT_GT(ones, 16);
  EXPECT_LT(ones, 48);
}

TEST(CudaQuadrants, FollowsThePublishedRunDigitByDigit) {
  using namespace quadrants_published;
  const QuadrantSeries series = train_published_quadrants(published_quadrants(200, 1024), Backend::simd, 10);
  ASSERT_EQ(series.loss.size(), kTestLoss.size());
  const auto digits = [](double number) { return fmt::format("{:.6f}", number); };
  for (std::size_t i = 0; i < kTestLoss.size(); ++i) {
    EXPECT_EQ(digits(series.accuracy[i]), digits(kTestAccuracy[i])) << "epoch " << i + 1;
    // Single precision in two orders of sums: in two epochs the last printed digit is one more.
    if (i == 2 || i == 3)
      EXPECT_NEAR(series.loss[i], kTestLoss[i], 1.5e-6) << "epoch " << i + 1;
    else
      EXPECT_EQ(digits(series.loss[i]), digits(kTestLoss[i])) << "epoch " << i + 1;
  }
}

TEST(CudaQuadrants, TheFirstWeightsMatter) {
  // What follows the published run so closely is no accident of the data.
  QuadrantData data = published_quadrants(200, 1024);
  Network network = published_quadrant_network();
  network.initialise(1);
  Trainer trainer(network, quadrant_options(Backend::simd, 1));
  const auto report = trainer.fit(*data.train, {.epochs = 1, .validation = data.test.get()}).back();
  EXPECT_GT(std::abs(report.validation->loss - quadrants_published::kTestLoss[0]), 1e-5);
}

constexpr const char* kAnnotated = R"(--------
Ir
--------
1,100 (100.0%)  PROGRAM TOTALS
1,000 (90.91%)  ???:lockstep::Trainer::fit(lockstep::Dataset const&, lockstep::FitOptions const&) [x]
  400 (36.36%)  ???:lockstep::(anonymous namespace)::LinearLayer<float>::backward(lockstep::Pass<float> const&) [x]
  300 (27.27%)  ???:lockstep::(anonymous namespace)::LinearLayer<float>::forward(lockstep::Pass<float> const&) const [x]
   50 ( 4.55%)  ???:lockstep::(anonymous namespace)::ActivationLayer<float>::forward(lockstep::Pass<float> const&) [x]
   70 ( 6.36%)  ???:lockstep::Worker<float>::score(lockstep::Worker<float>::Chunk const&) [x]
   30 ( 2.73%)  ???:lockstep::Worker<float>::load(lockstep::Worker<float>::Chunk const&) [x]
)";

TEST(Callgrind, SharesOfTheTraining) {
  const auto shares = parse_callgrind(kAnnotated);
  ASSERT_TRUE(shares);
  EXPECT_DOUBLE_EQ(*shares->linear_backward, 0.4);
  EXPECT_DOUBLE_EQ(*shares->linear_forward, 0.3);
  EXPECT_DOUBLE_EQ(*shares->relu_forward, 0.05);
  EXPECT_DOUBLE_EQ(*shares->sigmoid_and_loss, 0.07);
  EXPECT_DOUBLE_EQ(*shares->load, 0.03);
  EXPECT_NEAR(*shares->other, 0.15, 1e-12);
}

TEST(Callgrind, NothingWithoutOurNames) {
  EXPECT_FALSE(parse_callgrind(""));
  EXPECT_FALSE(parse_callgrind("1,000 (90.91%)  ???:0x00001234 [x]\n"));
  EXPECT_FALSE(parse_callgrind("1,000 (90.91%)  ???:lockstep::Trainer::fit(lockstep::Dataset const&) [x]\n"));
}

}  // namespace
}  // namespace lockstep::cli
