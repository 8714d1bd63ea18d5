#include "lockstep/lab/peak.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/lab/machine.hpp"
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
    throw Error(ExitCode::usage, fmt::format("this processor has no instruction set {}", isa));
  return *found;
}

/// Rounds that take about `seconds`.
template <class Run>
std::int64_t rounds_for(double seconds, const Run& run) {
  using Clock = std::chrono::steady_clock;
  for (std::int64_t rounds = 1024;; rounds *= 4) {
    const auto start = Clock::now();
    run(rounds);
    const double time = std::chrono::duration<double>(Clock::now() - start).count();
    if (time > seconds / 8)
      return std::max<std::int64_t>(static_cast<std::int64_t>(double(rounds) * seconds / time), 1);
  }
}

/// One run of the FMA loop: long against starting threads, short against a time slice.
constexpr double kPeakRun = 0.001;

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

}  // namespace lockstep
