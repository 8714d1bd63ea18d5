#pragma once
// The table of kernels of one backend. Backends start from a complete table and overwrite the slots they do better, so
// a slot is never empty; each carries the name that reports print.

#include <string_view>

#include "lockstep/kernels/activation.hpp"
#include "lockstep/kernels/add.hpp"
#include "lockstep/kernels/batch_norm.hpp"
#include "lockstep/kernels/context.hpp"
#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/kernels/dropout.hpp"
#include "lockstep/kernels/linear.hpp"
#include "lockstep/kernels/loss.hpp"
#include "lockstep/kernels/optimizer.hpp"
#include "lockstep/kernels/pool2d.hpp"
#include "lockstep/kernels/running.hpp"
#include "lockstep/kernels/scores.hpp"
#include "lockstep/kernels/softmax.hpp"

namespace lockstep {

template <class Args>
struct Kernel {
  std::string_view name;
  void (*run)(const Args&, KernelContext&) = nullptr;

  void operator()(const Args& args, KernelContext& context) const { run(args, context); }
};

template <class T>
struct KernelTable {
  std::string_view backend;

  Kernel<LinearForward<T>> linear_forward;
  Kernel<LinearBackwardData<T>> linear_backward_data;
  Kernel<LinearBackwardWeights<T>> linear_backward_weights;
  Kernel<Conv2dForward<T>> conv2d_forward;
  Kernel<Conv2dBackwardData<T>> conv2d_backward_data;
  Kernel<Conv2dBackwardWeights<T>> conv2d_backward_weights;
  Kernel<MaxPool2dForward<T>> max_pool2d_forward;
  Kernel<MaxPool2dBackward<T>> max_pool2d_backward;
  Kernel<AvgPool2dForward<T>> avg_pool2d_forward;
  Kernel<AvgPool2dBackward<T>> avg_pool2d_backward;
  Kernel<ActivationForward<T>> activation_forward;
  Kernel<ActivationBackward<T>> activation_backward;
  Kernel<SoftmaxForward<T>> softmax_forward;
  Kernel<SoftmaxBackward<T>> softmax_backward;
  Kernel<BatchNormForward<T>> batch_norm_forward;
  Kernel<BatchNormBackward<T>> batch_norm_backward;
  Kernel<BatchNormInference<T>> batch_norm_inference;
  Kernel<DropoutApply<T>> dropout_apply;
  Kernel<Add<T>> add;
  Kernel<LossGradient<T>> loss_gradient;
  Kernel<AddL2<T>> add_l2;
  Kernel<ScaleGradient<T>> scale_gradient;
  Kernel<SgdStep<T>> sgd_step;
  Kernel<AdamStep<T>> adam_step;
  Kernel<RmspropStep<T>> rmsprop_step;
  Kernel<SquareSums<T>> square_sums;
  Kernel<RunningUpdate<T>> running_update;
  Kernel<ScoreSlots<T>> score_slots;
};

}  // namespace lockstep
