// Compiled once per variant (see variant.hpp): all naive kernels in float and double, and the table of them.

#include "lockstep/kernels/naive/activation.hpp"
#include "lockstep/kernels/naive/add.hpp"
#include "lockstep/kernels/naive/batch_norm.hpp"
#include "lockstep/kernels/naive/conv2d.hpp"
#include "lockstep/kernels/naive/dropout.hpp"
#include "lockstep/kernels/naive/elementwise_max.hpp"
#include "lockstep/kernels/naive/linear.hpp"
#include "lockstep/kernels/naive/loss.hpp"
#include "lockstep/kernels/naive/optimizer.hpp"
#include "lockstep/kernels/naive/pool2d.hpp"
#include "lockstep/kernels/naive/running.hpp"
#include "lockstep/kernels/naive/scores.hpp"
#include "lockstep/kernels/naive/softmax.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep/kernels/naive/xxt.hpp"
#include "lockstep/kernels/primitives/table.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
KernelTable<T> make_table() {
  const char* name = LOCKSTEP_NAIVE_NAME;
  return {
      .backend = name,
      .linear_forward = {name, [](const LinearForward<T>& a, KernelContext&) { linear_forward(a); }},
      .linear_backward_data = {name, [](const LinearBackwardData<T>& a, KernelContext&) { linear_backward_data(a); }},
      .linear_backward_weights = {name, [](const LinearBackwardWeights<T>& a,
                                           KernelContext&) { linear_backward_weights(a); }},
      .conv2d_forward = {name, [](const Conv2dForward<T>& a, KernelContext&) { conv2d_forward(a); }},
      .conv2d_backward_data = {name, [](const Conv2dBackwardData<T>& a, KernelContext&) { conv2d_backward_data(a); }},
      .conv2d_backward_weights = {name, [](const Conv2dBackwardWeights<T>& a,
                                           KernelContext&) { conv2d_backward_weights(a); }},
      .max_pool2d_forward = {name, [](const MaxPool2dForward<T>& a, KernelContext&) { max_pool2d_forward(a); }},
      .max_pool2d_backward = {name, [](const MaxPool2dBackward<T>& a, KernelContext&) { max_pool2d_backward(a); }},
      .avg_pool2d_forward = {name, [](const AvgPool2dForward<T>& a, KernelContext&) { avg_pool2d_forward(a); }},
      .avg_pool2d_backward = {name, [](const AvgPool2dBackward<T>& a, KernelContext&) { avg_pool2d_backward(a); }},
      .activation_forward = {name, [](const ActivationForward<T>& a, KernelContext&) { activation_forward(a); }},
      .activation_backward = {name, [](const ActivationBackward<T>& a, KernelContext&) { activation_backward(a); }},
      .softmax_forward = {name, [](const SoftmaxForward<T>& a, KernelContext&) { softmax_forward(a); }},
      .softmax_backward = {name, [](const SoftmaxBackward<T>& a, KernelContext&) { softmax_backward(a); }},
      .batch_norm_forward = {name, [](const BatchNormForward<T>& a, KernelContext&) { batch_norm_forward(a); }},
      .batch_norm_backward = {name, [](const BatchNormBackward<T>& a, KernelContext&) { batch_norm_backward(a); }},
      .batch_norm_inference = {name, [](const BatchNormInference<T>& a, KernelContext&) { batch_norm_inference(a); }},
      .dropout_apply = {name, [](const DropoutApply<T>& a, KernelContext&) { dropout_apply(a); }},
      .add = {name, [](const Add<T>& a, KernelContext&) { add(a); }},
      .loss_gradient = {name, [](const LossGradient<T>& a, KernelContext&) { loss_gradient(a); }},
      .add_l2 = {name, [](const AddL2<T>& a, KernelContext&) { add_l2(a); }},
      .scale_gradient = {name, [](const ScaleGradient<T>& a, KernelContext&) { scale_gradient(a); }},
      .sgd_step = {name, [](const SgdStep<T>& a, KernelContext&) { sgd_step(a); }},
      .adam_step = {name, [](const AdamStep<T>& a, KernelContext&) { adam_step(a); }},
      .rmsprop_step = {name, [](const RmspropStep<T>& a, KernelContext&) { rmsprop_step(a); }},
      .square_sums = {name, [](const SquareSums<T>& a, KernelContext&) { square_sums(a); }},
      .running_update = {name, [](const RunningUpdate<T>& a, KernelContext&) { running_update(a); }},
      .score_slots = {name, [](const ScoreSlots<T>& a, KernelContext&) { score_slots(a); }},
  };
}

PrimitiveTable make_primitives() {
  return {.name = LOCKSTEP_NAIVE_NAME,
          .elementwise_max = [](const ElementwiseMax& a) { elementwise_max(a); },
          .xxt = [](const Xxt& a) { xxt(a); }};
}

template KernelTable<float> make_table<float>();
template KernelTable<double> make_table<double>();

}  // namespace lockstep::LOCKSTEP_NAIVE
