#pragma once
// What on this machine would spoil a measurement: each finding with what it spoils and the cure. Looking at the machine
// and judging what was seen are two functions, so that judging can be tested.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

/// What was seen. Where the system does not say, the fields are empty.
struct MachineState {
  double load = 0;                       // mean number of running processes over the last minute
  int processors = 1;                    // switched on
  int allowed = 1;                       // that this process may use: its affinity mask
  int cores = 1;                         // physical ones
  bool smt = false;                      // hyper-threads are switched on
  std::vector<std::string> governors{};  // of all processors, each name once
  std::optional<bool> turbo{};           // clocks above the nominal one are allowed
  std::optional<double> cgroup_cpus{};   // processors' worth of time that the control group grants
  std::int64_t memory_bytes = 0, available_bytes = 0, swap_used_bytes = 0;
  std::string hypervisor{};                     // "kvm"; empty: none is seen
  std::vector<std::string> instruction_sets{};  // of those that kernels are built for
  bool x86 = false;
  std::map<std::string, std::string> environment{};  // the variables that matter, where they are set
};

MachineState look_at_machine();

/// What is about to be measured; 0 and empty: nothing in particular.
struct Intention {
  int threads = 0, ranks = 0;
  bool uses_library = false;  // OpenBLAS or PyTorch, which have threads of their own
};

struct Finding {
  enum class Grade { good, note, warning };
  Grade grade = Grade::good;
  std::string check;   // "load", "frequency", ...
  std::string seen;    // "load 3.1 on 2 processors"
  std::string spoils;  // empty where it is good
  std::string cure;
};

/// One finding per check, in a fixed order.
std::vector<Finding> examine(const MachineState& state, const Intention& intention = {});

/// The warnings among them as one line each: what results carry.
std::vector<std::string> warning_lines(const std::vector<Finding>& findings);

const char* to_string(Finding::Grade grade);

/// "max 100000" -> nothing; "150000 100000" -> 1.5: the text of cpu.max.
std::optional<double> parse_cpu_max(const std::string& text);
/// "MemAvailable:  123 kB" -> 125952; 0 where the key is missing.
std::int64_t meminfo_bytes(const std::string& meminfo, const std::string& key);

}  // namespace lockstep
