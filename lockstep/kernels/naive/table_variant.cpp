// Compiled once per variant (see variant.hpp): all naive kernels in float and double, and the table of them.

#include "lockstep/kernels/naive/activation.hpp"
#include "lockstep/kernels/naive/add.hpp"
#include "lockstep/kernels/naive/attention.hpp"
#include "lockstep/kernels/naive/batch_norm.hpp"
#include "lockstep/kernels/naive/conv2d.hpp"
#include "lockstep/kernels/naive/dropout.hpp"
#include "lockstep/kernels/naive/layer_norm.hpp"
#include "lockstep/kernels/naive/linear.hpp"
#include "lockstep/kernels/naive/loss.hpp"
#include "lockstep/kernels/naive/optimizer.hpp"
#include "lockstep/kernels/naive/pool2d.hpp"
#include "lockstep/kernels/naive/primitives.hpp"
#include "lockstep/kernels/naive/recurrent.hpp"
#include "lockstep/kernels/naive/softmax.hpp"
#include "lockstep/kernels/naive/table.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

template <class T>
KernelTable<T> make_table() {
  const char* name = LOCKSTEP_NAIVE_NAME;
#define LOCKSTEP_NAIVE_KERNEL(operation, Args) \
  .operation = {name, [](const Args<T>& a, KernelContext&) { operation(a); }},
  return {.backend = name, LOCKSTEP_OPERATIONS(LOCKSTEP_NAIVE_KERNEL)};
#undef LOCKSTEP_NAIVE_KERNEL
}

PrimitiveTable make_primitives() {
  return {.name = LOCKSTEP_NAIVE_NAME,
          .elementwise_max = [](const ElementwiseMax& a) { elementwise_max(a); },
          .xxt = [](const Xxt& a) { xxt(a); }};
}

template KernelTable<float> make_table<float>();
template KernelTable<double> make_table<double>();

}  // namespace lockstep::LOCKSTEP_NAIVE
