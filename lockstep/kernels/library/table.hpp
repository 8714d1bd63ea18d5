#pragma once
// The library table: OpenBLAS for linear layers, oneDNN for convolution, pooling and batch normalisation in float32,
// and our SIMD kernels for everything else. It is what to compare with: its results agree with naive within the bounds
// of rounding (tests/kernels/library derives them), are the same from run to run, and are not under the promise.

#include "lockstep/kernels/table.hpp"

namespace lockstep {

struct OpenBlas;

/// Kernels are named "openblas", "onednn" or after the SIMD table they were taken from. Throws Error(usage) with what
/// to install where a library is missing.
template <class T>
KernelTable<T> make_library_table();

/// Throws Error(usage) unless the library was loaded.
void require_openblas(const OpenBlas& blas);

template <class T>
void add_openblas_kernels(KernelTable<T>& table);

/// Defined in library/, or in absent/ where the build did not find oneDNN; throws Error(usage) where it is missing.
void add_onednn_kernels(KernelTable<float>& table);

}  // namespace lockstep
