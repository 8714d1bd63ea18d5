// The tools of these tests must be able to fail, and their bounds must hold and be of the right size.
#include "tests/kernels/library/bounds.hpp"

namespace lockstep::test {
namespace {

TEST(Bounds, WithinSeesOneWrongElement) {
  const std::vector<float> expected = {1, 2, 3};
  const std::vector<double> bounds = sum_bounds<float>(expected, 4);
  EXPECT_TRUE(within(expected, expected, bounds));
  EXPECT_TRUE(within({1, std::nextafter(2.0F, 3.0F), 3}, expected, bounds));
  EXPECT_FALSE(within({1, 2, 3.00001F}, expected, bounds));
  EXPECT_FALSE(within({kNan<float>, 2, 3}, expected, bounds));
  EXPECT_FALSE(within({1, 2}, expected, bounds));
}

TEST(Bounds, SumsInAnyOrderComeNearTheBound) {
  double nearest = 0;
  for (std::uint64_t stream = 1; stream <= 50; ++stream) {
    const auto a = random_vector<float>(8, stream), b = random_vector<float>(8, stream + 1000);
    float up = 0, down = 0;
    double magnitude = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      up += a[i] * b[i];
      down += a[7 - i] * b[7 - i];
      magnitude += std::abs(double(a[i]) * double(b[i]));
    }
    const double bound = sum_bounds<float>(std::vector<double>{magnitude}, 8)[0];
    EXPECT_LE(std::abs(double(up) - double(down)), bound);
    nearest = std::max(nearest, std::abs(double(up) - double(down)) / bound);
  }
  EXPECT_GT(nearest, 0.02);
}

TEST(Bounds, RoundedContainsWhatFloatGives) {
  for (std::uint64_t stream = 1; stream <= 200; ++stream) {
    const auto v = random_vector<float>(4, stream, 0.1, 2);
    const auto r = [&](std::size_t i) { return Rounded{v[i], 0}; };
    const Rounded exact = (r(0) - r(1)) * r(2) / square_root(r(3) + Rounded{1e-5F, 0});
    const float computed = (v[0] - v[1]) * v[2] / std::sqrt(v[3] + 1e-5F);
    EXPECT_LE(std::abs(double(computed) - exact.value), apart(exact, {}));
    EXPECT_LE(exact.error, gamma_of<float>(5) * std::abs(exact.value));  // five roundings
  }
}

}  // namespace
}  // namespace lockstep::test
