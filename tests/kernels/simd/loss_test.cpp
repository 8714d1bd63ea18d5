// Losses against naive, bit by bit: labels and values, one output and many, with and without the gradient, in place.
#include "lockstep/kernels/loss.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

template <class T>
class SimdLoss : public ::testing::Test {
 protected:
  /// Loss, dz, and dz written over z; with weights and without.
  static std::vector<T> run(const KernelTable<T>& table, Loss kind, const LossTargets<T>& targets, std::int64_t outputs,
                            std::int64_t samples, const Layout& layout) {
    std::vector<T> all = run(table, kind, targets, nullptr, outputs, samples, layout), weights;
    for (std::int64_t s = 0; s < samples; ++s) weights.push_back(T(s * 11 % 7) / T(3));
    collect(all, run(table, kind, targets, weights.data(), outputs, samples, layout));
    return all;
  }

  static std::vector<T> run(const KernelTable<T>& table, Loss kind, const LossTargets<T>& targets, const T* weights,
                            std::int64_t outputs, std::int64_t samples, const Layout& layout) {
    KernelContext context;
    OddMatrix<T> z(outputs, samples, layout.stride, layout.shift, 1), dz(outputs, samples, layout.stride, layout.shift);
    for (std::int64_t k = 0; k < outputs; ++k)
      for (std::int64_t s = 0; s < samples; ++s)
        z.set(k, s, s % 7 == 6 && k == 0 ? T(s % 2) * -T(0) : z.view()(k, s) * T(1 + s * s % 120));
    auto loss = nan_vector<T>(samples + 3), only_loss = loss;
    LossGradient<T> args = {.kind = kind,
                            .smoothing = weights != nullptr ? T(0.1) : T(0),
                            .gamma = weights != nullptr ? 4 : 1,
                            .delta = T(0.8),
                            .scale = T(0.3),
                            .z = z.view(),
                            .targets = targets,
                            .weights = weights,
                            .loss = only_loss.data()};
    table.loss_gradient(args, context);
    args.loss = loss.data();
    args.dz = dz.view();
    table.loss_gradient(args, context);
    args.dz = z.view();
    table.loss_gradient(args, context);
    std::vector<T> all = loss;
    collect(all, only_loss);
    collect(all, dz);
    collect(all, z);
    return all;
  }

  static std::vector<std::int32_t> labels(std::int64_t outputs, std::int64_t samples) {
    std::vector<std::int32_t> result;
    for (std::int64_t s = 0; s < samples; ++s)
      result.push_back(std::int32_t(s * 7 % std::max<std::int64_t>(outputs, 2)));
    return result;
  }
};
TYPED_TEST_SUITE(SimdLoss, Scalars);

TYPED_TEST(SimdLoss, Labels) {
  using T = TypeParam;
  for (const Loss kind :
       {Loss::cross_entropy, Loss::binary_cross_entropy, Loss::squared_error, Loss::focal, Loss::huber})
    for (const std::int64_t outputs : {1, 2, 10, 33})
      for (const std::int64_t samples : kAwkwardSamples)
        for (const Layout& layout : layouts(samples)) {
          if (is_of_softmax(kind) && outputs == 1) continue;  // its only label would be 0
          SCOPED_TRACE(::testing::Message()
                       << "loss " << int(kind) << " " << outputs << " x " << samples << " stride " << layout.stride);
          const auto labels = this->labels(outputs, samples);
          expect_like_naive<T>([&](const KernelTable<T>& table) {
            return this->run(table, kind, {.labels = labels.data(), .values = {}}, outputs, samples, layout);
          });
        }
}

/// At infinities, NaN and numbers whose exponential is none, one by one.
TYPED_TEST(SimdLoss, SpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T values[] = {T(0),
                      -T(0),
                      Limits::infinity(),
                      -Limits::infinity(),
                      kNan<T>,
                      Limits::max(),
                      Limits::lowest(),
                      Limits::denorm_min(),
                      T(720),
                      T(-720),
                      T(100),
                      T(-100)};
  const auto samples = std::int64_t(std::size(values));
  const auto labels = this->labels(2, samples);
  for (const Loss kind : {Loss::binary_cross_entropy, Loss::squared_error, Loss::huber})
    expect_like_naive<T>([&](const KernelTable<T>& table) {
      KernelContext context;
      OddMatrix<T> z(2, samples, samples, 0, 1), dz(2, samples, samples, 0);
      for (std::int64_t s = 0; s < samples; ++s) z.set(s % 2, s, values[s]);
      auto all = nan_vector<T>(samples);
      table.loss_gradient({.kind = kind,
                           .scale = T(0.3),
                           .z = z.view(),
                           .targets = {.labels = labels.data(), .values = {}},
                           .loss = all.data(),
                           .dz = dz.view()},
                          context);
      collect(all, dz);
      return all;
    });
}

TYPED_TEST(SimdLoss, Values) {
  using T = TypeParam;
  for (const Loss kind : {Loss::cross_entropy, Loss::binary_cross_entropy, Loss::squared_error, Loss::huber})
    for (const std::int64_t outputs : {1, 3, 10})
      for (const std::int64_t samples : kAwkwardSamples)
        for (const Layout& layout : layouts(samples)) {
          SCOPED_TRACE(::testing::Message()
                       << "loss " << int(kind) << " " << outputs << " x " << samples << " stride " << layout.stride);
          OddMatrix<T> values(outputs, samples, samples, 0, 2);
          expect_like_naive<T>([&](const KernelTable<T>& table) {
            return this->run(table, kind, {.values = values.view()}, outputs, samples, layout);
          });
        }
}

}  // namespace
}  // namespace lockstep::test
