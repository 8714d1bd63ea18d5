// Compiled once per instruction set (see isa.hpp): puts its kernels into a table.

#include "lockstep/kernels/simd/kernels.hpp"

namespace lockstep::LOCKSTEP_SIMD {

template <class T>
void fill_table(KernelTable<T>& table);

template <class T>
void fill_table(KernelTable<T>& table) {
  const char* name = LOCKSTEP_SIMD_NAME;
  table.backend = name;
#define LOCKSTEP_FILL(operation, Args) table.operation = {name, &operation<T>};
  LOCKSTEP_SIMD_OPERATIONS(LOCKSTEP_FILL)
#undef LOCKSTEP_FILL
}

template void fill_table<float>(KernelTable<float>&);
template void fill_table<double>(KernelTable<double>&);

}  // namespace lockstep::LOCKSTEP_SIMD
