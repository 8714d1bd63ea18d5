#pragma once
// LOCKSTEP_INLINE marks the small functions that kernels share. Kernel sources are compiled several times
// with different instruction sets; were such a function emitted as an ordinary inline symbol, the linker
// would keep one copy for all of them, perhaps one with instructions this machine lacks.
#define LOCKSTEP_INLINE inline __attribute__((always_inline))
