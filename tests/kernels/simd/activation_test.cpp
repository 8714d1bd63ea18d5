// Activations against naive, bit by bit, from tiny to saturated and at the special values.
#include "lockstep/kernels/activation.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

constexpr ActivationKind kKinds[] = {ActivationKind::relu,     ActivationKind::leaky_relu, ActivationKind::tanh,
                                     ActivationKind::abs_tanh, ActivationKind::sigmoid,    ActivationKind::gelu};
constexpr std::int64_t kRows = 13;

template <class T>
class SimdActivation : public ::testing::Test {
 protected:
  /// Random numbers of all magnitudes, with zeros, infinities, NaN and subnormals in between.
  static OddMatrix<T> input(std::int64_t samples, const Layout& layout) {
    using Limits = std::numeric_limits<T>;
    const T special[] = {
        T(0), -T(0), Limits::infinity(), -Limits::infinity(), kNan<T>, Limits::denorm_min(), -Limits::min() / 2};
    OddMatrix<T> x(kRows, samples, layout.stride, layout.shift, 1);
    for (std::int64_t r = 0; r < kRows; ++r)
      for (std::int64_t s = 0; s < samples; ++s) {
        T& value = x.view()(r, s);
        value = (r + s) % 5 == 4 ? special[(r * 3 + s) % 7] : std::ldexp(value, int((r * 7 + s) % 14) - 6);
      }
    return x;
  }
};
TYPED_TEST_SUITE(SimdActivation, Scalars);

TYPED_TEST(SimdActivation, Forward) {
  using T = TypeParam;
  for (const ActivationKind kind : kKinds)
    for (const std::int64_t samples : kAwkwardSamples)
      for (const Layout& layout : layouts(samples)) {
        SCOPED_TRACE(::testing::Message()
                     << "kind " << int(kind) << " samples " << samples << " stride " << layout.stride);
        expect_like_naive<T>([&](const KernelTable<T>& table) {
          KernelContext context;
          auto x = this->input(samples, layout), in_place = this->input(samples, layout);
          OddMatrix<T> y(kRows, samples, layout.stride, layout.shift);
          table.activation_forward({.kind = kind, .slope = T(0.7), .x = x.view(), .y = y.view()}, context);
          table.activation_forward({.kind = kind, .slope = T(0.7), .x = in_place.view(), .y = in_place.view()},
                                   context);
          std::vector<T> all;
          collect(all, y);
          collect(all, in_place);
          return all;
        });
      }
}

TYPED_TEST(SimdActivation, Backward) {
  using T = TypeParam;
  for (const ActivationKind kind : kKinds)
    for (const std::int64_t samples : kAwkwardSamples)
      for (const Layout& layout : layouts(samples)) {
        SCOPED_TRACE(::testing::Message()
                     << "kind " << int(kind) << " samples " << samples << " stride " << layout.stride);
        auto x = this->input(samples, layout);
        OddMatrix<T> y(kRows, samples, samples, 0);
        KernelContext naive_context;
        make_naive_table<T>().activation_forward({.kind = kind, .slope = T(0.7), .x = x.view(), .y = y.view()},
                                                 naive_context);
        expect_like_naive<T>([&](const KernelTable<T>& table) {
          KernelContext context;
          OddMatrix<T> dy(kRows, samples, layout.stride, layout.shift, 2),
              dx(kRows, samples, layout.stride, layout.shift);
          dy.set(0, 0, -T(0));
          ActivationBackward<T> args = {
              .kind = kind, .slope = T(0.7), .x = x.view(), .y = y.view(), .dy = dy.view(), .dx = dx.view()};
          table.activation_backward(args, context);
          args.dx = dy.view();
          table.activation_backward(args, context);
          std::vector<T> all;
          collect(all, dx);
          collect(all, dy);
          return all;
        });
      }
}

TYPED_TEST(SimdActivation, PlacesOnTheCurve) {
  // One dense row, as long as possible: every polynomial at thousands of points.
  using T = TypeParam;
  constexpr std::int64_t kPoints = 20011;
  const auto x = random_vector<T>(kPoints, 3, -12, 12);
  for (const ActivationKind kind : kKinds)
    expect_like_naive<T>([&](const KernelTable<T>& table) {
      KernelContext context;
      auto y = nan_vector<T>(kPoints);
      table.activation_forward({.kind = kind,
                                .slope = T(1.25),
                                .x = dense_matrix(x.data(), kPoints, 1),
                                .y = dense_matrix(y.data(), kPoints, 1)},
                               context);
      return y;
    });
}

}  // namespace
}  // namespace lockstep::test
