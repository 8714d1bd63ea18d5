#include "lockstep/kernels/simd/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/cpu_features.hpp"
#include "lockstep/kernels/naive/table.hpp"
#include "lockstep_built_isas.hpp"

namespace lockstep {

// One namespace per instruction set of this build: see isa.hpp.
#define LOCKSTEP_DECLARE_ISA(isa)           \
  namespace simd_##isa {                    \
    template <class T>                      \
    void fill_table(KernelTable<T>& table); \
    PrimitiveTable make_primitives();       \
  }
LOCKSTEP_BUILT_ISAS(LOCKSTEP_DECLARE_ISA)
#undef LOCKSTEP_DECLARE_ISA

namespace {

constexpr std::array<std::string_view, 4> kIsaNames = {"baseline", "avx2", "avx512", "neon"};

std::string names_of(const std::vector<Isa>& isas) {
  std::vector<std::string_view> names;
  for (const Isa isa : isas) names.push_back(isa_name(isa));
  return fmt::format("{}", fmt::join(names, ", "));
}

#if defined(__aarch64__)
constexpr bool kArm = true;
#else
constexpr bool kArm = false;
#endif

/// Whether the processor has the instructions.
bool can_run(Isa isa) {
  switch (isa) {
    case Isa::baseline:
      return !kArm;
    case Isa::neon:
      return kArm;
    case Isa::avx2:
      return cpu_features().avx2;
    case Isa::avx512:
      return cpu_features().avx512;
  }
  return false;
}

#define LOCKSTEP_NAME(isa) Isa::isa,
constexpr std::array kBuilt = {LOCKSTEP_BUILT_ISAS(LOCKSTEP_NAME)};
#undef LOCKSTEP_NAME

}  // namespace

std::string_view isa_name(Isa isa) { return kIsaNames[static_cast<std::size_t>(isa)]; }

std::vector<Isa> supported_isas() {
  std::vector<Isa> isas;
  std::copy_if(kBuilt.begin(), kBuilt.end(), std::back_inserter(isas), can_run);
  return isas;
}

Isa chosen_isa() {
  const std::vector<Isa> supported = supported_isas();
  if (supported.empty())
    throw Error(ErrorCode::usage,
                fmt::format("this build has SIMD kernels for {} only, which this processor cannot run; build it again "
                            "with all instruction sets (make build, or cmake -DLOCKSTEP_ISAS=all)",
                            names_of({kBuilt.begin(), kBuilt.end()})));
  const auto wanted = environment_text("LOCKSTEP_ISA");
  if (!wanted) return supported.back();
  const auto named = std::find(kIsaNames.begin(), kIsaNames.end(), *wanted);
  const Isa isa = static_cast<Isa>(named - kIsaNames.begin());
  if (std::find(supported.begin(), supported.end(), isa) != supported.end()) return isa;
  if (named != kIsaNames.end() && can_run(isa) && std::find(kBuilt.begin(), kBuilt.end(), isa) == kBuilt.end())
    throw Error(ErrorCode::usage, fmt::format("LOCKSTEP_ISA={}: not in this build; use one of {}, or build all "
                                              "instruction sets (make build, or cmake -DLOCKSTEP_ISAS=all)",
                                              *wanted, names_of(supported)));
  throw Error(ErrorCode::usage,
              fmt::format("LOCKSTEP_ISA={}: not on this machine; use one of {}", *wanted, names_of(supported)));
}

template <class T>
KernelTable<T> make_simd_table(Isa isa) {
  KernelTable<T> table = make_naive_table<T>();
#define LOCKSTEP_FILL(name) \
  if (isa == Isa::name) simd_##name::fill_table(table);
  LOCKSTEP_BUILT_ISAS(LOCKSTEP_FILL)
#undef LOCKSTEP_FILL
  return table;
}

PrimitiveTable simd_primitives(Isa isa) {
#define LOCKSTEP_PRIMITIVES(name) \
  if (isa == Isa::name) return simd_##name::make_primitives();
  LOCKSTEP_BUILT_ISAS(LOCKSTEP_PRIMITIVES)
#undef LOCKSTEP_PRIMITIVES
  throw Error(ErrorCode::bug, fmt::format("this build has no kernels for {}", isa_name(isa)));
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
