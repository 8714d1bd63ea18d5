// Where the doctor's facts come from: /proc, /sys, and the environment.

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/lab/doctor.hpp"
#include "lockstep/lab/machine.hpp"

namespace lockstep {

namespace {

std::vector<std::string> governors(int processors) {
  std::vector<std::string> names;
  for (int cpu = 0; cpu < processors; ++cpu) {
    std::string name = system_text(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::optional<bool> turbo() {
  if (const std::string off = system_text("/sys/devices/system/cpu/intel_pstate/no_turbo"); !off.empty())
    return off == "0";
  if (const std::string on = system_text("/sys/devices/system/cpu/cpufreq/boost"); !on.empty()) return on == "1";
  return std::nullopt;
}

/// The least of the limits of this process's control group (version 2) and those above it; version 1 where it is one.
std::optional<double> cgroup_cpus() {
  std::optional<double> least;
  const auto consider = [&](std::optional<double> limit) {
    if (limit && (!least || *limit < *least)) least = limit;
  };
  std::istringstream lines(system_text("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("0::")) continue;
    for (std::string path = line.substr(3); !path.empty();
         path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/')))
      consider(parse_cpu_max(system_text("/sys/fs/cgroup" + path + "/cpu.max")));
  }
  consider(parse_cpu_max(system_text("/sys/fs/cgroup/cpu.max")));
  consider(parse_cpu_max(system_text("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + " " +
                         system_text("/sys/fs/cgroup/cpu/cpu.cfs_period_us")));
  return least;
}

std::string hypervisor(const std::string& cpuinfo) {
  const std::size_t flags = cpuinfo.find("flags");
  const std::string line = flags == std::string::npos ? "" : cpuinfo.substr(flags, cpuinfo.find('\n', flags) - flags);
  if (line.find(" hypervisor") == std::string::npos) return "";
  std::string product = system_text("/sys/class/dmi/id/sys_vendor");
  return product.empty() ? "yes" : product;
}

}  // namespace

MachineState look_at_machine() {
  const MachineDescription machine = describe_machine();
  const std::string cpuinfo = system_text("/proc/cpuinfo"), meminfo = system_text("/proc/meminfo");
  MachineState state{
      .load = machine.load, .processors = machine.processors, .allowed = machine.processors, .cores = machine.cores};
  cpu_set_t mask;
  if (::sched_getaffinity(0, sizeof mask, &mask) == 0) state.allowed = std::max(CPU_COUNT(&mask), 1);
  state.smt = system_text("/sys/devices/system/cpu/smt/active") == "1" || machine.processors > machine.cores;
  state.governors = governors(machine.processors);
  state.turbo = turbo();
  state.cgroup_cpus = cgroup_cpus();
  state.memory_bytes = meminfo_bytes(meminfo, "MemTotal");
  state.available_bytes = meminfo_bytes(meminfo, "MemAvailable");
  state.swap_used_bytes = meminfo_bytes(meminfo, "SwapTotal") - meminfo_bytes(meminfo, "SwapFree");
  state.hypervisor = hypervisor(cpuinfo);
  state.instruction_sets = machine.instruction_sets;
#if defined(__x86_64__)
  state.x86 = true;
#endif
  for (const char* name :
       {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_PROC_BIND",
        "OMPI_MCA_hwloc_base_binding_policy", "OMPI_MCA_rmaps_base_mapping_policy", "HYDRA_BINDING", "SLURM_CPU_BIND"})
    if (const auto value = environment_text(name)) state.environment[name] = *value;
  return state;
}

}  // namespace lockstep
