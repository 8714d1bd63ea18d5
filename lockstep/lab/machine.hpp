#pragma once
// What this machine is: as far as a measurement must say where it was made.

#include <cstdint>
#include <string>
#include <vector>

#include "lockstep/core/fields.hpp"

namespace lockstep {

struct CacheLevel {
  int level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  std::int64_t bytes = 0;
  int shared_by = 1;  // processors
  static constexpr auto fields() {
    using R = CacheLevel;
    return std::make_tuple(field("level", &R::level), field("type", &R::type), field("bytes", &R::bytes),
                           field("shared_by", &R::shared_by));
  }
};

struct MachineDescription {
  std::string processor;  // model name, "unknown" where the system does not say
  int processors = 1;     // that the system has switched on; a process may be allowed fewer
  int cores = 1;          // physical ones, as far as known
  std::vector<CacheLevel> caches{};
  std::vector<std::string> instruction_sets{};  // of those that kernels are built for
  double load = 0;  // mean number of running processes over the last minute; others disturb a measurement
  static constexpr auto fields() {
    using R = MachineDescription;
    return std::make_tuple(field("processor", &R::processor), field("processors", &R::processors),
                           field("cores", &R::cores), field("caches", &R::caches),
                           field("instruction_sets", &R::instruction_sets), field("load", &R::load));
  }
};

MachineDescription describe_machine();

/// 32 MiB where the system does not say.
std::int64_t largest_cache_bytes();

/// A file of /proc or /sys without the line ends behind it; empty where it is missing.
std::string system_text(const std::string& path);

// For tests: the parts that read text.

/// The first "model name" of /proc/cpuinfo (or what stands for it on other processors).
std::string processor_name(const std::string& cpuinfo);
/// The number of different (physical id, core id) pairs in /proc/cpuinfo; 0 where it has none.
int count_cores(const std::string& cpuinfo);
/// "512K" -> 524288, "32M"; 0 for anything else.
std::int64_t parse_cache_size(const std::string& text);
/// "0-3,8" -> 5; 1 for anything else.
int count_cpu_list(const std::string& text);

}  // namespace lockstep
