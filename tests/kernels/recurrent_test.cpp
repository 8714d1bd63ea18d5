// The naive cells against their formulas in plain arithmetic, their gradients against central differences, and the
// order of packed steps.
#include "lockstep/kernels/recurrent.hpp"

#include <cmath>

#include "tests/kernels/support.hpp"

namespace lockstep::test {
namespace {

constexpr std::int64_t kHidden = 3, kSamples = 5;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class Recurrent : public ::testing::Test {
 protected:
  const KernelTable<double> kernels_ = make_naive_table<double>();
  KernelContext context_;
};

TEST_F(Recurrent, LstmFollowsItsFormulas) {
  const TestMatrix<double> zi(4 * kHidden, kSamples, 1), zh(4 * kHidden, kSamples, 2), before(kHidden, kSamples, 3);
  for (const bool first : {false, true}) {
    TestMatrix<double> gates(4 * kHidden, kSamples), c(kHidden, kSamples), h(kHidden, kSamples);
    kernels_.lstm_forward({.zi = zi.view(),
                           .zh = zh.view(),
                           .c_before = first ? ConstMatrix<double>{} : before.view(),
                           .gates = gates.view(),
                           .c = c.view(),
                           .h = h.view()},
                          context_);
    for (std::int64_t r = 0; r < kHidden; ++r)
      for (std::int64_t s = 0; s < kSamples; ++s) {
        const auto z = [&](std::int64_t gate) { return zi(gate * kHidden + r, s) + zh(gate * kHidden + r, s); };
        const double i = sigmoid(z(0)), f = sigmoid(z(1)), g = std::tanh(z(2)), o = sigmoid(z(3));
        const double state = f * (first ? 0 : before(r, s)) + i * g;
        EXPECT_NEAR(c(r, s), state, 1e-15);
        EXPECT_NEAR(h(r, s), o * std::tanh(state), 1e-15);
        EXPECT_NEAR(gates(3 * kHidden + r, s), o, 1e-15);
      }
  }
}

TEST_F(Recurrent, GruFollowsItsFormulas) {
  const TestMatrix<double> zi(3 * kHidden, kSamples, 1), zh(3 * kHidden, kSamples, 2), before(kHidden, kSamples, 3);
  for (const bool first : {false, true}) {
    TestMatrix<double> gates(3 * kHidden, kSamples), h(kHidden, kSamples);
    kernels_.gru_forward({.zi = zi.view(),
                          .zh = zh.view(),
                          .h_before = first ? ConstMatrix<double>{} : before.view(),
                          .gates = gates.view(),
                          .h = h.view()},
                         context_);
    for (std::int64_t row = 0; row < kHidden; ++row)
      for (std::int64_t s = 0; s < kSamples; ++s) {
        const double r = sigmoid(zi(row, s) + zh(row, s)), z = sigmoid(zi(kHidden + row, s) + zh(kHidden + row, s));
        const double n = std::tanh(zi(2 * kHidden + row, s) + r * zh(2 * kHidden + row, s));
        EXPECT_NEAR(h(row, s), (1 - z) * n + z * (first ? 0 : before(row, s)), 1e-15);
      }
  }
}

// The gradients of whole layers stand in tests/nn/sequence_test.cpp; here those of one step by every input of the step.
TEST_F(Recurrent, LstmGradients) {
  TestMatrix<double> zi(4 * kHidden, kSamples, 1), zh(4 * kHidden, kSamples, 2), before(kHidden, kSamples, 3);
  const TestMatrix<double> dh(kHidden, kSamples, 4), after(kHidden, kSamples, 5);
  TestMatrix<double> gates(4 * kHidden, kSamples), c(kHidden, kSamples), h(kHidden, kSamples);
  const auto objective = [&] {
    kernels_.lstm_forward({.zi = zi.view(),
                           .zh = zh.view(),
                           .c_before = before.view(),
                           .gates = gates.view(),
                           .c = c.view(),
                           .h = h.view()},
                          context_);
    double sum = 0;
    for (std::int64_t r = 0; r < kHidden; ++r)
      for (std::int64_t s = 0; s < kSamples; ++s) sum += dh(r, s) * h(r, s) + after(r, s) * c(r, s);
    return sum;
  };
  objective();
  TestMatrix<double> dz(4 * kHidden, kSamples), dc(kHidden, kSamples);
  kernels_.lstm_backward({.gates = gates.view(),
                          .c = c.view(),
                          .c_before = before.view(),
                          .dh = dh.view(),
                          .dc_after = after.view(),
                          .dz = dz.view(),
                          .dc_before = dc.view()},
                         context_);
  for (std::int64_t s = 0; s < kSamples; ++s) {
    for (std::int64_t r = 0; r < 4 * kHidden; ++r)
      EXPECT_NEAR(difference_quotient(zh(r, s), objective, 0x1p-18), dz(r, s), 1e-9);
    for (std::int64_t r = 0; r < kHidden; ++r)
      EXPECT_NEAR(difference_quotient(before(r, s), objective, 0x1p-18), dc(r, s), 1e-9);
  }
}

TEST_F(Recurrent, PackedStepsStandSlotByStepBySample) {
  const Cut cut{2, 0, 3};
  constexpr std::int64_t kSteps = 2, kStride = 6;
  TestMatrix<double> from(1, kSteps * kStride);
  for (std::int64_t c = 0; c < kSteps * kStride; ++c) {
    const std::int64_t step = c / kStride;
    from(0, c) = double(10 * step + c % kStride);
  }
  const auto packed = [&](std::int64_t shift) {
    TestMatrix<double> to(1, kSteps * cut.samples());
    kernels_.pack_steps({.from = from.view(),
                         .steps = kSteps,
                         .step_stride = kStride,
                         .shift = shift,
                         .slots = cut.slots(),
                         .to = to.view()},
                        context_);
    return elements(to);
  };
  EXPECT_EQ(packed(0), (std::vector<double>{0, 1, 10, 11, 2, 3, 4, 12, 13, 14}));
  EXPECT_EQ(packed(-1), (std::vector<double>{0, 0, 0, 1, 0, 0, 0, 2, 3, 4}));
  EXPECT_EQ(packed(1), (std::vector<double>{10, 11, 0, 0, 12, 13, 14, 0, 0, 0}));
}

}  // namespace
}  // namespace lockstep::test
