#pragma once
// The backend is a run-time value: a name of the command line becomes a table of kernels.

#include <string>
#include <vector>

#include "lockstep/kernels/table.hpp"

namespace lockstep {

enum class Backend {
  simd,
  naive,
  naive_o0,
  library,
  opencl,
  opencl_naive,
  opencl_library,
  cuda,
  cuda_naive,
  cuda_library
};

/// "simd", "naive", "naive-o0", "library", "opencl", "opencl-naive", ...: in the order of Backend.
const std::vector<std::string>& backend_names();

/// Whether its results are the bits of the promise. Those of the libraries agree within rounding, which every table
/// that shows them says.
bool keeps_the_promise(Backend backend);

/// Throws Error(usage) where this machine or this build cannot run the backend, with what to do.
template <class T>
KernelTable<T> make_table(Backend backend);

}  // namespace lockstep
