#include "cli/ladder/rungs.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <fmt/format.h>

#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

constexpr int kMostWorkers = 256;  // a larger number is a typing error

std::string device_title(const std::string& backend) {
  const bool cuda = backend.starts_with("cuda");
  std::string kind = backend.ends_with("naive") ? ", plain kernels" : backend.ends_with("library") ? ", library" : "";
  return fmt::format("{}{}", cuda ? "CUDA" : "OpenCL", kind);
}

Rung simd_rung(RungGroup group, std::string number, std::string title, int threads, int ranks = 1, int growth = 1) {
  return {fmt::format("{}-{}", enum_name(group), number), std::move(title), group, "simd", "", threads, ranks, growth};
}

Rung threads_rung(int n) {
  return simd_rung(RungGroup::threads, std::to_string(n), fmt::format("SIMD kernels, {} threads", n), n);
}

Rung ranks_rung(int n) {
  return simd_rung(RungGroup::ranks, std::to_string(n), fmt::format("SIMD kernels, {} ranks", n), 1, n);
}

Rung hybrid_rung(int ranks, int threads) {
  return simd_rung(RungGroup::hybrid, fmt::format("{}x{}", ranks, threads),
                   fmt::format("SIMD kernels, {} ranks x {} threads", ranks, threads), threads, ranks);
}

Rung weak_rung(int n) {
  return simd_rung(RungGroup::weak, std::to_string(n),
                   fmt::format("{0} threads, {0} times the batch and the samples", n), n, 1, n);
}

/// "threads-4", "ranks-3", "hybrid-2x2", "weak-4" on a machine with fewer processors: may be named all the same.
std::optional<Rung> rung_by_numbers(const std::string& name) {
  const auto dash = name.find('-');
  if (dash == std::string::npos) return std::nullopt;
  int first = 0, second = 0, used = 0;
  const char* numbers = name.c_str() + dash + 1;
  const auto whole = [&](int wanted, int got) {
    return got == wanted && numbers[used] == '\0' && first >= 2 && first <= kMostWorkers && second <= kMostWorkers;
  };
  const std::string group = name.substr(0, dash);
  if (group == "hybrid") {
    if (!whole(2, std::sscanf(numbers, "%4dx%4d%n", &first, &second, &used)) || second < 1) return std::nullopt;
    return hybrid_rung(first, second);
  }
  if (!whole(1, std::sscanf(numbers, "%4d%n", &first, &used))) return std::nullopt;
  if (group == "threads") return threads_rung(first);
  if (group == "ranks") return ranks_rung(first);
  return group == "weak" ? std::optional(weak_rung(first)) : std::nullopt;
}

/// 2, 4, ... and `most`; none where that is 1.
std::vector<int> worker_counts(int most) {
  std::vector<int> counts;
  for (int count = 2; count < most; count *= 2) counts.push_back(count);
  if (most > 1) counts.push_back(most);
  return counts;
}

/// A rung of that very name stands for itself alone: naive is not naive-o0.
bool fits(const Rung& rung, const std::string& name, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return rung.id == name;
  return rung.id.starts_with(name + "-") || enum_name(rung.group) == name;
}

}  // namespace

std::vector<Rung> all_rungs(int processors, const std::vector<std::string>& backends) {
  std::vector<Rung> rungs = {
      {"naive-o0", "plain loops, not optimised", RungGroup::naive, "naive-o0"},
      {"naive", "plain loops, optimised", RungGroup::naive, "naive"},
      {"library", "library kernels, 1 thread", RungGroup::library, "library"},
      {"simd", "SIMD kernels, 1 thread", RungGroup::simd, "simd"},
  };
  for (const int n : worker_counts(processors)) rungs.push_back(threads_rung(n));
  for (const int n : worker_counts(processors)) rungs.push_back(ranks_rung(n));
  for (int ranks = 2; ranks * 2 <= processors; ranks *= 2) rungs.push_back(hybrid_rung(ranks, processors / ranks));
  for (const std::string& backend : backends)
    if (backend.starts_with("opencl") || backend.starts_with("cuda"))
      rungs.push_back({backend, device_title(backend), RungGroup::device, backend});
  const std::string on = count_of(processors, "thread");
  rungs.push_back({"torch-eager", "PyTorch, eager, " + on, RungGroup::peer, "torch", "eager", processors});
  rungs.push_back({"torch-compile", "PyTorch, compile, " + on, RungGroup::peer, "torch", "compile", processors});
  rungs.push_back({"jax", "JAX, scan, " + on, RungGroup::peer, "jax", "scan", processors});
  for (const int n : worker_counts(processors)) rungs.push_back(weak_rung(n));
  return rungs;
}

std::vector<Rung> chosen_rungs(std::vector<Rung> all, const std::vector<std::string>& names) {
  if (names.empty()) return all;
  std::vector<std::string> known;
  for (const Rung& rung : all) known.push_back(rung.id);
  for (const std::string& name : names) {
    if (std::any_of(all.begin(), all.end(), [&](const Rung& rung) { return fits(rung, name, known); })) continue;
    const auto crowded = rung_by_numbers(name);
    if (!crowded)
      throw Error(ErrorCode::usage, fmt::format("--rungs {}: no such rung here{}", name, suggestion(name, known)));
    all.push_back(*crowded);
    known.push_back(name);
  }
  std::vector<Rung> chosen;
  for (const Rung& rung : all)
    if (std::any_of(names.begin(), names.end(), [&](const std::string& name) { return fits(rung, name, known); }))
      chosen.push_back(rung);
  // Those with more workers than processors stand behind the others of their group.
  std::stable_sort(chosen.begin(), chosen.end(), [](const Rung& a, const Rung& b) { return a.group < b.group; });
  return chosen;
}

int share_of(const Rung& rung, int processors) {
  const bool shared =
      rung.group == RungGroup::threads || rung.group == RungGroup::ranks || rung.group == RungGroup::hybrid;
  return shared ? std::min(rung.workers(), processors) : 1;
}

std::vector<LeftOutRung> missing_groups(const std::vector<Rung>& rungs, int processors) {
  struct Group {
    RungGroup group;
    const char *title, *needs, *example;
  };
  std::vector<LeftOutRung> missing;
  for (const Group& each : {Group{RungGroup::threads, "SIMD kernels on threads", "2 processors", "threads-2"},
                            {RungGroup::ranks, "SIMD kernels on ranks", "2 processors", "ranks-2"},
                            {RungGroup::hybrid, "SIMD kernels, ranks x threads", "4 processors", "hybrid-2x2"}})
    if (std::none_of(rungs.begin(), rungs.end(), [&](const Rung& rung) { return rung.group == each.group; }))
      missing.push_back({{enum_name(each.group), each.title, each.group},
                         fmt::format("needs {}, and there {} {}; --rungs simd,{} tries it all the same", each.needs,
                                     processors == 1 ? "is" : "are", processors, each.example)});
  return missing;
}

}  // namespace lockstep::cli
