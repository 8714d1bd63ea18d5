#pragma once
// The backend is a run-time value: a name of the command line becomes a table of kernels.

#include <string>
#include <vector>

#include "lockstep/kernels/table.hpp"

namespace lockstep {

enum class Backend { simd, naive, naive_o0 };

/// "simd", "naive", "naive-o0": in the order of Backend.
const std::vector<std::string>& backend_names();

template <class T>
KernelTable<T> make_table(Backend backend);

}  // namespace lockstep
