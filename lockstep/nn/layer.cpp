#include "lockstep/nn/layer.hpp"

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

template <class T>
struct Make {
  const LayerPlan& plan;

  std::unique_ptr<Layer<T>> operator()(const Linear&) const { return make_linear<T>(plan); }
  std::unique_ptr<Layer<T>> operator()(const Conv2d&) const { return make_conv2d<T>(plan); }
  std::unique_ptr<Layer<T>> operator()(const MaxPool2d&) const { return make_pool2d<T>(plan); }
  std::unique_ptr<Layer<T>> operator()(const AvgPool2d&) const { return make_pool2d<T>(plan); }
  std::unique_ptr<Layer<T>> operator()(const Softmax&) const { return make_softmax<T>(plan); }
  std::unique_ptr<Layer<T>> operator()(const BatchNorm&) const { return make_batch_norm<T>(plan); }
  std::unique_ptr<Layer<T>> operator()(const Dropout&) const { return make_dropout<T>(plan); }
  std::unique_ptr<Layer<T>> operator()(const Residual&) const { return make_residual<T>(plan); }
  std::unique_ptr<Layer<T>> operator()(const Flatten&) const {
    throw Error(ExitCode::bug, "flatten has nothing to compute");
  }
  template <class Activation>
  std::unique_ptr<Layer<T>> operator()(const Activation&) const {
    return make_activation<T>(plan);
  }
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_layer(const LayerPlan& plan) {
  return std::visit(Make<T>{plan}, plan.spec.kind);
}

LOCKSTEP_INSTANTIATE_LAYER(make_layer);

}  // namespace lockstep
