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

// The instruction sets of this build, slowest first: each has a namespace of its own (isa.hpp).
#if defined(__x86_64__) && defined(LOCKSTEP_AVX512)
#define LOCKSTEP_ISAS(X) X(baseline) X(avx2) X(avx512)
#elif defined(__x86_64__)
#define LOCKSTEP_ISAS(X) X(baseline) X(avx2)
#elif defined(__aarch64__)
#define LOCKSTEP_ISAS(X) X(neon)
#else
#define LOCKSTEP_ISAS(X) X(baseline)
#endif

#define LOCKSTEP_DECLARE_ISA(isa)           \
  namespace simd_##isa {                    \
    template <class T>                      \
    void fill_table(KernelTable<T>& table); \
    PrimitiveTable make_primitives();       \
  }
LOCKSTEP_ISAS(LOCKSTEP_DECLARE_ISA)
#undef LOCKSTEP_DECLARE_ISA

namespace {

#define LOCKSTEP_ISA_VALUE(isa) Isa::isa,
constexpr Isa kBuilt[] = {LOCKSTEP_ISAS(LOCKSTEP_ISA_VALUE)};
#undef LOCKSTEP_ISA_VALUE

constexpr std::array<std::string_view, 4> kIsaNames = {"baseline", "avx2", "avx512", "neon"};

std::vector<std::string_view> names_of(const std::vector<Isa>& isas) {
  std::vector<std::string_view> names;
  for (const Isa isa : isas) names.push_back(isa_name(isa));
  return names;
}

}  // namespace

std::string_view isa_name(Isa isa) { return kIsaNames[static_cast<std::size_t>(isa)]; }

std::vector<Isa> supported_isas() {
  const CpuFeatures cpu = cpu_features();
  std::vector<Isa> isas;
  for (const Isa isa : kBuilt)
    if ((isa != Isa::avx2 || cpu.avx2) && (isa != Isa::avx512 || cpu.avx512)) isas.push_back(isa);
  return isas;
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
KernelTable<T> make_simd_table(Isa isa) {
  KernelTable<T> table = make_naive_table<T>();
#define LOCKSTEP_FILL_TABLE(name) \
  if (isa == Isa::name) simd_##name::fill_table(table);
  LOCKSTEP_ISAS(LOCKSTEP_FILL_TABLE)
#undef LOCKSTEP_FILL_TABLE
  return table;
}

PrimitiveTable simd_primitives(Isa isa) {
#define LOCKSTEP_PRIMITIVES(name) \
  if (isa == Isa::name) return simd_##name::make_primitives();
  LOCKSTEP_ISAS(LOCKSTEP_PRIMITIVES)
#undef LOCKSTEP_PRIMITIVES
  throw Error(ExitCode::bug, fmt::format("this build has no kernels for {}", isa_name(isa)));
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
