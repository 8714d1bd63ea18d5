#include "lockstep/lab/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "lockstep/lab/peak.hpp"

namespace lockstep {

namespace {

std::vector<CacheLevel> caches_of_first_cpu() {
  std::vector<CacheLevel> caches;
  for (int index = 0; index < 16; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string level = system_text(folder + "level");
    if (level.empty()) break;
    caches.push_back({.level = std::atoi(level.c_str()),
                      .type = system_text(folder + "type"),
                      .bytes = parse_cache_size(system_text(folder + "size")),
                      .shared_by = count_cpu_list(system_text(folder + "shared_cpu_list"))});
  }
  return caches;
}

/// The value of "key : value", trimmed; empty where the line is another one.
std::string value_of(const std::string& line, std::string_view key) {
  if (!line.starts_with(key)) return "";
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) return "";
  const std::size_t first = line.find_first_not_of(" \t", colon + 1);
  return first == std::string::npos ? "" : line.substr(first);
}

}  // namespace

std::string system_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  while (!all.empty() && all.back() == '\n') all.pop_back();
  return all;
}

std::string processor_name(const std::string& cpuinfo) {
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);)
    for (const std::string_view key : {"model name", "Model", "CPU part", "cpu"})
      if (std::string value = value_of(line, key); !value.empty()) return value;
  return "unknown";
}

int count_cores(const std::string& cpuinfo) {
  std::istringstream lines(cpuinfo);
  std::set<std::pair<std::string, std::string>> cores;
  std::string package;
  for (std::string line; std::getline(lines, line);) {
    if (const std::string value = value_of(line, "physical id"); !value.empty()) package = value;
    if (const std::string value = value_of(line, "core id"); !value.empty()) cores.insert({package, value});
  }
  return static_cast<int>(cores.size());
}

std::int64_t parse_cache_size(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || number < 0 || end - rest != 1) return 0;
  return *rest == 'K' ? number << 10 : *rest == 'M' ? number << 20 : *rest == 'G' ? number << 30 : 0;
}

int count_cpu_list(const std::string& text) {
  int count = 0;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    int first = 0, last = 0;
    const char* const end = part.data() + part.size();
    const auto [middle, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc{}) return 1;
    last = first;
    if (middle != end && (*middle != '-' || std::from_chars(middle + 1, end, last).ptr != end)) return 1;
    if (last < first) return 1;
    count += last - first + 1;
  }
  return std::max(count, 1);
}

MachineDescription describe_machine() {
  const std::string cpuinfo = system_text("/proc/cpuinfo");
  MachineDescription machine{.processor = processor_name(cpuinfo),
                             .processors = std::max(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), 1),
                             .caches = caches_of_first_cpu(),
                             .instruction_sets = peak_isas()};
  const int cores = count_cores(cpuinfo);
  machine.cores = cores > 0 ? cores : machine.processors;
  double load = 0;
  if (getloadavg(&load, 1) == 1) machine.load = load;
  return machine;
}

std::int64_t largest_cache_bytes() {
  std::int64_t largest = 0;
  for (const CacheLevel& cache : caches_of_first_cpu()) largest = std::max(largest, cache.bytes);
  return largest > 0 ? largest : std::int64_t{32} << 20;
}

}  // namespace lockstep
