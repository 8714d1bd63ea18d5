#include "lockstep/kernels/naive/table.hpp"

#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

bool has_fma() {
#ifdef LOCKSTEP_X86
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

void require_fma() {
  if (!has_fma()) throw Error(ErrorCode::usage, "backend naive-o0 needs a processor with fma; use the backend naive");
}

}  // namespace

template <class T>
KernelTable<T> make_naive_table() {
  return has_fma() ? naive_fma::make_table<T>() : naive_portable::make_table<T>();
}

PrimitiveTable naive_primitives() {
  return has_fma() ? naive_fma::make_primitives() : naive_portable::make_primitives();
}

template <class T>
KernelTable<T> make_naive_o0_table() {
  require_fma();
  return naive_o0::make_table<T>();
}

PrimitiveTable naive_o0_primitives() {
  require_fma();
  return naive_o0::make_primitives();
}

template KernelTable<float> make_naive_table<float>();
template KernelTable<double> make_naive_table<double>();
template KernelTable<float> make_naive_o0_table<float>();
template KernelTable<double> make_naive_o0_table<double>();

}  // namespace lockstep
