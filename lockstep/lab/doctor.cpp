#include "lockstep/lab/doctor.hpp"
#include "lockstep/core/words.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lockstep {

namespace {

using Grade = Finding::Grade;

constexpr double kGiga = 1.0 / double(std::int64_t{1} << 30);

Finding check_load(const MachineState& s) {
  const std::string seen = fmt::format("{:.2f} on {} processor{}", s.load, s.processors, s.processors == 1 ? "" : "s");
  // The last minute includes our own earlier command: below half a processor nothing else need be running.
  if (s.load < 0.5) return {Grade::good, "load", seen, "", ""};
  return {s.load < 0.75 * s.processors ? Grade::note : Grade::warning, "load", seen,
          "whatever else runs takes processors and caches away: times grow, by different amounts in every sample",
          "end other programs (top shows them), or wait a minute after a build"};
}

Finding check_frequency(const MachineState& s) {
  if (s.governors.empty())
    return {Grade::note, "frequency",
            s.hypervisor.empty() ? "no frequency scaling is visible" : "decided by the host, not visible here",
            "clocks may change during a measurement without being seen",
            "nothing to do from here; the intervals show it"};
  const std::string seen = fmt::format("governor {}{}", fmt::join(s.governors, ", "),
                                       s.turbo ? (*s.turbo ? ", turbo on" : ", turbo off") : "");
  if (s.governors == std::vector<std::string>{"performance"} && !s.turbo.value_or(false))
    return {Grade::good, "frequency", seen, "", ""};
  const bool governed = s.governors != std::vector<std::string>{"performance"};
  return {governed ? Grade::warning : Grade::note, "frequency", seen,
          governed ? "processors start slow and speed up under load: short samples and first samples are too long"
                   : "one busy core clocks higher than many: speed-ups look smaller than they are",
          governed ? "sudo cpupower frequency-set -g performance"
                   : "switch turbo off for scaling curves (BIOS, or intel_pstate/no_turbo)"};
}

Finding check_smt(const MachineState& s) {
  if (!s.smt) return {Grade::good, "smt", fmt::format("{}, one per core", count_of(s.processors, "processor")), "", ""};
  return {Grade::note, "smt", fmt::format("{} on {}", count_of(s.processors, "processor"), count_of(s.cores, "core")),
          "two threads on one core share its arithmetic: the second brings little, and scaling bends at the number of "
          "cores",
          "judge scaling up to the number of cores; OMP_PLACES=cores keeps threads apart"};
}

Finding check_affinity(const MachineState& s) {
  const std::string seen = fmt::format("this process may use {} of {} processors", s.allowed, s.processors);
  if (s.allowed >= s.processors) return {Grade::good, "affinity", seen, "", ""};
  return {Grade::note, "affinity", seen, "more threads than that share processors",
          "taskset -c, or the launcher's binding options, widen the mask"};
}

Finding check_cgroup(const MachineState& s) {
  if (!s.cgroup_cpus) return {Grade::good, "cgroup", "no limit of processor time", "", ""};
  const std::string seen = fmt::format("{:.2f} processors' worth of time, {} allowed", *s.cgroup_cpus, s.allowed);
  if (*s.cgroup_cpus >= s.allowed) return {Grade::good, "cgroup", seen, "", ""};
  return {Grade::warning, "cgroup", seen,
          "when the share is used up all threads are stopped until the next period: times jump by up to 100 ms",
          "give the container as many cpus as it may use (docker run --cpus), or use fewer threads"};
}

Finding check_oversubscription(const MachineState& s, const Intention& i) {
  const int workers = std::max(i.threads, 1) * std::max(i.ranks, 1);
  const std::string seen = fmt::format("{} on {}", count_of(workers, "worker"), count_of(s.allowed, "processor"));
  if (workers <= s.allowed) return {Grade::good, "oversubscription", seen, "", ""};
  return {Grade::warning, "oversubscription", seen,
          "workers take turns on a processor; a worker at a barrier waits for a whole time slice",
          fmt::format("at most {} threads x ranks", s.allowed)};
}

Finding check_binding(const MachineState& s, const Intention& i) {
  for (const char* name :
       {"OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_rmaps_base_mapping_policy", "HYDRA_BINDING", "SLURM_CPU_BIND"})
    if (const auto found = s.environment.find(name); found != s.environment.end())
      return {Grade::note, "mpi binding", fmt::format("{}={}", name, found->second),
              "ranks bound to one core each leave their threads no room",
              fmt::format("unset {}, or bind to none", name)};
  if (i.ranks > 1 || s.environment.contains("OMP_PROC_BIND"))
    return {Grade::good, "mpi binding",
            s.environment.contains("OMP_PROC_BIND") ? "OMP_PROC_BIND is set" : "ranks are bound to none", "", ""};
  return {Grade::good, "mpi binding", "nothing set", "", ""};
}

Finding check_blas(const MachineState& s, const Intention& i) {
  std::vector<std::string> set;
  for (const char* name : {"OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "GOTO_NUM_THREADS"})
    if (const auto found = s.environment.find(name); found != s.environment.end())
      set.push_back(fmt::format("{}={}", name, found->second));
  if (set.empty()) return {Grade::good, "blas threads", "no variable set; Lockstep sets one thread per call", "", ""};
  return {Grade::note, "blas threads", fmt::format("{}", fmt::join(set, ", ")),
          i.uses_library ? "libraries and PyTorch start that many threads, whatever was asked for"
                         : "programs start that many threads where nothing else is said",
          "unset it, or set it to the number of threads that is measured"};
}

Finding check_instructions(const MachineState& s) {
  const auto has = [&](const char* name) {
    return std::find(s.instruction_sets.begin(), s.instruction_sets.end(), name) != s.instruction_sets.end();
  };
  const std::string seen = fmt::format("{}", fmt::join(s.instruction_sets, ", "));
  if (!s.x86 || has("avx2")) return {Grade::good, "instructions", seen, "", ""};
  return {Grade::warning, "instructions", seen,
          "without AVX2 the SIMD rungs compute four lanes at a time without fused multiply-add hardware",
          s.hypervisor.empty() ? "measure on a processor with AVX2"
                               : "let the virtual machine see the host's processor (-cpu host)"};
}

Finding check_memory(const MachineState& s) {
  const std::string seen =
      fmt::format("{:.1f} of {:.1f} GiB free{}", double(s.available_bytes) * kGiga, double(s.memory_bytes) * kGiga,
                  s.swap_used_bytes > (std::int64_t{64} << 20)
                      ? fmt::format(", {:.1f} GiB swapped out", double(s.swap_used_bytes) * kGiga)
                      : "");
  if (s.memory_bytes == 0) return {Grade::note, "memory", "unknown", "", ""};
  if (s.available_bytes >= (std::int64_t{512} << 20) && s.available_bytes * 20 >= s.memory_bytes)
    return {Grade::good, "memory", seen, "", ""};
  return {Grade::warning, "memory", seen, "the system swaps or drops cached files: data loads again from disk",
          "end other programs, or use data.limit"};
}

Finding check_virtual(const MachineState& s) {
  if (s.hypervisor.empty()) return {Grade::good, "virtual machine", "none seen", "", ""};
  return {Grade::note, "virtual machine", s.hypervisor,
          "other guests share caches, memory and, where the host is full, processors: nothing here shows it but wider "
          "intervals",
          "compare rungs of one run only; repeat on real hardware before a figure is published"};
}

}  // namespace

std::vector<Finding> examine(const MachineState& s, const Intention& i) {
  return {check_load(s),       check_frequency(s), check_smt(s),
          check_affinity(s),   check_cgroup(s),    check_oversubscription(s, i),
          check_binding(s, i), check_blas(s, i),   check_instructions(s),
          check_memory(s),     check_virtual(s)};
}

std::vector<std::string> warning_lines(const std::vector<Finding>& findings) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings)
    if (finding.grade == Grade::warning)
      lines.push_back(fmt::format("{}: {}; {}", finding.check, finding.seen, finding.spoils));
  return lines;
}

const char* to_string(Finding::Grade grade) {
  return grade == Grade::good ? "good" : grade == Grade::note ? "note" : "warning";
}

std::optional<double> parse_cpu_max(const std::string& text) {
  const char* const begin = text.c_str();
  char* end = nullptr;
  const double quota = std::strtod(begin, &end);
  if (end == begin || quota <= 0) return std::nullopt;
  const char* const second = end;
  const double period = std::strtod(second, &end);
  if (end == second || period <= 0) return std::nullopt;
  return quota / period;
}

std::int64_t meminfo_bytes(const std::string& meminfo, const std::string& key) {
  const std::size_t at = meminfo.find(key + ":");
  if (at == std::string::npos || (at > 0 && meminfo[at - 1] != '\n')) return 0;
  return std::max<std::int64_t>(std::strtoll(meminfo.c_str() + at + key.size() + 1, nullptr, 10), 0) << 10;
}

}  // namespace lockstep
