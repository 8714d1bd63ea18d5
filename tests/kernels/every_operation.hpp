#pragma once
// Runs every kernel of a table on the same random problems and keeps the outputs, so that two tables can be compared.
// One function per operation of the list.

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "lockstep/kernels/table.hpp"
#include "tests/kernels/sequence_operations.hpp"

namespace lockstep::test {

template <class T>
class EveryOperation : public SequenceOperations<T> {
 public:
  EveryOperation(const KernelTable<T>& kernels, std::uint64_t stream) : SequenceOperations<T>(kernels, stream) {
#define LOCKSTEP_RUN(operation, Args) this->operation();
    LOCKSTEP_OPERATIONS(LOCKSTEP_RUN)
#undef LOCKSTEP_RUN
  }

 private:
  using Base = SequenceOperations<T>;
  using Base::input, Base::input_vector, Base::keep, Base::kSamples, Base::kernels_, Base::context_, Base::cut_,
      Base::stream_;

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

  void batch_norm_sums() {
    const auto x = input(3 * 2);
    const auto centre = input_vector(3);
    for (const T* each : {static_cast<const T*>(nullptr), centre.data()}) {
      auto sum = nan_vector<T>(3);
      kernels_.batch_norm_sums(
          {.channels = 3, .pixels = 2, .x = x.view(), .centre = each, .slots = cut_.slots(), .sum = sum.data()},
          context_);
      keep("batch_norm_sums", sum);
    }
  }

  void batch_norm_normalise() {
    const auto x = input(3 * 2);
    const auto gamma = input_vector(3), beta = input_vector(3), mean = input_vector(3),
               inv_std = input_vector(3, 0.5, 2);
    TestMatrix<T> y(3 * 2, kSamples);
    kernels_.batch_norm_normalise({.channels = 3,
                                   .pixels = 2,
                                   .x = x.view(),
                                   .gamma = gamma.data(),
                                   .beta = beta.data(),
                                   .mean = mean.data(),
                                   .inv_std = inv_std.data(),
                                   .y = y.view()},
                                  context_);
    keep("batch_norm_normalise", y);
  }

  void batch_norm_backward_data() {
    const auto x = input(3 * 2), dy = input(3 * 2);
    const auto gamma = input_vector(3), mean = input_vector(3), inv_std = input_vector(3, 0.5, 2), p = input_vector(3),
               q = input_vector(3);
    TestMatrix<T> dx(3 * 2, kSamples);
    kernels_.batch_norm_backward_data({.channels = 3,
                                       .pixels = 2,
                                       .x = x.view(),
                                       .dy = dy.view(),
                                       .gamma = gamma.data(),
                                       .mean = mean.data(),
                                       .inv_std = inv_std.data(),
                                       .p = p.data(),
                                       .q = q.data(),
                                       .share = T(1) / T(2 * kSamples),
                                       .dx = dx.view()},
                                      context_);
    keep("batch_norm_backward_data", dx);
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

  void keep_scores(ScoreSlots<T> arguments) {
    std::vector<double> sum(4, kNan<double>);
    std::vector<std::int64_t> correct(4, -1);
    arguments.slots = cut_.slots();
    arguments.sum = sum.data();
    arguments.correct = correct.data();
    kernels_.score_slots(arguments, context_);
    std::vector<T> scores;
    for (std::size_t slot = 0; slot < 4; ++slot)  // the sum as two numbers of T, without a loss
      scores.insert(scores.end(), {T(sum[slot]), T(sum[slot] - double(T(sum[slot]))), T(correct[slot])});
    keep("score_slots", scores);
  }

  void score_slots() {
    for (const std::int64_t outputs : {1, 5}) {
      const auto z = input(outputs);
      const auto loss = input_vector(kSamples);
      std::array<std::int32_t, kSamples> labels{};
      for (std::size_t s = 0; s < labels.size(); ++s) labels[s] = std::int32_t(s * 7 % (outputs == 1 ? 2 : 5));
      for (const bool with_labels : {false, true})
        keep_scores({.kind = Loss::squared_error,
                     .z = z.view(),
                     .labels = with_labels ? labels.data() : nullptr,
                     .loss = loss.data()});
    }
    score_steps();
  }

  /// Every step has a class; samples are of several lengths.
  void score_steps() {
    constexpr std::int64_t kSteps = 3, kClasses = 4, kStride = 2 * kSamples;
    const auto z = input_vector(kClasses * kSteps * kStride), loss = input_vector(kSteps * kStride);
    std::array<std::int32_t, kSteps * kStride> labels{};
    std::array<std::int64_t, kSamples> lengths{};
    for (std::size_t c = 0; c < labels.size(); ++c) labels[c] = std::int32_t(c * 7 % kClasses);
    for (std::size_t s = 0; s < lengths.size(); ++s) lengths[s] = 1 + std::int64_t(s) % kSteps;
    for (const bool ragged : {false, true})
      keep_scores({.kind = Loss::cross_entropy,
                   .z = {z.data(), kClasses, (kSteps - 1) * kStride + kSamples, kSteps * kStride},
                   .labels = labels.data(),
                   .loss = loss.data(),
                   .steps = kSteps,
                   .step_stride = kStride,
                   .lengths = ragged ? lengths.data() : nullptr});
  }
};

}  // namespace lockstep::test
