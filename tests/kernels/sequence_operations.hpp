#pragma once
// What EveryOperation (every_operation.hpp) needs for every operation, and the operations over sequences.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/kernels/table.hpp"
#include "tests/kernels/attention_shapes.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {

template <class T>
class SequenceOperations {
 public:
  struct Output {
    std::string operation;
    std::vector<T> values;
  };

  const std::vector<Output>& outputs() const { return outputs_; }

 protected:
  SequenceOperations(const KernelTable<T>& kernels, std::uint64_t stream) : kernels_(kernels), stream_(stream) {}

  static constexpr std::int64_t kSamples = 21;

  TestMatrix<T> input(std::int64_t rows, std::int64_t cols = kSamples) { return {rows, cols, ++stream_}; }
  std::vector<T> input_vector(std::int64_t count, double low = -1, double high = 1) {
    return random_vector<T>(count, ++stream_, low, high);
  }
  void keep(const char* operation, const TestMatrix<T>& values) { outputs_.push_back({operation, elements(values)}); }
  void keep(const char* operation, const std::vector<T>& values) { outputs_.push_back({operation, values}); }

  static constexpr std::int64_t kHidden = 7;

  /// The first step, which has no state before it, and another one.
  void lstm_forward() {
    for (const bool first : {true, false}) {
      const auto zi = input(4 * kHidden), zh = input(4 * kHidden), before = input(kHidden);
      TestMatrix<T> gates(4 * kHidden, kSamples), c(kHidden, kSamples), h(kHidden, kSamples);
      LstmForward<T> step = {
          .zi = zi.view(), .zh = zh.view(), .c_before = {}, .gates = gates.view(), .c = c.view(), .h = h.view()};
      if (!first) step.c_before = before.view();
      kernels_.lstm_forward(step, context_);
      for (const auto* values : {&gates, &c, &h}) keep("lstm_forward", *values);
    }
  }

  void lstm_backward() {
    for (const bool first : {true, false})
      for (const bool last : {true, false}) {
        const auto gates = input(4 * kHidden), c = input(kHidden), before = input(kHidden), dh = input(kHidden),
                   after = input(kHidden);
        TestMatrix<T> dz(4 * kHidden, kSamples), dc(kHidden, kSamples);
        LstmBackward<T> step = {.gates = gates.view(),
                                .c = c.view(),
                                .c_before = {},
                                .dh = dh.view(),
                                .dc_after = {},
                                .dz = dz.view(),
                                .dc_before = dc.view()};
        if (!first) step.c_before = before.view();
        if (!last) step.dc_after = after.view();
        kernels_.lstm_backward(step, context_);
        for (const auto* values : {&dz, &dc}) keep("lstm_backward", *values);
      }
  }

  void gru_forward() {
    for (const bool first : {true, false}) {
      const auto zi = input(3 * kHidden), zh = input(3 * kHidden), before = input(kHidden);
      TestMatrix<T> gates(3 * kHidden, kSamples), h(kHidden, kSamples);
      GruForward<T> step = {.zi = zi.view(), .zh = zh.view(), .h_before = {}, .gates = gates.view(), .h = h.view()};
      if (!first) step.h_before = before.view();
      kernels_.gru_forward(step, context_);
      for (const auto* values : {&gates, &h}) keep("gru_forward", *values);
    }
  }

  void gru_backward() {
    for (const bool first : {true, false}) {
      const auto gates = input(3 * kHidden), zh = input(3 * kHidden), before = input(kHidden), dh = input(kHidden);
      TestMatrix<T> dzi(3 * kHidden, kSamples), dzh(3 * kHidden, kSamples), direct(kHidden, kSamples);
      GruBackward<T> step = {.gates = gates.view(),
                             .zh = zh.view(),
                             .h_before = {},
                             .dh = dh.view(),
                             .dzi = dzi.view(),
                             .dzh = dzh.view(),
                             .dh_before = direct.view()};
      if (!first) step.h_before = before.view();
      kernels_.gru_backward(step, context_);
      for (const auto* values : {&dzi, &dzh, &direct}) keep("gru_backward", *values);
    }
  }

  void pack_steps() {
    constexpr std::int64_t kSteps = 5, kStride = kSamples + 3;
    for (const std::int64_t shift : {-1, 0, 1}) {
      const auto from = input(6, kSteps * kStride);
      TestMatrix<T> to(6, kSteps * kSamples);
      kernels_.pack_steps({.from = from.view(),
                           .steps = kSteps,
                           .step_stride = kStride,
                           .shift = shift,
                           .slots = cut_.slots(),
                           .to = to.view()},
                          context_);
      keep("pack_steps", to);
    }
  }

  void end_steps() {
    std::array<std::int64_t, kSamples> lengths{};
    for (std::size_t s = 0; s < lengths.size(); ++s) lengths[s] = std::int64_t(1 + s % 4);
    for (const bool zeros : {true, false}) {
      const auto ended = input(6);
      auto y = input(6);
      EndSteps<T> step = {.step = 2, .lengths = lengths.data(), .ended = {}, .y = y.view()};
      if (!zeros) step.ended = ended.view();
      kernels_.end_steps(step, context_);
      keep("end_steps", y);
    }
  }

  void one_hot() {
    TestMatrix<T> x(1, kSamples), y(7, kSamples);
    for (std::int64_t s = 0; s < kSamples; ++s) x(0, s) = T((s + stream_) % 7);
    kernels_.one_hot({.x = x.view(), .y = y.view()}, context_);
    keep("one_hot", y);
  }

  void attention_forward() {
    for_attentions(kSamples, [&](const AttentionShape& shape, const std::int64_t* lengths) {
      const auto qkv = input(3 * shape.width() * shape.steps);
      for (const bool kept : {true, false}) {
        TestMatrix<T> y(shape.width() * shape.steps, kSamples),
            p = no_pairs<T>(shape, kept ? shape.heads : 1, kSamples);
        kernels_.attention_forward(
            {.shape = shape, .scale = T(0.25), .qkv = qkv.view(), .y = y.view(), .p = p.view(), .lengths = lengths},
            context_);
        for (const auto* each : {&y, kept ? &p : &y}) keep("attention_forward", *each);
      }
    });
  }

  void attention_backward() {
    for_attentions(kSamples, [&](const AttentionShape& shape, const std::int64_t*) {
      const auto qkv = input(3 * shape.width() * shape.steps), dy = input(shape.width() * shape.steps);
      const auto p = input(2 * shape.steps * shape.steps);
      TestMatrix<T> dqkv(3 * shape.width() * shape.steps, kSamples), ds = no_pairs<T>(shape, shape.heads, kSamples);
      kernels_.attention_backward({shape, T(0.25), qkv.view(), p.view(), dy.view(), dqkv.view(), ds.view()}, context_);
      keep("attention_backward", dqkv);
    });
  }

  const KernelTable<T>& kernels_;
  std::uint64_t stream_;
  KernelContext context_;
  const Cut cut_{3, 0, 17, 1};
  std::vector<Output> outputs_;
};

}  // namespace lockstep::test
