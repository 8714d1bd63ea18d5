#pragma once
#include <string_view>

#include "lockstep/kernels/table.hpp"

namespace lockstep {

/// A table of refusals, "opencl has no conv2d_forward", for a backend to overwrite with what it has: a device never
/// falls back to kernels of the host.
template <class T>
KernelTable<T> make_missing_table(std::string_view name);

}  // namespace lockstep
