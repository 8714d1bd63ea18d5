#pragma once
// The SIMD tables: lanes over samples, one source for every instruction set, chosen at run time. Every kernel gives the
// bits of the naive one.

#include <string_view>
#include <vector>

#include "lockstep/kernels/primitives/table.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep {

enum class Isa { baseline, avx2, avx512, neon };

/// "baseline", "avx2", "avx512", "neon".
std::string_view isa_name(Isa isa);

/// The instruction sets that this build holds and this machine can run, slowest first. Empty where a build for one
/// machine (LOCKSTEP_ISAS=native) runs on another.
std::vector<Isa> supported_isas();

/// The fastest supported one, or the one that the environment variable LOCKSTEP_ISA names. Throws Error(usage) if that
/// is none of isa_name or not supported here, or if nothing is supported.
Isa chosen_isa();

/// Kernels are named "simd.avx2" and so on. `isa` must be supported.
template <class T>
KernelTable<T> make_simd_table(Isa isa);

/// For chosen_isa().
template <class T>
KernelTable<T> make_simd_table();

/// `isa` must be supported.
PrimitiveTable simd_primitives(Isa isa);

}  // namespace lockstep
