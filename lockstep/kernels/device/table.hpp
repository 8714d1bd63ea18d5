#pragma once
// The tables of the device backends: the host side of every kernel, written once for OpenCL and CUDA. A kernel of the
// table works out the shape of a launch and calls context.device().launch().

#include <string_view>

#include "lockstep/kernels/table.hpp"

namespace lockstep {

/// `name` is that of the backend and outlives the table.
template <class T>
KernelTable<T> make_device_table(std::string_view name);

/// One work-item per output, as a first course writes them.
template <class T>
KernelTable<T> make_naive_device_table(std::string_view name);

}  // namespace lockstep
