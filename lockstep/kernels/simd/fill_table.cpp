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
}

template void fill_table<float>(KernelTable<float>&);
template void fill_table<double>(KernelTable<double>&);

}  // namespace lockstep::LOCKSTEP_SIMD
