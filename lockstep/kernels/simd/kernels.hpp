#pragma once
// The kernels of one instruction set; each is defined in the source of its operation.

#include "lockstep/kernels/simd/isa.hpp"
#include "lockstep/kernels/simd/scratch.hpp"
#include "lockstep/kernels/table.hpp"

#define LOCKSTEP_INLINE_LAMBDA __attribute__((always_inline))
// NOLINTBEGIN(bugprone-macro-parentheses): names of templates take none
#define LOCKSTEP_SIMD_INSTANTIATE(kernel, Args)                    \
  template void kernel<float>(const Args<float>&, KernelContext&); \
  template void kernel<double>(const Args<double>&, KernelContext&);
// NOLINTEND(bugprone-macro-parentheses)

namespace lockstep::LOCKSTEP_SIMD {

template <class T>
void linear_forward(const LinearForward<T>&, KernelContext&);
/// Lanes over outputs, for a few samples (linear_few.cpp): whole vectors of outputs from the first on; gives their
/// number.
template <class T>
std::int64_t linear_forward_few(const LinearForward<T>&);
/// The same for all outputs, from transposed weights.
template <class T>
void linear_forward_transposed(const LinearForward<T>&);
template <class T>
void linear_backward_data(const LinearBackwardData<T>&, KernelContext&);
template <class T>
void linear_backward_weights(const LinearBackwardWeights<T>&, KernelContext&);

template <class T>
void conv2d_forward(const Conv2dForward<T>&, KernelContext&);
template <class T>
void conv2d_backward_data(const Conv2dBackwardData<T>&, KernelContext&);
template <class T>
void conv2d_backward_weights(const Conv2dBackwardWeights<T>&, KernelContext&);

template <class T>
void max_pool2d_forward(const MaxPool2dForward<T>&, KernelContext&);
template <class T>
void max_pool2d_backward(const MaxPool2dBackward<T>&, KernelContext&);
template <class T>
void avg_pool2d_forward(const AvgPool2dForward<T>&, KernelContext&);
template <class T>
void avg_pool2d_backward(const AvgPool2dBackward<T>&, KernelContext&);
template <class T>
void activation_forward(const ActivationForward<T>&, KernelContext&);
template <class T>
void activation_backward(const ActivationBackward<T>&, KernelContext&);
template <class T>
void softmax_forward(const SoftmaxForward<T>&, KernelContext&);
template <class T>
void softmax_backward(const SoftmaxBackward<T>&, KernelContext&);
template <class T>
void batch_norm_forward(const BatchNormForward<T>&, KernelContext&);
template <class T>
void batch_norm_backward(const BatchNormBackward<T>&, KernelContext&);
template <class T>
void batch_norm_inference(const BatchNormInference<T>&, KernelContext&);
template <class T>
void dropout_apply(const DropoutApply<T>&, KernelContext&);
template <class T>
void add(const Add<T>&, KernelContext&);
template <class T>
void loss_gradient(const LossGradient<T>&, KernelContext&);
template <class T>
void add_l2(const AddL2<T>&, KernelContext&);
template <class T>
void scale_gradient(const ScaleGradient<T>&, KernelContext&);
template <class T>
void sgd_step(const SgdStep<T>&, KernelContext&);
template <class T>
void adam_step(const AdamStep<T>&, KernelContext&);
template <class T>
void rmsprop_step(const RmspropStep<T>&, KernelContext&);
template <class T>
void square_sums(const SquareSums<T>&, KernelContext&);

}  // namespace lockstep::LOCKSTEP_SIMD
