#pragma once
// The naive tables: the oracle of every other backend. See variant.hpp for the three builds.

#include "lockstep/kernels/table.hpp"

namespace lockstep {

namespace naive_fma {
template <class T>
KernelTable<T> make_table();
}
namespace naive_portable {
template <class T>
KernelTable<T> make_table();
}
namespace naive_o0 {
template <class T>
KernelTable<T> make_table();
}

/// The optimised build that this machine can run: with the hardware's fma where it has one.
template <class T>
KernelTable<T> make_naive_table();

/// The same loops compiled without optimisation.
template <class T>
KernelTable<T> make_naive_o0_table();

}  // namespace lockstep
