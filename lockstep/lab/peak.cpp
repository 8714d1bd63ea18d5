#include "lockstep/lab/peak.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/openblas.hpp"
#include "lockstep/lab/machine.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/peak/kernel.hpp"
#include "lockstep/lab/together.hpp"

namespace lockstep {

namespace {

std::vector<PeakKernel> peak_kernels() {
  std::vector<PeakKernel> kernels = {peak_baseline::peak_kernel()};
#ifdef LOCKSTEP_X86
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kernels.push_back(peak_avx2::peak_kernel());
  if (__builtin_cpu_supports("avx512f")) kernels.push_back(peak_avx512::peak_kernel());
#endif
  return kernels;
}

/// Nothing named: the widest, which is the fastest on every processor that has it.
PeakKernel find_kernel(const std::string& isa) {
  const std::vector<PeakKernel> kernels = peak_kernels();
  if (isa.empty()) return kernels.back();
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const PeakKernel& k) { return k.isa == isa; });
  if (found == kernels.end())
    throw Error(ErrorCode::usage, fmt::format("this processor has no instruction set {}", isa));
  return *found;
}

/// Rounds that take about `seconds`.
template <class Run>
std::int64_t rounds_for(double seconds, const Run& run) {
  for (std::int64_t rounds = 1024;; rounds *= 4)
    if (const double time = timed_seconds([&] { run(rounds); }); time > seconds / 8)
      return std::max<std::int64_t>(static_cast<std::int64_t>(double(rounds) * seconds / time), 1);
}

/// One run of the FMA loop: long against starting threads, short against a time slice.
constexpr double kPeakRun = 0.001;

template <class T>
double measure_gemm(OpenBlas::Gemm<T> gemm, std::int64_t size, double seconds) {
  const int n = static_cast<int>(size);
  AlignedBuffer<T> a(size * size), b(size * size), c(size * size);
  for (std::int64_t i = 0; i < size * size; ++i) {
    a[i] = T(i % 7) - T(3);
    b[i] = T(i % 5) - T(2);
  }
  const double time = best_time_together(1, 3, seconds, [&](int) {
    gemm(OpenBlas::kRowMajor, OpenBlas::kNoTranspose, OpenBlas::kNoTranspose, n, n, n, T(1), a.data(), n, b.data(), n,
         T(0), c.data(), n);
  });
  return 2 * std::pow(double(size), 3) / time;
}

}  // namespace

std::vector<std::string> peak_isas() {
  std::vector<std::string> names;
  for (const PeakKernel& kernel : peak_kernels()) names.emplace_back(kernel.isa);
  return names;
}

double measure_fma_peak(Scalar scalar, int threads, const std::string& isa, double seconds) {
  const PeakKernel kernel = find_kernel(isa);
  const auto run = [&](std::int64_t rounds) {
    // The result goes somewhere, so the loop cannot be left out.
    volatile double sink = scalar == Scalar::float32 ? double(kernel.run_float(rounds)) : kernel.run_double(rounds);
    static_cast<void>(sink);
  };
  const std::int64_t rounds = rounds_for(kPeakRun, run);
  const double time = best_time_together(threads, 5, seconds, [&](int) { run(rounds); });
  const double flops = scalar == Scalar::float32 ? kernel.float_flops : kernel.double_flops;
  return flops * double(rounds) * double(threads) / time;
}

double measure_memory_bandwidth(int threads, double seconds) {
  constexpr std::int64_t kLeast = std::int64_t{64} << 20, kMost = std::int64_t{1} << 30;
  const std::int64_t bytes = std::clamp(4 * largest_cache_bytes(), kLeast, kMost);
  const std::int64_t part = bytes / 3 / static_cast<std::int64_t>(sizeof(double)) / threads;
  struct Arrays {
    AlignedBuffer<double> a, b, c;
  };
  std::vector<Arrays> arrays(static_cast<std::size_t>(threads));
  // Each thread touches its part first, so that the pages lie near the core that works on them.
  time_together(threads, [&](int index) {
    Arrays& own = arrays[static_cast<std::size_t>(index)];
    own = {AlignedBuffer<double>(part), AlignedBuffer<double>(part), AlignedBuffer<double>(part)};
    std::fill_n(own.b.data(), part, 1.0);
    std::fill_n(own.c.data(), part, 2.0);
  });
  const double time = best_time_together(threads, 4, seconds, [&](int index) {
    Arrays& own = arrays[static_cast<std::size_t>(index)];
    double* const a = own.a.data();
    const double *const b = own.b.data(), *const c = own.c.data();
    for (std::int64_t i = 0; i < part; ++i) a[i] = b[i] + 3.0 * c[i];
  });
  return 3.0 * double(sizeof(double)) * double(part) * double(threads) / time;
}

std::optional<double> measure_openblas(Scalar scalar, int threads, std::int64_t size, double seconds) {
  const OpenBlas& blas = openblas();
  if (!blas.loaded()) return std::nullopt;
  blas.set_num_threads(threads);
  const double rate = scalar == Scalar::float32 ? measure_gemm<float>(blas.sgemm, size, seconds)
                                                : measure_gemm<double>(blas.dgemm, size, seconds);
  // Kernels, which use the library next, expect one thread per call.
  blas.set_num_threads(1);
  return rate;
}

std::string openblas_description() {
  const OpenBlas& blas = openblas();
  return blas.loaded() && blas.get_config != nullptr ? blas.get_config() : "";
}

}  // namespace lockstep
