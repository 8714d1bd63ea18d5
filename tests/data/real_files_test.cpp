// The files people really have: MNIST, Fashion-MNIST and the exercise's digits, where they are present.

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/resize.hpp"
#include "lockstep/data/source.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

const std::filesystem::path kData = LOCKSTEP_TEST_DATA;

std::int64_t sum_of(const Array& array) {
  std::int64_t sum = 0;
  for (const std::uint8_t value : array.as<std::uint8_t>()) sum += value;
  return sum;
}

TEST(RealFiles, Mnist) {
  const auto path = kData / "mnist/train-images-idx3-ubyte.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const Array images = read_idx(path);
  EXPECT_EQ(images.describe(), "uint8 [60000,28,28]");
  EXPECT_NEAR(static_cast<double>(sum_of(images)) / static_cast<double>(images.elements()), 33.318421, 1e-6);
  const Array labels = read_idx(kData / "mnist/train-labels-idx1-ubyte.gz");
  EXPECT_EQ(labels.describe(), "uint8 [60000]");
  EXPECT_EQ(labels.value(0), 5);
  EXPECT_EQ(labels.value(59999), 8);
}

TEST(RealFiles, FashionMnistSplitsByDefault) {
  if (!std::filesystem::exists("/usr/share/datasets/fashion-mnist")) {
    GTEST_SKIP() << "the Debian package dataset-fashion-mnist is not installed";
  }
  DataConfig config{.source = "fashion-mnist"};
  config.split = {.train = 50000, .validation = 10000};
  const DataSplits splits = load_data(config);
  EXPECT_EQ(splits.train->size(), 50000);
  EXPECT_EQ(splits.validation->size(), 10000);
  EXPECT_EQ(splits.test->describe(), "10000 samples [1,28,28] uint8, 10 classes");
  std::vector<int> counts(10);
  for (const std::int32_t label : all_labels(*splits.test)) ++counts[static_cast<std::size_t>(label)];
  EXPECT_EQ(counts, std::vector<int>(10, 1000));
}

TEST(RealFiles, ExerciseWeights) {
  const auto path = kData / "coursera/ex4weights.mat";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const auto arrays = read_mat5(path);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "Theta1");
  EXPECT_EQ(arrays[0].array.describe(), "float64 [25,401]");
  EXPECT_EQ(arrays[1].name, "Theta2");
  EXPECT_EQ(arrays[1].array.describe(), "float64 [10,26]");
  // As scipy.io.loadmat reads them: Theta1[0,0], Theta1[1,2], Theta2[9,25].
  EXPECT_EQ(arrays[0].array.value(0), -0.022562389859934213);
  EXPECT_EQ(arrays[0].array.value(401 + 2), -9.758736885116364e-09);
  EXPECT_EQ(arrays[1].array.value(9 * 26 + 25), -1.3275204189639918);
}

TEST(RealFiles, ExerciseDigits) {
  const auto path = kData / "coursera/ex4data1.mat";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
  const DataSplits splits = load_data({.source = path.string()});
  EXPECT_EQ(splits.train->describe(), "5000 samples [400] float64, 10 classes");
  std::vector<int> counts(10);
  for (const std::int32_t label : all_labels(*splits.train)) ++counts[static_cast<std::size_t>(label)];
  EXPECT_EQ(counts, std::vector<int>(10, 500));
  EXPECT_EQ(all_labels(*splits.train)[0], 0) << "label 10 is the digit 0";
}

/// The exercise's digits are MNIST's, resampled by bicubic interpolation, columns first.
TEST(RealFiles, BicubicRebuildsTheExerciseFromMnist) {
  const auto exercise = kData / "coursera/ex4data1.mat", mnist = kData / "mnist/train-images-idx3-ubyte.gz";
  if (!std::filesystem::exists(exercise) || !std::filesystem::exists(mnist)) {
    GTEST_SKIP() << exercise << " or " << mnist << " is not here";
  }
  const Array images = read_idx(mnist), labels = read_idx(kData / "mnist/train-labels-idx1-ubyte.gz");
  Samples chosen{make_array(ElementType::uint8, {5000, 28, 28}), {1, 28, 28}, {}};
  std::int64_t next = 0;
  for (int digit = 0; digit < 10; ++digit) {
    for (std::int64_t i = 0, found = 0; found < 500; ++i) {
      if (labels.value(i) != digit) continue;
      std::copy_n(images.bytes.begin() + i * 784, 784, chosen.features.bytes.begin() + 784 * next++);
      ++found;
    }
  }
  const Samples small = transpose_images(resize_images(chosen, 20, ResizeMethod::bicubic));
  const auto bytes = read_mat5(exercise);
  const auto expected = bytes[0].array.as<double>();
  const auto actual = small.features.as<double>();
  ASSERT_EQ(expected.size(), actual.size());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(actual[i] / 255 - expected[i]));
  EXPECT_LT(worst, 1e-14);
}

}  // namespace
}  // namespace lockstep
