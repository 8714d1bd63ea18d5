#pragma once
// From the layers of a network to the cases of a benchmark.

#include <fmt/format.h>

#include "cli/bench/cases.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep::cli {

/// The slots of one chunk, as the training loop cuts them.
struct BenchChunk {
  std::shared_ptr<const std::vector<std::int64_t>> bounds;
  std::int64_t samples() const { return bounds->back(); }
  Slots slots() const { return {*bounds}; }
};

/// Turns the layers of a network into cases.
template <class T>
class LayerCases {
 public:
  explicit LayerCases(BenchChunk chunk) : chunk_(std::move(chunk)), samples_(chunk_.samples()) {}

  void add_layers(const Network& network) {
    for (const LayerPlan& plan : network.plans()) {
      std::visit([&](const auto& layer) { add(layer, plan); }, plan.spec.kind);
      first_ = false;
    }
  }

  void add_loss(std::int64_t outputs) {
    add("loss_gradient", fmt::format("[{}], cross-entropy", outputs), loss_cost(outputs, samples_, sizeof(T)),
        &KernelTable<T>::loss_gradient, [=, n = samples_](Operands<T>& o) {
          return LossGradient<T>{.kind = Loss::cross_entropy,
                                 .scale = T(1) / T(n),
                                 .z = o.matrix(outputs, n),
                                 .targets = {.labels = o.labels(n, outputs), .values = {}},
                                 .loss = o.vector(n),
                                 .dz = o.matrix(outputs, n)};
        });
  }

  /// One addition of the tree over slots, and the optimiser step.
  void add_update(std::int64_t parameters, bool adam) {
    const std::int64_t n = parameters;
    add("add", fmt::format("[{}]", n), add_cost(n, 1, sizeof(T)), &KernelTable<T>::add, [=](Operands<T>& o) {
      T *const a = o.vector(n), *const b = o.vector(n), *const y = o.vector(n);
      return Add<T>{.a = dense_matrix(a, 1, n), .b = dense_matrix(b, 1, n), .y = dense_matrix(y, 1, n)};
    });
    if (adam)
      add("adam_step", fmt::format("[{}]", n), optimizer_cost(n, 2, sizeof(T)), &KernelTable<T>::adam_step,
          [=](Operands<T>& o) {
            return AdamStep<T>{.count = n,
                               .rate = T(1e-3),
                               .inv_root2 = T(1),
                               .beta1 = T(0.9),
                               .beta2 = T(0.999),
                               .eps = T(1e-8),
                               .decay_factor = T(1),
                               .g = o.vector(n),
                               .w = o.vector(n),
                               .m = o.vector(n),
                               .v = o.vector(n, 0.1, 1)};
          });
    else
      add("sgd_step", fmt::format("[{}], momentum", n), optimizer_cost(n, 1, sizeof(T)), &KernelTable<T>::sgd_step,
          [=](Operands<T>& o) {
            return SgdStep<T>{.count = n,
                              .lr = T(0.01),
                              .momentum = T(0.9),
                              .nesterov = false,
                              .g = o.vector(n),
                              .w = o.vector(n),
                              .v = o.vector(n)};
          });
  }

  void add_conv2d_forward(const Conv2dGeometry& g) {
    const auto [in, out, weights] = sizes(g);
    add("conv2d_forward", shape(g), conv2d_cost(g, samples_, sizeof(T)), &KernelTable<T>::conv2d_forward,
        [g, in = in, out = out, weights = weights, n = samples_](Operands<T>& o) {
          return Conv2dForward<T>{.geometry = g,
                                  .x = o.matrix(in, n),
                                  .w = o.vector(weights),
                                  .b = o.vector(g.out_channels),
                                  .y = o.matrix(out, n)};
        });
  }

  std::vector<BenchCase> take() { return std::move(cases_); }

 private:
  static constexpr double kLargeFlops = 5e7;  // about a second of unoptimised loops

  struct Conv2dSizes {
    std::int64_t in, out, weights;
  };
  static Conv2dSizes sizes(const Conv2dGeometry& g) {
    return {g.in_channels * g.in_height * g.in_width, g.out_channels * g.out_height() * g.out_width(),
            g.out_channels * g.in_per_group() * g.kernel_h * g.kernel_w};
  }
  static std::string shape(const Conv2dGeometry& g) {
    return fmt::format("[{},{},{}] -> [{},{},{}], {}x{}", g.in_channels, g.in_height, g.in_width, g.out_channels,
                       g.out_height(), g.out_width(), g.kernel_h, g.kernel_w);
  }
  static std::string shape(const LayerPlan& plan) { return fmt::format("{} -> {}", plan.in.str(), plan.out.str()); }

  template <class Args, class Make>
  void add(const std::string& kernel, const std::string& text, Cost cost, Kernel<Args> KernelTable<T>::*slot,
           Make arguments) {
    const auto make = [slot, arguments, chunk = chunk_](Device* device) {
      return std::unique_ptr<BenchProblem>(std::make_unique<KernelProblem<T, Args>>(slot, arguments, device));
    };
    cases_.push_back({.kernel = kernel, .shape = text, .cost = cost, .make = make});
  }

  void add(const Linear&, const LayerPlan& plan) {
    add_with_part(plan.out.elements(),
                  [&](LayerCases& cases, std::int64_t out) { cases.add_linear(plan.in.elements(), out); });
  }

  void add(const Conv2d& spec, const LayerPlan& plan) {
    const Conv2dGeometry g = conv2d_geometry(spec, plan.in);
    add_with_part(g.out_channels, [&](LayerCases& cases, std::int64_t out) {
      Conv2dGeometry narrow = g;
      narrow.out_channels = out;
      cases.add_conv2d(narrow);
    });
  }

  /// add(cases, outputs) for all outputs of a layer; and for an eighth of them as the part of each case.
  template <class Add>
  void add_with_part(std::int64_t outputs, const Add& add_cases) {
    const std::size_t before = cases_.size();
    add_cases(*this, outputs);
    if (outputs < 32 || cases_.back().cost.flops < kLargeFlops) return;
    LayerCases part(chunk_);
    part.first_ = first_;
    add_cases(part, outputs / 8);
    for (std::size_t i = 0; i < part.cases_.size(); ++i)
      cases_[before + i].part = std::make_shared<const BenchCase>(std::move(part.cases_[i]));
  }

  void add_linear(std::int64_t in, std::int64_t out) {
    const std::int64_t n = samples_;
    const std::string text = fmt::format("[{}] -> [{}]", in, out);
    const Cost cost = linear_cost(in, out, n, sizeof(T));
    add("linear_forward", text, cost, &KernelTable<T>::linear_forward, [=](Operands<T>& o) {
      return LinearForward<T>{.x = o.matrix(in, n),
                              .w = dense_matrix(o.vector(in * out), out, in),
                              .b = o.vector(out),
                              .y = o.matrix(out, n)};
    });
    if (!first_)
      add("linear_backward_data", text, cost, &KernelTable<T>::linear_backward_data, [=](Operands<T>& o) {
        return LinearBackwardData<T>{
            .w = dense_matrix(o.vector(in * out), out, in), .dy = o.matrix(out, n), .dx = o.matrix(in, n)};
      });
    add("linear_backward_weights", text, cost, &KernelTable<T>::linear_backward_weights,
        [=, slots = chunk_.slots()](Operands<T>& o) {
          return LinearBackwardWeights<T>{.x = o.matrix(in, n),
                                          .dy = o.matrix(out, n),
                                          .slots = slots,
                                          .dw = dense_matrix(o.vector(in * out), out, in),
                                          .db = o.vector(out)};
        });
  }

  void add_conv2d(const Conv2dGeometry& g) {
    const auto [in, out, weights] = sizes(g);
    const Cost cost = conv2d_cost(g, samples_, sizeof(T));
    add_conv2d_forward(g);
    if (!first_)
      add("conv2d_backward_data", shape(g), cost, &KernelTable<T>::conv2d_backward_data,
          [g, in = in, out = out, weights = weights, n = samples_](Operands<T>& o) {
            return Conv2dBackwardData<T>{
                .geometry = g, .w = o.vector(weights), .dy = o.matrix(out, n), .dx = o.matrix(in, n)};
          });
    add("conv2d_backward_weights", shape(g), cost, &KernelTable<T>::conv2d_backward_weights,
        [g, in = in, out = out, weights = weights, n = samples_, slots = chunk_.slots()](Operands<T>& o) {
          return Conv2dBackwardWeights<T>{.geometry = g,
                                          .x = o.matrix(in, n),
                                          .dy = o.matrix(out, n),
                                          .slots = slots,
                                          .dw = o.vector(weights),
                                          .db = o.vector(g.out_channels)};
        });
  }

  void add(const MaxPool2d& spec, const LayerPlan& plan) {
    const Pool2dGeometry g = pool2d_geometry(spec.window, spec.stride, spec.pad, plan.in);
    const std::int64_t in = plan.in.elements(), out = plan.out.elements(), n = samples_;
    const Cost cost = pool2d_cost(g, n, sizeof(T));
    add("max_pool2d_forward", shape(plan), cost, &KernelTable<T>::max_pool2d_forward, [=](Operands<T>& o) {
      return MaxPool2dForward<T>{.geometry = g, .x = o.matrix(in, n), .y = o.matrix(out, n)};
    });
    add("max_pool2d_backward", shape(plan), cost, &KernelTable<T>::max_pool2d_backward, [=](Operands<T>& o) {
      const Matrix<T> x = o.matrix(in, n), y = o.matrix(out, n);
      // Some tap of each window must equal y, as after forward.
      o.prepare(&KernelTable<T>::max_pool2d_forward, MaxPool2dForward<T>{.geometry = g, .x = x, .y = y});
      return MaxPool2dBackward<T>{.geometry = g, .x = x, .y = y, .dy = o.matrix(out, n), .dx = o.matrix(in, n)};
    });
  }

  void add(const BatchNorm& spec, const LayerPlan& plan) {
    const std::int64_t channels = plan.in[0], pixels = plan.in.elements() / channels, n = samples_;
    const std::int64_t rows = channels * pixels, slots = chunk_.slots().count();
    const Cost cost = batch_norm_cost(channels, pixels, n, sizeof(T));
    add("batch_norm_forward", shape(plan), cost, &KernelTable<T>::batch_norm_forward,
        [=, cut = chunk_.slots()](Operands<T>& o) {
          return BatchNormForward<T>{.channels = channels,
                                     .pixels = pixels,
                                     .eps = T(spec.eps),
                                     .x = o.matrix(rows, n),
                                     .gamma = o.vector(channels),
                                     .beta = o.vector(channels),
                                     .slots = cut,
                                     .y = o.matrix(rows, n),
                                     .mean = o.vector(channels * slots),
                                     .inv_std = o.vector(channels * slots),
                                     .sum_mean = o.vector(channels),
                                     .sum_var = o.vector(channels)};
        });
    add("batch_norm_backward", shape(plan), cost, &KernelTable<T>::batch_norm_backward,
        [=, cut = chunk_.slots()](Operands<T>& o) {
          return BatchNormBackward<T>{.channels = channels,
                                      .pixels = pixels,
                                      .x = o.matrix(rows, n),
                                      .dy = o.matrix(rows, n),
                                      .gamma = o.vector(channels),
                                      .mean = o.vector(channels * slots),
                                      .inv_std = o.vector(channels * slots, 0.5, 2),
                                      .slots = cut,
                                      .dx = o.matrix(rows, n),
                                      .dgamma = o.vector(channels),
                                      .dbeta = o.vector(channels)};
        });
  }

  void add(const Relu&, const LayerPlan& plan) { add_activation(ActivationKind::relu, "relu", plan); }
  void add(const Sigmoid&, const LayerPlan& plan) { add_activation(ActivationKind::sigmoid, "sigmoid", plan); }
  void add(const Flatten&, const LayerPlan&) {}
  /// No example network has it.
  template <class Other>
  void add(const Other&, const LayerPlan& plan) {
    throw Error(ErrorCode::bug, fmt::format("bench: no case for {}", layer_type(plan.spec)));
  }

  void add_activation(ActivationKind kind, const char* name, const LayerPlan& plan) {
    const std::int64_t rows = plan.in.elements(), n = samples_;
    const Cost cost = activation_cost(kind, rows, n, sizeof(T));
    const std::string text = fmt::format("{}, {}", plan.in.str(), name);
    add("activation_forward", text, cost, &KernelTable<T>::activation_forward, [=](Operands<T>& o) {
      return ActivationForward<T>{.kind = kind, .slope = T(1), .x = o.matrix(rows, n), .y = o.matrix(rows, n)};
    });
    add("activation_backward", text, cost, &KernelTable<T>::activation_backward, [=](Operands<T>& o) {
      return ActivationBackward<T>{.kind = kind,
                                   .slope = T(1),
                                   .x = o.matrix(rows, n),
                                   .y = o.matrix(rows, n),
                                   .dy = o.matrix(rows, n),
                                   .dx = o.matrix(rows, n)};
    });
  }

  BenchChunk chunk_;
  std::int64_t samples_;
  bool first_ = true;  // no data gradient before the first layer
  std::vector<BenchCase> cases_;
};

}  // namespace lockstep::cli
