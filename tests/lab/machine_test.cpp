#include "lockstep/lab/machine.hpp"

#include <gtest/gtest.h>

#include "lockstep/lab/peak.hpp"

namespace lockstep {
namespace {

constexpr const char* kCpuinfo =
    "processor\t: 0\nvendor_id\t: X\nmodel\t\t: 1\nmodel name\t: Fast Thing 9000\nphysical id\t: 0\ncore id\t\t: 0\n\n"
    "processor\t: 1\nmodel name\t: Fast Thing 9000\nphysical id\t: 0\ncore id\t\t: 0\n\n"
    "processor\t: 2\nmodel name\t: Fast Thing 9000\nphysical id\t: 0\ncore id\t\t: 1\n\n"
    "processor\t: 3\nmodel name\t: Fast Thing 9000\nphysical id\t: 1\ncore id\t\t: 1\n";

TEST(Machine, ReadsCpuinfo) {
  EXPECT_EQ(processor_name(kCpuinfo), "Fast Thing 9000");
  EXPECT_EQ(count_cores(kCpuinfo), 3);  // two threads share the first
  EXPECT_EQ(processor_name("processor : 0\n"), "unknown");
  EXPECT_EQ(processor_name(""), "unknown");
  EXPECT_EQ(processor_name("model name\t:\n"), "unknown");
  EXPECT_EQ(count_cores(""), 0);
}

TEST(Machine, ReadsCacheSizes) {
  EXPECT_EQ(parse_cache_size("512K"), 524288);
  EXPECT_EQ(parse_cache_size("32M"), 33554432);
  for (const char* bad : {"", "K", "512", "512KB", "-1K", "x"}) EXPECT_EQ(parse_cache_size(bad), 0) << bad;
}

TEST(Machine, CountsCpuLists) {
  EXPECT_EQ(count_cpu_list("0"), 1);
  EXPECT_EQ(count_cpu_list("0-3"), 4);
  EXPECT_EQ(count_cpu_list("0-3,8,10-11"), 7);
  for (const char* bad : {"", "x", "3-1", "1-", "1-x"}) EXPECT_EQ(count_cpu_list(bad), 1) << bad;
}

TEST(Machine, DescribesThisOne) {
  const MachineDescription machine = describe_machine();
  EXPECT_FALSE(machine.processor.empty());
  EXPECT_GE(machine.processors, 1);
  EXPECT_GE(machine.cores, 1);
  EXPECT_EQ(machine.instruction_sets, peak_isas());
  for (const CacheLevel& cache : machine.caches) EXPECT_LE(cache.bytes, largest_cache_bytes());
  EXPECT_GT(largest_cache_bytes(), 0);
}

}  // namespace
}  // namespace lockstep
