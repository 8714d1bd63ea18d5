#include "lockstep/kernels/loss.hpp"

#include "lockstep/kernels/math/elementary.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

template <class T>
struct Problem {
  Loss kind;
  TestMatrix<T> z, values;
  std::vector<std::int32_t> labels;
  T scale = T(1);
  std::vector<T> weights{};  // empty: none
  T smoothing = T(0), delta = T(0.4);
  std::int32_t gamma = 3;
  bool by_label;

  Problem(Loss loss, std::int64_t outputs, std::int64_t samples, bool label_targets)
      : kind(loss), z(outputs, samples, 1), values(outputs, samples, 2), by_label(label_targets) {
    for (std::int64_t s = 0; s < samples; ++s)
      labels.push_back(std::int32_t((s * 5 + 1) % std::max<std::int64_t>(outputs, 2)));
    if (loss != Loss::cross_entropy) return;
    for (std::int64_t s = 0; s < samples; ++s) {  // its targets add up to 1
      T sum = T(0);
      for (std::int64_t k = 0; k < outputs; ++k) sum += std::abs(values(k, s));
      for (std::int64_t k = 0; k < outputs; ++k) values(k, s) = std::abs(values(k, s)) / sum;
    }
  }

  struct Result {
    std::vector<T> loss;
    TestMatrix<T> dz;
  };
  Result run(bool want_gradient = true) const {
    Result r{nan_vector<T>(z.cols()), TestMatrix<T>(z.rows(), z.cols())};
    KernelContext context;
    make_naive_table<T>().loss_gradient({.kind = kind,
                                         .smoothing = smoothing,
                                         .gamma = gamma,
                                         .delta = delta,
                                         .scale = scale,
                                         .z = z.view(),
                                         .targets = targets(),
                                         .weights = weights.empty() ? nullptr : weights.data(),
                                         .loss = r.loss.data(),
                                         .dz = want_gradient ? r.dz.view() : Matrix<T>{}},
                                        context);
    return r;
  }
  LossTargets<T> targets() const {
    if (by_label) return {.labels = labels.data(), .values = {}};
    return {.labels = nullptr, .values = values.view()};
  }
};

struct Case {
  Loss kind;
  std::int64_t outputs;
  bool by_label;
  double smoothing = 0;

  template <class T>
  Problem<T> problem(std::int64_t samples) const {
    Problem<T> p(kind, outputs, samples, by_label);
    p.smoothing = T(smoothing);
    return p;
  }
};
const std::vector<Case> kCases = {{Loss::cross_entropy, 2, true},
                                  {Loss::cross_entropy, 10, true},
                                  {Loss::binary_cross_entropy, 1, true},
                                  {Loss::binary_cross_entropy, 1, false},
                                  {Loss::binary_cross_entropy, 10, true},
                                  {Loss::binary_cross_entropy, 7, false},
                                  {Loss::squared_error, 1, true},
                                  {Loss::squared_error, 1, false},
                                  {Loss::squared_error, 10, true},
                                  {Loss::squared_error, 3, false},
                                  {Loss::cross_entropy, 4, true, 0.2},
                                  {Loss::cross_entropy, 6, false},
                                  {Loss::cross_entropy, 4, false, 0.2},
                                  {Loss::focal, 2, true},
                                  {Loss::focal, 10, true},
                                  {Loss::huber, 1, false},
                                  {Loss::huber, 5, false},
                                  {Loss::huber, 3, true}};

TEST(Loss, GradientsMatchCentralDifferences) {
  for (const Case& c : kCases)
    for (const std::int64_t samples : {1, 3, 17}) {
      Problem<double> p = c.problem<double>(samples);
      p.scale = 1.0 / double(samples);
      const auto objective = [&] {
        double sum = 0;
        for (const double loss : p.run(false).loss) sum += loss / double(samples);
        return sum;
      };
      EXPECT_LT(gradient_error(p.z, p.run().dz, objective), kGradientTolerance)
          << "loss " << int(c.kind) << ", " << c.outputs << " outputs";
    }
}

/// The textbook formulas, by the C library.
double textbook(const Problem<double>& p, std::int64_t s) {
  const std::int64_t outputs = p.z.rows();
  const auto target = [&](std::int64_t k) {
    if (!p.by_label) return p.values(k, s);
    const std::int32_t label = p.labels[std::size_t(s)];
    return outputs == 1 ? double(label) : (label == k ? 1.0 : 0.0);
  };
  double sum = 0, exps = 0;
  for (std::int64_t k = 0; k < outputs; ++k) exps += std::exp(p.z(k, s));
  for (std::int64_t k = 0; k < outputs; ++k) {
    const double z = p.z(k, s), h = 1 / (1 + std::exp(-z));
    const double t = (1 - p.smoothing) * target(k) + p.smoothing / double(outputs);
    if (p.kind == Loss::cross_entropy) sum -= t * std::log(std::exp(z) / exps);
    if (p.kind == Loss::binary_cross_entropy) sum -= t * std::log(h) + (1 - t) * std::log(1 - h);
    if (p.kind == Loss::squared_error) sum += 0.5 * (z - t) * (z - t);
    if (p.kind == Loss::focal && t == 1)
      sum -= std::pow(1 - std::exp(z) / exps, p.gamma) * std::log(std::exp(z) / exps);
    const double far = std::abs(z - t);
    if (p.kind == Loss::huber) sum += far <= p.delta ? 0.5 * far * far : p.delta * (far - p.delta / 2);
  }
  return sum;
}

TEST(Loss, MatchesTheTextbook) {
  for (const Case& c : kCases) {
    const Problem<double> p = c.problem<double>(5);
    const auto loss = p.run(false).loss;
    for (std::int64_t s = 0; s < 5; ++s)
      EXPECT_NEAR(loss[std::size_t(s)], textbook(p, s), 1e-14 * double(c.outputs)) << "loss " << int(c.kind);
  }
}

TEST(Loss, SaturatedOutputsStayFinite) {
  for (const Case& c : kCases) {
    Problem<double> p = c.problem<double>(2);
    for (std::int64_t k = 0; k < c.outputs; ++k) {
      p.z(k, 0) = k % 2 == 0 ? 1000 : -1000;
      p.z(k, 1) = k % 2 == 0 ? -1000 : 1000;
    }
    const auto r = p.run();
    for (const double loss : r.loss) EXPECT_TRUE(std::isfinite(loss)) << int(c.kind);
    for (const double dz : elements(r.dz)) EXPECT_TRUE(std::isfinite(dz)) << int(c.kind);
  }
}

template <class T>
class LossOrder : public ::testing::Test {};
TYPED_TEST_SUITE(LossOrder, Scalars);

TYPED_TEST(LossOrder, GradientIsOptionalAndScaled) {
  using T = TypeParam;
  for (const Case& c : kCases) {
    Problem<T> p = c.problem<T>(6);
    const auto one = p.run();
    EXPECT_TRUE(identical(p.run(false).loss, one.loss));
    p.scale = T(0.25);
    const auto quarter = p.run();
    EXPECT_TRUE(identical(quarter.loss, one.loss)) << "the scale is of the gradient only";
    for (std::int64_t k = 0; k < c.outputs; ++k)
      for (std::int64_t s = 0; s < 6; ++s) EXPECT_EQ(quarter.dz(k, s), T(0.25) * one.dz(k, s));
    auto buffer = p.z;
    auto loss = nan_vector<T>(6);
    KernelContext context;
    make_naive_table<T>().loss_gradient({.kind = c.kind,
                                         .smoothing = p.smoothing,
                                         .gamma = p.gamma,
                                         .delta = p.delta,
                                         .scale = p.scale,
                                         .z = buffer.view(),
                                         .targets = p.targets(),
                                         .loss = loss.data(),
                                         .dz = buffer.view()},
                                        context);
    EXPECT_TRUE(identical(buffer, quarter.dz));
    EXPECT_TRUE(identical(loss, quarter.loss));
  }
}

TYPED_TEST(LossOrder, WeightsMultiplyScaleAndLoss) {
  using T = TypeParam;
  for (const Case& c : kCases) {
    if (c.kind == Loss::focal) continue;  // it multiplies the scale once more
    Problem<T> weighted = c.problem<T>(5);
    weighted.scale = T(0.3);
    weighted.weights = {T(1), T(0), T(2.7), T(0.1), T(13)};
    const auto all = weighted.run();
    EXPECT_TRUE(identical(weighted.run(false).loss, all.loss));
    for (std::int64_t s = 0; s < 5; ++s) {
      const T weight = weighted.weights[std::size_t(s)];
      Problem<T> plain = c.problem<T>(5);
      plain.scale = weighted.scale * weight;
      const auto one = plain.run();
      EXPECT_EQ(all.loss[std::size_t(s)], weight * one.loss[std::size_t(s)]);
      for (std::int64_t k = 0; k < c.outputs; ++k) EXPECT_EQ(all.dz(k, s), one.dz(k, s));
    }
  }
}

TYPED_TEST(LossOrder, SumsAreChainsOverOutputs) {
  using T = TypeParam;
  const Problem<T> softmax(Loss::cross_entropy, 10, 7, true), squared(Loss::squared_error, 10, 7, false);
  const Problem<T> binary(Loss::binary_cross_entropy, 10, 7, false);
  const auto softmax_loss = softmax.run().loss, squared_loss = squared.run().loss, binary_loss = binary.run().loss;
  for (std::int64_t s = 0; s < 7; ++s) {
    T largest = softmax.z(0, s), exps = T(0), squares = T(0), entropies = T(0);
    for (std::int64_t k = 1; k < 10; ++k) largest = std::max(largest, softmax.z(k, s));
    for (std::int64_t k = 0; k < 10; ++k) {
      exps += math::exp(softmax.z(k, s) - largest);
      const T d = squared.z(k, s) - squared.values(k, s);
      squares = std::fma(T(0.5) * d, d, squares);
      const T z = binary.z(k, s);
      entropies += std::fma(-z, binary.values(k, s), std::max(z, T(0))) + math::log1p(math::exp(-std::abs(z)));
    }
    const auto i = std::size_t(s);
    EXPECT_EQ(softmax_loss[i], math::log(exps) - (softmax.z(softmax.labels[i], s) - largest));
    EXPECT_EQ(squared_loss[i], squares);
    EXPECT_EQ(binary_loss[i], entropies);
  }
}

}  // namespace
}  // namespace lockstep::test
