// Recurrent cells against naive, bit by bit: with and without a state before and a gradient after, in place and not,
// and as steps of a sequence, whose rows lie far apart.
#include "lockstep/kernels/recurrent.hpp"

#include "tests/kernels/simd/tables.hpp"

namespace lockstep::test {
namespace {

template <class T>
class SimdRecurrent : public ::testing::Test {
 protected:
  /// run(table, matrix, with state): matrix(rows) and matrix(rows, stream) make outputs and inputs.
  template <class Run>
  void compare(const Run& run) {
    for (const std::int64_t samples : kAwkwardSamples)
      for (const Layout& layout : layouts(samples))
        for (const bool state : {false, true}) {
          SCOPED_TRACE(::testing::Message() << samples << " samples, stride " << layout.stride << ", state " << state);
          expect_like_naive<T>([&](const KernelTable<T>& table) { return run(table, samples, layout, state); });
        }
  }
  static constexpr std::int64_t kHidden = 3;
};
TYPED_TEST_SUITE(SimdRecurrent, Scalars);

TYPED_TEST(SimdRecurrent, LstmForward) {
  using T = TypeParam;
  this->compare([&](const KernelTable<T>& table, std::int64_t samples, const Layout& l, bool state) {
    const std::int64_t hidden = this->kHidden;
    KernelContext context;
    OddMatrix<T> zi(4 * hidden, samples, l.stride, l.shift, 1), zh(4 * hidden, samples, samples + 1, 2, 2),
        before(hidden, samples, l.stride, l.shift, 3), gates(4 * hidden, samples, l.stride, l.shift),
        c(hidden, samples, l.stride, l.shift), h(hidden, samples, 3 * l.stride, l.shift);
    LstmForward<T> args = {
        .zi = zi.view(), .zh = zh.view(), .c_before = {}, .gates = gates.view(), .c = c.view(), .h = h.view()};
    if (state) args.c_before = before.view();
    table.lstm_forward(args, context);
    std::vector<T> all;
    for (OddMatrix<T>* output : {&gates, &c, &h}) collect(all, *output);
    args.gates = zi.view();
    table.lstm_forward(args, context);
    collect(all, zi);
    return all;
  });
}

TYPED_TEST(SimdRecurrent, LstmBackward) {
  using T = TypeParam;
  for (const bool last : {false, true})
    this->compare([&](const KernelTable<T>& table, std::int64_t samples, const Layout& l, bool state) {
      const std::int64_t hidden = this->kHidden;
      KernelContext context;
      OddMatrix<T> gates(4 * hidden, samples, l.stride, l.shift, 1), c(hidden, samples, samples + 1, 2, 2),
          before(hidden, samples, l.stride, l.shift, 3), dh(hidden, samples, l.stride, l.shift, 4),
          after(hidden, samples, l.stride, l.shift, 5), dz(4 * hidden, samples, l.stride, l.shift),
          dc(hidden, samples, 3 * l.stride, l.shift);
      LstmBackward<T> args = {.gates = gates.view(),
                              .c = c.view(),
                              .c_before = {},
                              .dh = dh.view(),
                              .dc_after = {},
                              .dz = dz.view(),
                              .dc_before = dc.view()};
      if (state) args.c_before = before.view();
      if (!last) args.dc_after = after.view();
      table.lstm_backward(args, context);
      std::vector<T> all;
      for (OddMatrix<T>* output : {&dz, &dc}) collect(all, *output);
      args.dz = gates.view();
      args.dc_before = after.view();
      table.lstm_backward(args, context);
      for (OddMatrix<T>* output : {&gates, &after}) collect(all, *output);
      return all;
    });
}

TYPED_TEST(SimdRecurrent, GruForward) {
  using T = TypeParam;
  this->compare([&](const KernelTable<T>& table, std::int64_t samples, const Layout& l, bool state) {
    const std::int64_t hidden = this->kHidden;
    KernelContext context;
    OddMatrix<T> zi(3 * hidden, samples, l.stride, l.shift, 1), zh(3 * hidden, samples, samples + 1, 2, 2),
        before(hidden, samples, l.stride, l.shift, 3), gates(3 * hidden, samples, l.stride, l.shift),
        h(hidden, samples, 3 * l.stride, l.shift);
    GruForward<T> args = {.zi = zi.view(), .zh = zh.view(), .h_before = {}, .gates = gates.view(), .h = h.view()};
    if (state) args.h_before = before.view();
    table.gru_forward(args, context);
    std::vector<T> all;
    for (OddMatrix<T>* output : {&gates, &h}) collect(all, *output);
    args.gates = zi.view();
    table.gru_forward(args, context);
    collect(all, zi);
    return all;
  });
}

TYPED_TEST(SimdRecurrent, GruBackward) {
  using T = TypeParam;
  this->compare([&](const KernelTable<T>& table, std::int64_t samples, const Layout& l, bool state) {
    const std::int64_t hidden = this->kHidden;
    KernelContext context;
    OddMatrix<T> gates(3 * hidden, samples, l.stride, l.shift, 1), zh(3 * hidden, samples, samples + 1, 2, 2),
        before(hidden, samples, l.stride, l.shift, 3), dh(hidden, samples, l.stride, l.shift, 4),
        dzi(3 * hidden, samples, l.stride, l.shift), dzh(3 * hidden, samples, l.stride, l.shift),
        direct(hidden, samples, 3 * l.stride, l.shift);
    GruBackward<T> args = {.gates = gates.view(),
                           .zh = zh.view(),
                           .h_before = {},
                           .dh = dh.view(),
                           .dzi = dzi.view(),
                           .dzh = dzh.view(),
                           .dh_before = direct.view()};
    if (state) args.h_before = before.view();
    table.gru_backward(args, context);
    std::vector<T> all;
    for (OddMatrix<T>* output : {&dzi, &dzh, &direct}) collect(all, *output);
    args.dzi = gates.view();
    args.dzh = zh.view();
    args.dh_before = dh.view();
    table.gru_backward(args, context);
    for (OddMatrix<T>* output : {&gates, &zh, &dh}) collect(all, *output);
    return all;
  });
}

TYPED_TEST(SimdRecurrent, PackSteps) {
  using T = TypeParam;
  constexpr std::int64_t kSteps = 3;
  for (const auto& sizes : kCuts)
    for (const std::int64_t shift : {-1, 0, 1}) {
      const Cut cut(sizes);
      SCOPED_TRACE(::testing::Message() << cut.samples() << " samples in " << sizes.size() << " slots, shift "
                                        << shift);
      expect_like_naive<T>([&](const KernelTable<T>& table) {
        KernelContext context;
        const std::int64_t stride = cut.samples() + 2;
        OddMatrix<T> from(4, kSteps * stride, kSteps * stride, 1, 1),
            to(4, kSteps * cut.samples(), kSteps * cut.samples() + 1, 2);
        table.pack_steps({.from = from.view(),
                          .steps = kSteps,
                          .step_stride = stride,
                          .shift = shift,
                          .slots = cut.slots(),
                          .to = to.view()},
                         context);
        std::vector<T> all;
        collect(all, to);
        return all;
      });
    }
}

TYPED_TEST(SimdRecurrent, EndSteps) {
  using T = TypeParam;
  this->compare([&](const KernelTable<T>& table, std::int64_t samples, const Layout& l, bool state) {
    KernelContext context;
    OddMatrix<T> ended(5, samples, l.stride, l.shift, 1), y(5, samples, 2 * l.stride, l.shift, 2);
    std::vector<std::int64_t> lengths;
    for (std::int64_t s = 0; s < samples + 1; ++s) lengths.push_back(1 + s * s % 5);
    EndSteps<T> args = {.step = 2, .lengths = lengths.data(), .ended = {}, .y = y.view()};
    if (state) args.ended = ended.view();
    table.end_steps(args, context);
    std::vector<T> all;
    collect(all, y);
    return all;
  });
}

}  // namespace
}  // namespace lockstep::test
