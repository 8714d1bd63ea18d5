#include "lockstep/kernels/library/table.hpp"

#include <type_traits>

#include "lockstep/kernels/simd/table.hpp"

namespace lockstep {

template <class T>
KernelTable<T> make_library_table() {
  KernelTable<T> table = make_simd_table<T>();
  table.backend = "library";
  add_openblas_kernels(table);
  // oneDNN computes in float32 and less, not in float64.
  if constexpr (std::is_same_v<T, float>) add_onednn_kernels(table);
  return table;
}

template KernelTable<float> make_library_table<float>();
template KernelTable<double> make_library_table<double>();

}  // namespace lockstep
