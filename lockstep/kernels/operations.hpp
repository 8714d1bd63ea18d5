#pragma once
// The operations of the kernel tables: the one list. The tables of every backend, their declarations, the names that
// `--verbose` prints and the tests of whole tables follow from it; an operation without a kernel does not compile or
// link.
//
// To add an operation: its contract header, its definition in naive/ (included by naive/table_variant.cpp), its kernel
// in device/, and a line here: first among LOCKSTEP_SERIAL_OPERATIONS, then, with a kernel in simd/, among the others.

#include "lockstep/kernels/activation.hpp"
#include "lockstep/kernels/add.hpp"
#include "lockstep/kernels/attention.hpp"
#include "lockstep/kernels/batch_norm.hpp"
#include "lockstep/kernels/conv2d.hpp"
#include "lockstep/kernels/dropout.hpp"
#include "lockstep/kernels/layer_norm.hpp"
#include "lockstep/kernels/linear.hpp"
#include "lockstep/kernels/loss.hpp"
#include "lockstep/kernels/optimizer.hpp"
#include "lockstep/kernels/pool2d.hpp"
#include "lockstep/kernels/recurrent.hpp"
#include "lockstep/kernels/softmax.hpp"

// clang-format off
/// X(operation, arguments): operations with a kernel in naive/, simd/ and device/.
#define LOCKSTEP_SIMD_OPERATIONS(X)                       \
  X(linear_forward, LinearForward)                        \
  X(linear_backward_data, LinearBackwardData)             \
  X(linear_backward_weights, LinearBackwardWeights)       \
  X(conv2d_forward, Conv2dForward)                        \
  X(conv2d_backward_data, Conv2dBackwardData)             \
  X(conv2d_backward_weights, Conv2dBackwardWeights)       \
  X(max_pool2d_forward, MaxPool2dForward)                 \
  X(max_pool2d_backward, MaxPool2dBackward)               \
  X(avg_pool2d_forward, AvgPool2dForward)                 \
  X(avg_pool2d_backward, AvgPool2dBackward)               \
  X(activation_forward, ActivationForward)                \
  X(activation_backward, ActivationBackward)              \
  X(softmax_forward, SoftmaxForward)                      \
  X(softmax_backward, SoftmaxBackward)                    \
  X(batch_norm_forward, BatchNormForward)                 \
  X(batch_norm_backward, BatchNormBackward)               \
  X(batch_norm_inference, BatchNormInference)             \
  X(batch_norm_sums, BatchNormSums)                       \
  X(batch_norm_normalise, BatchNormNormalise)             \
  X(batch_norm_backward_data, BatchNormBackwardData)      \
  X(layer_norm_forward, LayerNormForward)                 \
  X(layer_norm_backward, LayerNormBackward)               \
  X(lstm_forward, LstmForward)                            \
  X(lstm_backward, LstmBackward)                          \
  X(gru_forward, GruForward)                              \
  X(gru_backward, GruBackward)                            \
  X(attention_forward, AttentionForward)                  \
  X(attention_backward, AttentionBackward)                \
  X(dropout_apply, DropoutApply)                          \
  X(add, Add)                                             \
  X(loss_gradient, LossGradient)                          \
  X(add_l2, AddL2)                                        \
  X(scale_gradient, ScaleGradient)                        \
  X(sgd_step, SgdStep)                                    \
  X(adam_step, AdamStep)                                  \
  X(rmsprop_step, RmspropStep)                            \
  X(lion_step, LionStep)                                  \
  X(square_sums, SquareSums)

/// Operations with a kernel in naive/ and device/ only: SIMD tables keep the naive one.
#define LOCKSTEP_SERIAL_OPERATIONS(X)                     \
  X(running_update, RunningUpdate)                        \
  X(one_hot, OneHot)                                      \
  X(pack_steps, PackSteps)                                \
  X(end_steps, EndSteps)                                  \
  X(score_slots, ScoreSlots)

#define LOCKSTEP_OPERATIONS(X) LOCKSTEP_SIMD_OPERATIONS(X) LOCKSTEP_SERIAL_OPERATIONS(X)
// clang-format on
