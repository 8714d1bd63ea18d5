#include "lockstep/run/verbose.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "lockstep/parallel/team.hpp"

namespace lockstep {

namespace {

using Named = std::pair<std::string_view, std::string_view>;  // operation, kernel

template <class T>
std::vector<Named> kernels_of(const KernelTable<T>& table) {
  std::vector<Named> all;
  for_each_kernel(table,
                  [&](std::string_view operation, const auto& kernel) { all.emplace_back(operation, kernel.name); });
  return all;
}

std::vector<Named> kernels_of(Backend backend, Precision precision) {
  return precision == Precision::float32 ? kernels_of(make_table<float>(backend))
                                         : kernels_of(make_table<double>(backend));
}

}  // namespace

std::vector<std::string> kernel_lines(Backend backend, Precision precision) {
  const std::vector<Named> kernels = kernels_of(backend, precision);
  std::vector<std::string_view> names;
  for (const auto& [operation, name] : kernels)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  if (names.size() == 1) return {fmt::format("kernels {}: all operations", names.front())};
  std::vector<std::string> lines;
  for (const std::string_view name : names) {
    std::vector<std::string_view> served;
    for (const auto& [operation, kernel] : kernels)
      if (kernel == name) served.push_back(operation);
    lines.push_back(fmt::format("kernels {}: {}", name, fmt::join(served, ", ")));
  }
  return lines;
}

std::optional<std::string> promise_note(Backend backend) {
  if (keeps_the_promise(backend)) return std::nullopt;
  return fmt::format("backend {}: agrees with the others within rounding, not bit for bit",
                     backend_names()[static_cast<std::size_t>(backend)]);
}

std::vector<std::string> verbose_lines(Backend backend, Precision precision, int threads) {
  std::vector<std::string> lines = kernel_lines(backend, precision);
  for (std::string& line : thread_map(threads)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace lockstep
