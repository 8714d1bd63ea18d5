#include "lockstep/kernels/device/missing.hpp"

#include <string>

#include "lockstep/core/error.hpp"
#include "lockstep/kernels/device/device.hpp"

namespace lockstep {

namespace {

template <class Args, const char* kOperation>
void refuse(const Args&, KernelContext& context) {
  throw Error(ExitCode::usage, "backend " + context.device().info().backend + " has no " + kOperation +
                                   "; use the backend simd for this network");
}

template <const char* kOperation, class Args>
void fill(Kernel<Args>& kernel, std::string_view name) {
  kernel = {name, &refuse<Args, kOperation>};
}

}  // namespace

template <class T>
KernelTable<T> make_missing_table(std::string_view name) {
  KernelTable<T> table;
  table.backend = name;
#define LOCKSTEP_MISSING(operation)                  \
  {                                                  \
    static constexpr char kOperation[] = #operation; \
    fill<kOperation>(table.operation, name);         \
  }
  LOCKSTEP_MISSING(linear_forward)
  LOCKSTEP_MISSING(linear_backward_data)
  LOCKSTEP_MISSING(linear_backward_weights)
  LOCKSTEP_MISSING(conv2d_forward)
  LOCKSTEP_MISSING(conv2d_backward_data)
  LOCKSTEP_MISSING(conv2d_backward_weights)
  LOCKSTEP_MISSING(max_pool2d_forward)
  LOCKSTEP_MISSING(max_pool2d_backward)
  LOCKSTEP_MISSING(avg_pool2d_forward)
  LOCKSTEP_MISSING(avg_pool2d_backward)
  LOCKSTEP_MISSING(activation_forward)
  LOCKSTEP_MISSING(activation_backward)
  LOCKSTEP_MISSING(softmax_forward)
  LOCKSTEP_MISSING(softmax_backward)
  LOCKSTEP_MISSING(batch_norm_forward)
  LOCKSTEP_MISSING(batch_norm_backward)
  LOCKSTEP_MISSING(batch_norm_inference)
  LOCKSTEP_MISSING(dropout_apply)
  LOCKSTEP_MISSING(add)
  LOCKSTEP_MISSING(loss_gradient)
  LOCKSTEP_MISSING(add_l2)
  LOCKSTEP_MISSING(scale_gradient)
  LOCKSTEP_MISSING(sgd_step)
  LOCKSTEP_MISSING(adam_step)
  LOCKSTEP_MISSING(rmsprop_step)
  LOCKSTEP_MISSING(square_sums)
  LOCKSTEP_MISSING(running_update)
  LOCKSTEP_MISSING(score_slots)
#undef LOCKSTEP_MISSING
  return table;
}

template KernelTable<float> make_missing_table<float>(std::string_view);
template KernelTable<double> make_missing_table<double>(std::string_view);

}  // namespace lockstep
