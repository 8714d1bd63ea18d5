#pragma once
// Runs every kernel of a table on the same random problems and keeps the outputs, so that two tables can be compared.
// One function per operation of the list.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/kernels/table.hpp"
#include "tests/kernels/attention_shapes.hpp"
#include "tests/kernels/support.hpp"

namespace lockstep::test {

template <class T>
class EveryOperation {
 public:
  struct Output {
    std::string operation;
    std::vector<T> values;
  };

  EveryOperation(const KernelTable<T>& kernels, std::uint64_t stream) : kernels_(kernels), stream_(stream) {
#define LOCKSTEP_RUN(operation, Args) operation();
    LOCKSTEP_OPERATIONS(LOCKSTEP_RUN)
#undef LOCKSTEP_RUN
  }

  const std::vector<Output>& outputs() const { return outputs_; }

 private:
  static constexpr std::int64_t kSamples = 21;

  TestMatrix<T> input(std::int64_t rows, std::int64_t cols = kSamples) { return {rows, cols, ++stream_}; }
  std::vector<T> input_vector(std::int64_t count, double low = -1, double high = 1) {
    return random_vector<T>(count, ++stream_, low, high);
  }
  void keep(const char* operation, const TestMatrix<T>& values) { outputs_.push_back({operation, elements(values)}); }
  void keep(const char* operation, const std::vector<T>& values) { outputs_.push_back({operation, values}); }

  void linear_forward() {
    const auto x = input(13), w = input(7, 13);
    const auto b = input_vector(7);
    TestMatrix<T> y(7, kSamples);
    kernels_.linear_forward({.x = x.view(), .w = w.view(), .b = b.data(), .y = y.view()}, context_);
    keep("linear_forward", y);
  }

  void linear_backward_data() {
    const auto dy = input(7), w = input(7, 13);
    TestMatrix<T> dx(13, kSamples);
    kernels_.linear_backward_data({.w = w.view(), .dy = dy.view(), .dx = dx.view()}, context_);
    keep("linear_backward_data", dx);
  }

  void linear_backward_weights() {
    const auto x = input(13), dy = input(7);
    TestMatrix<T> dw(7, 13);
    auto db = nan_vector<T>(7);
    kernels_.linear_backward_weights(
        {.x = x.view(), .dy = dy.view(), .slots = cut_.slots(), .dw = dw.view(), .db = db.data()}, context_);
    keep("linear_backward_weights", dw);
    keep("linear_backward_weights: bias", db);
  }

  static constexpr Conv2dGeometry kConv{.in_channels = 4,
                                        .in_height = 7,
                                        .in_width = 6,
                                        .out_channels = 6,
                                        .kernel_h = 3,
                                        .kernel_w = 2,
                                        .stride_h = 2,
                                        .stride_w = 1,
                                        .pad_h = 1,
                                        .pad_w = 2,
                                        .dilation_h = 1,
                                        .dilation_w = 2,
                                        .groups = 2};
  static constexpr std::int64_t kConvIn = 4 * 7 * 6, kConvOut = 6 * kConv.out_height() * kConv.out_width();
  static constexpr std::int64_t kConvWeights = 6 * 2 * 3 * 2;

  void conv2d_forward() {
    const auto x = input(kConvIn);
    const auto w = input_vector(kConvWeights), b = input_vector(6);
    TestMatrix<T> y(kConvOut, kSamples);
    kernels_.conv2d_forward({.geometry = kConv, .x = x.view(), .w = w.data(), .b = b.data(), .y = y.view()}, context_);
    keep("conv2d_forward", y);
  }

  void conv2d_backward_data() {
    const auto dy = input(kConvOut);
    const auto w = input_vector(kConvWeights);
    TestMatrix<T> dx(kConvIn, kSamples);
    kernels_.conv2d_backward_data({.geometry = kConv, .w = w.data(), .dy = dy.view(), .dx = dx.view()}, context_);
    keep("conv2d_backward_data", dx);
  }

  void conv2d_backward_weights() {
    const auto x = input(kConvIn), dy = input(kConvOut);
    auto dw = nan_vector<T>(kConvWeights), db = nan_vector<T>(6);
    kernels_.conv2d_backward_weights(
        {.geometry = kConv, .x = x.view(), .dy = dy.view(), .slots = cut_.slots(), .dw = dw.data(), .db = db.data()},
        context_);
    keep("conv2d_backward_weights", dw);
    keep("conv2d_backward_weights: bias", db);
  }

  static constexpr Pool2dGeometry kPool{.channels = 3,
                                        .in_height = 7,
                                        .in_width = 5,
                                        .window_h = 3,
                                        .window_w = 2,
                                        .stride_h = 2,
                                        .stride_w = 1,
                                        .pad_h = 1,
                                        .pad_w = 1};
  static constexpr std::int64_t kPoolIn = 3 * 7 * 5, kPoolOut = 3 * kPool.out_height() * kPool.out_width();

  void max_pool2d_forward() {
    const auto x = input(kPoolIn);
    TestMatrix<T> y(kPoolOut, kSamples);
    kernels_.max_pool2d_forward({.geometry = kPool, .x = x.view(), .y = y.view()}, context_);
    keep("max_pool2d_forward", y);
  }

  void max_pool2d_backward() {
    const auto x = input(kPoolIn), dy = input(kPoolOut);
    TestMatrix<T> y(kPoolOut, kSamples), dx(kPoolIn, kSamples);
    kernels_.max_pool2d_forward({.geometry = kPool, .x = x.view(), .y = y.view()}, context_);
    kernels_.max_pool2d_backward({.geometry = kPool, .x = x.view(), .y = y.view(), .dy = dy.view(), .dx = dx.view()},
                                 context_);
    keep("max_pool2d_backward", dx);
  }

  void avg_pool2d_forward() {
    const auto x = input(kPoolIn);
    TestMatrix<T> y(kPoolOut, kSamples);
    kernels_.avg_pool2d_forward({.geometry = kPool, .x = x.view(), .y = y.view()}, context_);
    keep("avg_pool2d_forward", y);
  }

  void avg_pool2d_backward() {
    const auto dy = input(kPoolOut);
    TestMatrix<T> dx(kPoolIn, kSamples);
    kernels_.avg_pool2d_backward({.geometry = kPool, .dy = dy.view(), .dx = dx.view()}, context_);
    keep("avg_pool2d_backward", dx);
  }

  /// From tiny to saturated, with the special values.
  TestMatrix<T> activation_input() {
    auto x = input(40);
    for (std::int64_t r = 0; r < 40; ++r)
      for (std::int64_t s = 0; s < kSamples; ++s) x(r, s) = std::ldexp(x(r, s), int(r) - 30);
    x(0, 0) = T(0);
    x(0, 1) = -T(0);
    x(0, 2) = std::numeric_limits<T>::infinity();
    x(0, 3) = -std::numeric_limits<T>::infinity();
    x(0, 4) = kNan<T>;
    return x;
  }
  static constexpr ActivationKind kActivations[] = {ActivationKind::relu,    ActivationKind::leaky_relu,
                                                    ActivationKind::tanh,    ActivationKind::abs_tanh,
                                                    ActivationKind::sigmoid, ActivationKind::gelu};

  void activation_forward() {
    for (const ActivationKind kind : kActivations) {
      const auto x = activation_input();
      TestMatrix<T> y(40, kSamples);
      kernels_.activation_forward({.kind = kind, .slope = T(0.3), .x = x.view(), .y = y.view()}, context_);
      keep("activation_forward", y);
    }
  }

  void activation_backward() {
    for (const ActivationKind kind : kActivations) {
      const auto x = activation_input(), dy = input(40);
      TestMatrix<T> y(40, kSamples), dx(40, kSamples);
      kernels_.activation_forward({.kind = kind, .slope = T(0.3), .x = x.view(), .y = y.view()}, context_);
      kernels_.activation_backward(
          {.kind = kind, .slope = T(0.3), .x = x.view(), .y = y.view(), .dy = dy.view(), .dx = dx.view()}, context_);
      keep("activation_backward", dx);
    }
  }

  void softmax_forward() {
    const auto x = input(11);
    TestMatrix<T> y(11, kSamples);
    kernels_.softmax_forward({.x = x.view(), .y = y.view()}, context_);
    keep("softmax_forward", y);
  }

  void softmax_backward() {
    const auto y = input(11), dy = input(11);
    TestMatrix<T> dx(11, kSamples);
    kernels_.softmax_backward({.y = y.view(), .dy = dy.view(), .dx = dx.view()}, context_);
    keep("softmax_backward", dx);
  }

  void batch_norm_forward() {
    const auto x = input(3 * 5);
    const auto gamma = input_vector(3), beta = input_vector(3);
    TestMatrix<T> y(15, kSamples);
    auto mean = nan_vector<T>(3 * 4), inv_std = nan_vector<T>(3 * 4);
    auto sum_mean = nan_vector<T>(3), sum_var = nan_vector<T>(3);
    kernels_.batch_norm_forward({.channels = 3,
                                 .pixels = 5,
                                 .eps = T(1e-5),
                                 .x = x.view(),
                                 .gamma = gamma.data(),
                                 .beta = beta.data(),
                                 .slots = cut_.slots(),
                                 .y = y.view(),
                                 .mean = mean.data(),
                                 .inv_std = inv_std.data(),
                                 .sum_mean = sum_mean.data(),
                                 .sum_var = sum_var.data()},
                                context_);
    for (const auto* values : {&mean, &inv_std, &sum_mean, &sum_var}) keep("batch_norm_forward", *values);
    keep("batch_norm_forward", y);
  }

  void batch_norm_backward() {
    const auto x = input(3 * 5), dy = input(3 * 5);
    const auto gamma = input_vector(3), mean = input_vector(3 * 4), inv_std = input_vector(3 * 4, 0.5, 2);
    TestMatrix<T> dx(15, kSamples);
    auto dgamma = nan_vector<T>(3), dbeta = nan_vector<T>(3);
    kernels_.batch_norm_backward({.channels = 3,
                                  .pixels = 5,
                                  .x = x.view(),
                                  .dy = dy.view(),
                                  .gamma = gamma.data(),
                                  .mean = mean.data(),
                                  .inv_std = inv_std.data(),
                                  .slots = cut_.slots(),
                                  .dx = dx.view(),
                                  .dgamma = dgamma.data(),
                                  .dbeta = dbeta.data()},
                                 context_);
    keep("batch_norm_backward", dx);
    keep("batch_norm_backward", dgamma);
    keep("batch_norm_backward", dbeta);
  }

  void batch_norm_inference() {
    const auto x = input(3 * 5);
    const auto gamma = input_vector(3), beta = input_vector(3), running_var = input_vector(3, 0.1, 2);
    TestMatrix<T> y(15, kSamples);
    kernels_.batch_norm_inference({.channels = 3,
                                   .pixels = 5,
                                   .eps = T(1e-5),
                                   .x = x.view(),
                                   .gamma = gamma.data(),
                                   .beta = beta.data(),
                                   .running_mean = beta.data(),
                                   .running_var = running_var.data(),
                                   .y = y.view()},
                                  context_);
    keep("batch_norm_inference", y);
  }

  void layer_norm_forward() {
    const auto x = input(11);
    const auto gamma = input_vector(11), beta = input_vector(11);
    TestMatrix<T> y(11, kSamples);
    auto mean = nan_vector<T>(kSamples), inv_std = mean;
    kernels_.layer_norm_forward({.eps = T(1e-5),
                                 .x = x.view(),
                                 .gamma = gamma.data(),
                                 .beta = beta.data(),
                                 .y = y.view(),
                                 .mean = mean.data(),
                                 .inv_std = inv_std.data()},
                                context_);
    for (const auto* values : {&mean, &inv_std}) keep("layer_norm_forward", *values);
    keep("layer_norm_forward", y);
  }

  void layer_norm_backward() {
    const auto x = input(11), dy = input(11);
    const auto gamma = input_vector(11), mean = input_vector(kSamples), inv_std = input_vector(kSamples, 0.5, 2);
    TestMatrix<T> dx(11, kSamples);
    auto dgamma = nan_vector<T>(11), dbeta = dgamma;
    kernels_.layer_norm_backward({.x = x.view(),
                                  .dy = dy.view(),
                                  .gamma = gamma.data(),
                                  .mean = mean.data(),
                                  .inv_std = inv_std.data(),
                                  .slots = cut_.slots(),
                                  .dx = dx.view(),
                                  .dgamma = dgamma.data(),
                                  .dbeta = dbeta.data()},
                                 context_);
    keep("layer_norm_backward", dx);
    for (const auto* values : {&dgamma, &dbeta}) keep("layer_norm_backward", *values);
  }

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

  void dropout_apply() {
    const auto x = input(9);
    std::array<std::int64_t, kSamples> ids{};
    for (std::size_t s = 0; s < ids.size(); ++s) ids[s] = std::int64_t(s * s);
    TestMatrix<T> y(9, kSamples);
    kernels_.dropout_apply({.key = {.seed = stream_, .purpose = Purpose::dropout},
                            .sample_ids = ids,
                            .p = 0.3,
                            .x = x.view(),
                            .y = y.view()},
                           context_);
    keep("dropout_apply", y);
  }

  void add() {
    const auto a = input(9), b = input(9);
    TestMatrix<T> y(9, kSamples);
    kernels_.add({.a = a.view(), .b = b.view(), .y = y.view()}, context_);
    keep("add", y);
  }

  void loss_gradient() {
    for (const Loss kind :
         {Loss::cross_entropy, Loss::binary_cross_entropy, Loss::squared_error, Loss::focal, Loss::huber})
      for (const bool by_label : {true, false}) {
        if (kind == Loss::focal && !by_label) continue;  // it has labels only
        const auto z = input(10), values = input(10);
        std::array<std::int32_t, kSamples> labels{};
        for (std::size_t s = 0; s < labels.size(); ++s) labels[s] = std::int32_t(s * 7 % 10);
        auto loss = nan_vector<T>(kSamples);
        TestMatrix<T> dz(10, kSamples);
        const auto weights = input_vector(kSamples);
        LossTargets<T> targets{.labels = labels.data(), .values = {}};
        if (!by_label) targets.values = values.view();
        kernels_.loss_gradient({.kind = kind,
                                .smoothing = T(0.1),
                                .gamma = 3,
                                .delta = T(0.6),
                                .scale = T(0.1),
                                .z = z.view(),
                                .targets = targets,
                                .weights = weights.data(),
                                .loss = loss.data(),
                                .dz = dz.view()},
                               context_);
        keep("loss_gradient", loss);
        keep("loss_gradient", dz);
      }
  }

  static constexpr std::int64_t kParameters = 2500;

  void add_l2() {
    const auto w = input_vector(kParameters);
    auto g = input_vector(kParameters);
    kernels_.add_l2({.count = kParameters, .l2 = T(0.3), .w = w.data(), .g = g.data()}, context_);
    keep("add_l2", g);
  }

  void scale_gradient() {
    auto g = input_vector(kParameters);
    kernels_.scale_gradient({.count = kParameters, .factor = T(0.7), .g = g.data()}, context_);
    keep("scale_gradient", g);
  }

  void sgd_step() {
    const auto g = input_vector(kParameters);
    auto w = input_vector(kParameters), v = input_vector(kParameters);
    kernels_.sgd_step({.count = kParameters,
                       .lr = T(0.1),
                       .momentum = T(0.9),
                       .nesterov = true,
                       .g = g.data(),
                       .w = w.data(),
                       .v = v.data()},
                      context_);
    for (const auto* values : {&w, &v}) keep("sgd_step", *values);
  }

  void adam_step() {
    const auto g = input_vector(kParameters);
    auto w = input_vector(kParameters), m = input_vector(kParameters), v = input_vector(kParameters, 0, 1);
    kernels_.adam_step({.count = kParameters,
                        .rate = T(0.01),
                        .inv_root2 = T(1.5),
                        .beta1 = T(0.9),
                        .beta2 = T(0.999),
                        .eps = T(1e-8),
                        .decay_factor = T(0.99),
                        .g = g.data(),
                        .w = w.data(),
                        .m = m.data(),
                        .v = v.data()},
                       context_);
    for (const auto* values : {&w, &m, &v}) keep("adam_step", *values);
  }

  void rmsprop_step() {
    const auto g = input_vector(kParameters);
    auto w = input_vector(kParameters), v = input_vector(kParameters, 0, 1);
    kernels_.rmsprop_step({.count = kParameters,
                           .lr = T(0.01),
                           .alpha = T(0.99),
                           .eps = T(1e-8),
                           .g = g.data(),
                           .w = w.data(),
                           .v = v.data()},
                          context_);
    for (const auto* values : {&w, &v}) keep("rmsprop_step", *values);
  }

  void lion_step() {
    const auto g = input_vector(kParameters);
    auto w = input_vector(kParameters), m = input_vector(kParameters);
    kernels_.lion_step({.count = kParameters,
                        .lr = T(0.01),
                        .beta1 = T(0.9),
                        .beta2 = T(0.99),
                        .decay_factor = T(0.99),
                        .g = g.data(),
                        .w = w.data(),
                        .m = m.data()},
                       context_);
    for (const auto* values : {&w, &m}) keep("lion_step", *values);
  }

  void square_sums() {
    const auto x = input_vector(kParameters);
    std::vector<double> partial(3, kNan<double>);
    kernels_.square_sums({.count = kParameters, .x = x.data(), .partial = partial.data()}, context_);
    for (const double sum : partial)  // as two numbers of T, without a loss
      keep("square_sums", std::vector<T>{T(sum), T(sum - double(T(sum)))});
  }

  void running_update() {
    constexpr std::int64_t kCount = 2001;  // enough that a product rounded otherwise shows in some of them
    const auto sums = input_vector(kCount);
    auto running = input_vector(kCount);
    kernels_.running_update(
        {.count = kCount, .momentum = T(0.1), .elements = T(21), .sum = sums.data(), .running = running.data()},
        context_);
    keep("running_update", running);
  }

  void score_slots() {
    for (const std::int64_t outputs : {1, 5}) {
      const auto z = input(outputs);
      const auto loss = input_vector(kSamples);
      std::array<std::int32_t, kSamples> labels{};
      for (std::size_t s = 0; s < labels.size(); ++s) labels[s] = std::int32_t(s * 7 % (outputs == 1 ? 2 : 5));
      for (const bool with_labels : {false, true}) {
        std::vector<double> sum(4, kNan<double>);
        std::vector<std::int64_t> correct(4, -1);
        kernels_.score_slots({.kind = Loss::squared_error,
                              .z = z.view(),
                              .labels = with_labels ? labels.data() : nullptr,
                              .loss = loss.data(),
                              .slots = cut_.slots(),
                              .sum = sum.data(),
                              .correct = correct.data()},
                             context_);
        std::vector<T> scores;
        for (std::size_t slot = 0; slot < 4; ++slot)  // the sum as two numbers of T, without a loss
          scores.insert(scores.end(), {T(sum[slot]), T(sum[slot] - double(T(sum[slot]))), T(correct[slot])});
        keep("score_slots", scores);
      }
    }
  }

  const KernelTable<T>& kernels_;
  std::uint64_t stream_;
  KernelContext context_;
  const Cut cut_{3, 0, 17, 1};
  std::vector<Output> outputs_;
};

}  // namespace lockstep::test
