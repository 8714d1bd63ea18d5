#include "lockstep/kernels/simd/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/cpu_features.hpp"
#include "lockstep/kernels/naive/table.hpp"

namespace lockstep {

#if defined(__x86_64__)
namespace simd_baseline {
template <class T>
void fill_table(KernelTable<T>& table);
}
namespace simd_avx2 {
template <class T>
void fill_table(KernelTable<T>& table);
}
#if defined(LOCKSTEP_AVX512)
namespace simd_avx512 {
template <class T>
void fill_table(KernelTable<T>& table);
}
#endif
#elif defined(__aarch64__)
namespace simd_neon {
template <class T>
void fill_table(KernelTable<T>& table);
}
#else
namespace simd_baseline {
template <class T>
void fill_table(KernelTable<T>& table);
}
#endif

namespace {

constexpr std::array<std::string_view, 4> kIsaNames = {"baseline", "avx2", "avx512", "neon"};

std::vector<std::string_view> names_of(const std::vector<Isa>& isas) {
  std::vector<std::string_view> names;
  for (const Isa isa : isas) names.push_back(isa_name(isa));
  return names;
}

}  // namespace

std::string_view isa_name(Isa isa) { return kIsaNames[static_cast<std::size_t>(isa)]; }

std::vector<Isa> supported_isas() {
#if defined(__x86_64__)
  const CpuFeatures cpu = cpu_features();
  std::vector<Isa> isas = {Isa::baseline};
  if (cpu.avx2) isas.push_back(Isa::avx2);
#if defined(LOCKSTEP_AVX512)
  if (cpu.avx512) isas.push_back(Isa::avx512);
#endif
  return isas;
#elif defined(__aarch64__)
  return {Isa::neon};
#else
  return {Isa::baseline};
#endif
}

Isa chosen_isa() {
  const std::vector<Isa> supported = supported_isas();
  const auto wanted = environment_text("LOCKSTEP_ISA");
  if (!wanted) return supported.back();
  const auto named = std::find(kIsaNames.begin(), kIsaNames.end(), *wanted);
  const Isa isa = static_cast<Isa>(named - kIsaNames.begin());
  if (std::find(supported.begin(), supported.end(), isa) == supported.end())
    throw Error(ExitCode::usage, fmt::format("LOCKSTEP_ISA={}: not on this machine; use one of {}", *wanted,
                                             fmt::join(names_of(supported), ", ")));
  return isa;
}

template <class T>
KernelTable<T> make_simd_table([[maybe_unused]] Isa isa) {
  KernelTable<T> table = make_naive_table<T>();
#if defined(__x86_64__)
  if (isa == Isa::baseline) simd_baseline::fill_table(table);
  if (isa == Isa::avx2) simd_avx2::fill_table(table);
#if defined(LOCKSTEP_AVX512)
  if (isa == Isa::avx512) simd_avx512::fill_table(table);
#endif
#elif defined(__aarch64__)
  simd_neon::fill_table(table);
#else
  simd_baseline::fill_table(table);
#endif
  return table;
}

template <class T>
KernelTable<T> make_simd_table() {
  return make_simd_table<T>(chosen_isa());
}

template KernelTable<float> make_simd_table<float>(Isa);
template KernelTable<double> make_simd_table<double>(Isa);
template KernelTable<float> make_simd_table<float>();
template KernelTable<double> make_simd_table<double>();

}  // namespace lockstep
