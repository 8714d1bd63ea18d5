#include "lockstep/lab/doctor.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace lockstep {
namespace {

using Grade = Finding::Grade;

MachineState quiet_machine() {
  return {.load = 0.1,
          .processors = 8,
          .allowed = 8,
          .cores = 8,
          .governors = {"performance"},
          .turbo = false,
          .memory_bytes = std::int64_t{16} << 30,
          .available_bytes = std::int64_t{8} << 30,
          .instruction_sets = {"baseline", "avx2"},
          .x86 = true};
}

Finding of(const std::string& check, const MachineState& state, const Intention& intention = {}) {
  const auto findings = examine(state, intention);
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) { return f.check == check; });
  EXPECT_NE(found, findings.end()) << check;
  return *found;
}

TEST(Doctor, AQuietMachineIsGood) {
  for (const Finding& finding : examine(quiet_machine(), {.threads = 2, .ranks = 4}))
    EXPECT_EQ(finding.grade, Grade::good) << finding.check << ": " << finding.seen;
  EXPECT_TRUE(warning_lines(examine(quiet_machine())).empty());
}

TEST(Doctor, EveryTroubleHasItsFindingAndACure) {
  MachineState bad = quiet_machine();
  bad.load = 9;
  bad.governors = {"powersave"};
  bad.cgroup_cpus = 1.5;
  bad.available_bytes = 1 << 20;
  bad.instruction_sets = {"baseline"};
  for (const char* check : {"load", "frequency", "cgroup", "memory", "instructions", "oversubscription"}) {
    const Finding finding = of(check, bad, {.threads = 5, .ranks = 2});
    EXPECT_EQ(finding.grade, Grade::warning) << check;
    EXPECT_FALSE(finding.spoils.empty()) << check;
    EXPECT_FALSE(finding.cure.empty()) << check;
  }
  EXPECT_EQ(warning_lines(examine(bad, {.threads = 5, .ranks = 2})).size(), 6U);
}

TEST(Doctor, NotesAreNoWarnings) {
  MachineState state = quiet_machine();
  state.smt = true;
  state.cores = 4;
  state.allowed = 4;
  state.hypervisor = "QEMU";
  state.turbo = true;
  state.environment = {{"OMP_NUM_THREADS", "3"}, {"OMPI_MCA_hwloc_base_binding_policy", "core"}};
  for (const char* check : {"smt", "affinity", "virtual machine", "frequency", "blas threads", "mpi binding"})
    EXPECT_EQ(of(check, state).grade, Grade::note) << check;
  EXPECT_TRUE(warning_lines(examine(state)).empty());
  EXPECT_NE(of("blas threads", state).seen.find("OMP_NUM_THREADS=3"), std::string::npos);
}

TEST(Doctor, ReadsWhatTheSystemSays) {
  EXPECT_EQ(parse_cpu_max("150000 100000"), 1.5);
  EXPECT_FALSE(parse_cpu_max("max 100000"));
  EXPECT_FALSE(parse_cpu_max("-1 100000"));
  EXPECT_FALSE(parse_cpu_max(""));
  EXPECT_FALSE(parse_cpu_max("100"));
  const std::string meminfo = "MemTotal:       2048 kB\nMemAvailable:    1024 kB\nMem:  -7 kB\n";
  EXPECT_EQ(meminfo_bytes(meminfo, "MemTotal"), 2048 * 1024);
  EXPECT_EQ(meminfo_bytes(meminfo, "MemAvailable"), 1024 * 1024);
  EXPECT_EQ(meminfo_bytes(meminfo, "Available"), 0);
  EXPECT_EQ(meminfo_bytes(meminfo, "Mem"), 0);
  EXPECT_EQ(meminfo_bytes("", "MemTotal"), 0);
}

TEST(Doctor, LooksAtThisMachine) {
  const MachineState state = look_at_machine();
  EXPECT_GE(state.allowed, 1);
  EXPECT_LE(state.allowed, state.processors);
  EXPECT_GT(state.memory_bytes, 0);
  EXPECT_FALSE(state.instruction_sets.empty());
}

}  // namespace
}  // namespace lockstep
