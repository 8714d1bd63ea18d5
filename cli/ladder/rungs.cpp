#include "cli/ladder/rungs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

std::string device_title(const std::string& backend) {
  const bool cuda = backend.starts_with("cuda");
  std::string kind = backend.ends_with("naive") ? ", plain kernels" : backend.ends_with("library") ? ", library" : "";
  return fmt::format("{}{}", cuda ? "CUDA" : "OpenCL", kind);
}

/// A rung of that very name stands for itself alone: naive is not naive-o0.
bool fits(const Rung& rung, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return rung.id == name;
  return rung.id.starts_with(name + "-") || to_string(rung.group) == name;
}

}  // namespace

std::vector<int> worker_counts(int most) {
  std::vector<int> counts;
  for (int count = 1; count < most; count *= 2) counts.push_back(count);
  counts.push_back(most);
  return counts;
}

std::vector<Rung> all_rungs(int processors, const std::vector<std::string>& backends) {
  std::vector<Rung> rungs = {
      {"naive-o0", "plain loops, not optimised", RungGroup::naive, "naive-o0"},
      {"naive", "plain loops, optimised", RungGroup::naive, "naive"},
      {"library", "library kernels, 1 thread", RungGroup::library, "library"},
      {"simd", "SIMD kernels, 1 thread", RungGroup::simd, "simd"},
  };
  for (const int n : worker_counts(processors))
    if (n > 1)
      rungs.push_back({fmt::format("threads-{}", n), fmt::format("SIMD kernels, {} threads", n), RungGroup::threads,
                       "simd", "", n, 1});
  for (const int n : worker_counts(processors))
    if (n > 1)
      rungs.push_back(
          {fmt::format("ranks-{}", n), fmt::format("SIMD kernels, {} ranks", n), RungGroup::ranks, "simd", "", 1, n});
  for (int ranks = 2; ranks * 2 <= processors; ranks *= 2) {
    const int threads = processors / ranks;
    rungs.push_back({fmt::format("hybrid-{}x{}", ranks, threads),
                     fmt::format("SIMD kernels, {} ranks x {} threads", ranks, threads), RungGroup::hybrid, "simd", "",
                     threads, ranks});
  }
  for (const std::string& backend : backends)
    if (backend.starts_with("opencl") || backend.starts_with("cuda"))
      rungs.push_back({backend, device_title(backend), RungGroup::device, backend});
  const std::string on = fmt::format("{} thread{}", processors, processors == 1 ? "" : "s");
  rungs.push_back({"torch-eager", "PyTorch, eager, " + on, RungGroup::peer, "torch", "eager", processors});
  rungs.push_back({"torch-compile", "PyTorch, compile, " + on, RungGroup::peer, "torch", "compile", processors});
  rungs.push_back({"jax", "JAX, scan, " + on, RungGroup::peer, "jax", "scan", processors});
  for (const int n : worker_counts(processors))
    if (n > 1)
      rungs.push_back({fmt::format("weak-{}", n), fmt::format("{} threads, {} times the batch and the samples", n, n),
                       RungGroup::weak, "simd", "", n, 1, n});
  return rungs;
}

std::vector<Rung> chosen_rungs(const std::vector<Rung>& all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<std::string> known;
  for (const Rung& rung : all) known.push_back(rung.id);
  for (const std::string& name : names)
    if (std::none_of(all.begin(), all.end(), [&](const Rung& rung) { return fits(rung, name, known); }))
      throw Error(ExitCode::usage, fmt::format("--rungs {}: no such rung here{}", name, suggestion(name, known)));
  std::vector<Rung> chosen;
  for (const Rung& rung : all)
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return fits(rung, name, known); }))
      chosen.push_back(rung);
  return chosen;
}

const char* to_string(RungGroup group) {
  switch (group) {
    case RungGroup::naive:
      return "naive";
    case RungGroup::library:
      return "library";
    case RungGroup::simd:
      return "simd";
    case RungGroup::threads:
      return "threads";
    case RungGroup::ranks:
      return "ranks";
    case RungGroup::hybrid:
      return "hybrid";
    case RungGroup::device:
      return "device";
    case RungGroup::peer:
      return "peer";
    case RungGroup::weak:
      return "weak";
  }
  return "";
}

}  // namespace lockstep::cli
