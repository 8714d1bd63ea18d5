// Compiled once per instruction set (see isa.hpp): puts its kernels into a table.

#include "lockstep/kernels/simd/kernels.hpp"

namespace lockstep::LOCKSTEP_SIMD {

template <class T>
void fill_table(KernelTable<T>& table);

template <class T>
void fill_table(KernelTable<T>& table) {
  const char* name = LOCKSTEP_SIMD_NAME;
  table.backend = name;
  table.linear_forward = {name, &linear_forward<T>};
  table.linear_backward_data = {name, &linear_backward_data<T>};
  table.linear_backward_weights = {name, &linear_backward_weights<T>};
  table.conv2d_forward = {name, &conv2d_forward<T>};
  table.conv2d_backward_data = {name, &conv2d_backward_data<T>};
  table.conv2d_backward_weights = {name, &conv2d_backward_weights<T>};
  table.max_pool2d_forward = {name, &max_pool2d_forward<T>};
  table.max_pool2d_backward = {name, &max_pool2d_backward<T>};
  table.avg_pool2d_forward = {name, &avg_pool2d_forward<T>};
  table.avg_pool2d_backward = {name, &avg_pool2d_backward<T>};
  table.activation_forward = {name, &activation_forward<T>};
  table.activation_backward = {name, &activation_backward<T>};
  table.softmax_forward = {name, &softmax_forward<T>};
  table.softmax_backward = {name, &softmax_backward<T>};
  table.batch_norm_forward = {name, &batch_norm_forward<T>};
  table.batch_norm_backward = {name, &batch_norm_backward<T>};
  table.batch_norm_inference = {name, &batch_norm_inference<T>};
  table.dropout_apply = {name, &dropout_apply<T>};
  table.add = {name, &add<T>};
  table.loss_gradient = {name, &loss_gradient<T>};
  table.add_l2 = {name, &add_l2<T>};
  table.scale_gradient = {name, &scale_gradient<T>};
  table.sgd_step = {name, &sgd_step<T>};
  table.adam_step = {name, &adam_step<T>};
  table.rmsprop_step = {name, &rmsprop_step<T>};
  table.square_sums = {name, &square_sums<T>};
}

template void fill_table<float>(KernelTable<float>&);
template void fill_table<double>(KernelTable<double>&);

}  // namespace lockstep::LOCKSTEP_SIMD
