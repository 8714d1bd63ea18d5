#pragma once
// The naive tables: the oracle of every other backend. See variant.hpp for the three builds.

#include "lockstep/kernels/primitives/table.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep {

#define LOCKSTEP_DECLARE_VARIANT(variant) \
  namespace variant {                     \
  template <class T>                      \
  KernelTable<T> make_table();            \
  PrimitiveTable make_primitives();       \
  }
LOCKSTEP_DECLARE_VARIANT(naive_fma)
LOCKSTEP_DECLARE_VARIANT(naive_portable)
LOCKSTEP_DECLARE_VARIANT(naive_o0)
#undef LOCKSTEP_DECLARE_VARIANT

/// The optimised build that this machine can run: with the hardware's fma where it has one.
template <class T>
KernelTable<T> make_naive_table();
PrimitiveTable naive_primitives();

/// The same loops compiled without optimisation. Throws Error(usage) on a machine without fma.
template <class T>
KernelTable<T> make_naive_o0_table();
PrimitiveTable naive_o0_primitives();

}  // namespace lockstep
