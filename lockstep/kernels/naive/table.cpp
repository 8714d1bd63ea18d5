#include "lockstep/kernels/naive/table.hpp"

#include "lockstep/core/error.hpp"

namespace lockstep {

template <class T>
KernelTable<T> make_naive_table() {
#ifdef LOCKSTEP_X86
  return __builtin_cpu_supports("fma") ? naive_fma::make_table<T>() : naive_portable::make_table<T>();
#else
  return naive_fma::make_table<T>();
#endif
}

template <class T>
KernelTable<T> make_naive_o0_table() {
#ifdef LOCKSTEP_X86
  if (!__builtin_cpu_supports("fma"))
    throw Error(ExitCode::usage, "backend naive-o0 needs a processor with fma; use the backend naive");
#endif
  return naive_o0::make_table<T>();
}

template KernelTable<float> make_naive_table<float>();
template KernelTable<double> make_naive_table<double>();
template KernelTable<float> make_naive_o0_table<float>();
template KernelTable<double> make_naive_o0_table<double>();

}  // namespace lockstep
