#pragma once
// Every kernel of the text and the program, a file of this folder, that holds it: X(program, kernel). Programs are
// compiled behind prelude.h, constants.h, math.h, common.h and tile.h, in this order. LOCKSTEP_VECTOR_KERNELS exist
// only where a work-item holds a vector of samples (LANES > 1): not on GPUs.

// clang-format off
#define LOCKSTEP_DEVICE_KERNELS(X)          \
  X(activation, activation_forward)         \
  X(activation, activation_backward)        \
  X(activation, add_matrices)               \
  X(activation, dropout)                    \
  X(attention, one_hot)                     \
  X(attention, attention_forward)           \
  X(attention, attention_backward_queries)  \
  X(attention, attention_backward_keys)     \
  X(batch_norm, batch_norm_forward)         \
  X(batch_norm, batch_norm_backward)        \
  X(batch_norm, batch_norm_statistics)      \
  X(batch_norm, batch_norm_apply)           \
  X(batch_norm, batch_norm_slopes)          \
  X(batch_norm, batch_norm_apply_backward)  \
  X(batch_norm, batch_norm_tree)            \
  X(batch_norm, batch_norm_inference)       \
  X(batch_norm, batch_norm_sums)            \
  X(batch_norm, batch_norm_lane_sums)       \
  X(batch_norm, batch_norm_normalise)       \
  X(batch_norm, batch_norm_backward_data)   \
  X(conv2d_naive, conv2d_forward_naive)     \
  X(conv2d_naive, conv2d_backward_data_naive) \
  X(conv2d_naive, conv2d_backward_weights_naive) \
  X(conv2d_tiled, conv2d_tiled)             \
  X(conv2d_weights_tiled, conv2d_weights_tiled) \
  X(layer_norm, layer_norm_forward)         \
  X(layer_norm, layer_norm_backward_weights) \
  X(layer_norm, layer_norm_backward_data)   \
  X(linear_naive, linear_forward_naive)     \
  X(linear_naive, linear_backward_data_naive) \
  X(linear_naive, linear_backward_weights_naive) \
  X(linear_tiled, linear_tiled)             \
  X(linear_tiled, linear_tiled_2)           \
  X(linear_tiled, linear_tiled_1)           \
  X(linear_tiled, linear_weights_tiled)     \
  X(loss, softmax_forward)                  \
  X(loss, softmax_backward)                 \
  X(loss, loss_gradient)                    \
  X(loss, score_slots)                      \
  X(optimizer, add_l2)                      \
  X(optimizer, scale_gradient)              \
  X(optimizer, sgd_step)                    \
  X(optimizer, adam_step)                   \
  X(optimizer, rmsprop_step)                \
  X(optimizer, lion_step)                   \
  X(optimizer, square_sums)                 \
  X(optimizer, running_update)              \
  X(pool2d, max_pool2d_forward)             \
  X(pool2d, max_pool2d_backward)            \
  X(pool2d, max_pool2d_backward_apart)      \
  X(pool2d, avg_pool2d_forward)             \
  X(pool2d, avg_pool2d_backward)            \
  X(primitives, nothing)                    \
  X(primitives, fma_peak)                   \
  X(primitives, elementwise_max_each)       \
  X(primitives, elementwise_max_turns)      \
  X(primitives, xxt_elements)               \
  X(primitives, xxt_transpose)              \
  X(primitives, xxt_tiles)                  \
  X(recurrent, lstm_forward)                \
  X(recurrent, lstm_backward)               \
  X(recurrent, gru_forward)                 \
  X(recurrent, gru_backward)                \
  X(recurrent, pack_steps)                  \
  X(recurrent, end_steps)                   \
  X(slots, add_slots)

#define LOCKSTEP_VECTOR_KERNELS(X)          \
  X(conv2d, conv2d_forward)                 \
  X(conv2d, conv2d_backward_data)           \
  X(conv2d_weights, conv2d_weights)         \
  X(conv2d_weights, conv2d_bias)            \
  X(linear, linear_rows)                    \
  X(linear, linear_transpose)               \
  X(linear, linear_weights)
// clang-format on
