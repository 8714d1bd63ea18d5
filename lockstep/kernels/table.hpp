#pragma once
// The table of kernels of one backend: one kernel per operation of operations.hpp, each with the name that reports
// print. SIMD and library backends start from a complete table and overwrite the kernels they do better.

#include <string_view>

#include "lockstep/kernels/context.hpp"
#include "lockstep/kernels/operations.hpp"

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
#define LOCKSTEP_KERNEL(operation, Args) Kernel<Args<T>> operation;
  LOCKSTEP_OPERATIONS(LOCKSTEP_KERNEL)
#undef LOCKSTEP_KERNEL
};

/// visit("linear_forward", table.linear_forward), and so on for every operation, in the order of the list.
template <class T, class Visit>
void for_each_kernel(const KernelTable<T>& table, const Visit& visit) {
#define LOCKSTEP_VISIT(operation, Args) visit(std::string_view(#operation), table.operation);
  LOCKSTEP_OPERATIONS(LOCKSTEP_VISIT)
#undef LOCKSTEP_VISIT
}

}  // namespace lockstep
