#pragma once
// What this machine can do at best: the measure of every kernel. All rates are the best of repeated short runs, because
// whatever else the machine does can only make them smaller.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

enum class Scalar { float32, float64 };

/// Names of the instruction sets this processor has and this build measures, slowest first: baseline, avx2, avx512.
std::vector<std::string> peak_isas();

/// Operations per second of multiply-adds that never leave the registers (a multiply-add is two), on `threads` threads
/// at once. `isa` is one of peak_isas(); empty: the last of them. `seconds`: how long to try.
double measure_fma_peak(Scalar scalar, int threads, const std::string& isa = "", double seconds = 0.1);

/// Bytes per second of a[i] = b[i] + s * c[i] over three arrays of float64 that together are at least four times the
/// largest cache, each thread on its own part. Counted as 24 bytes per element: what the loop names, not what the cache
/// fetches besides.
double measure_memory_bandwidth(int threads, double seconds = 0.3);

/// Operations per second of OpenBLAS' sgemm or dgemm for square matrices of `size`, 2 size^3 operations; nothing where
/// libopenblas.so.0 cannot be loaded.
std::optional<double> measure_openblas(Scalar scalar, int threads, std::int64_t size = 1024, double seconds = 0.3);

/// "OpenBLAS 0.3.21 ...", as the library describes itself; empty where it is absent.
std::string openblas_description();

}  // namespace lockstep
