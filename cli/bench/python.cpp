#include "cli/bench/primitives.hpp"

#include <fmt/format.h>

#include "cli/process/captured.hpp"
#include "cli/process/tools.hpp"

namespace lockstep::cli {

namespace {

/// The most capable one that there is.
std::optional<std::string> best_python() {
  for (const std::vector<std::string>& modules :
       {std::vector<std::string>{"numpy", "numba"}, std::vector<std::string>{"numpy"}, std::vector<std::string>{}})
    if (auto found = find_python(modules)) return found;
  return std::nullopt;
}

void read_line(const Json& line, PythonTimes& times) {
  if (line.contains("version")) {
    times.version = line.at("version").get<std::string>();
    const auto missing = line.at("missing").get<std::vector<std::string>>();
    if (!missing.empty()) times.missing = fmt::format("{}: not installed for this Python", fmt::join(missing, ", "));
    return;
  }
  PrimitiveResult result{.samples = line.at("samples").get<std::vector<double>>(),
                         .calls = line.at("calls").get<std::int64_t>(),
                         .part = line.at("part").get<double>(),
                         .result = "right"};
  result.subject.kind =
      line.at("kind").get<std::string>() == "python" ? PrimitiveKind::python : PrimitiveKind::python_library;
  result.subject.name = line.at("name").get<std::string>();
  result.subject.kernel = "python " + times.version;
  times.results.push_back(std::move(result));
}

}  // namespace

PythonTimes measure_python(const std::string& primitive, std::int64_t n, std::int64_t k, bool quick) {
  const auto python = best_python();
  if (!python) return {.missing = "Python: no python3 on PATH"};
  // One thread, as the loops have: numpy's product would take all processors.
  const Captured said = run_captured(
      {*python, "-c", primitives_script(), primitive, std::to_string(n), std::to_string(k), quick ? "quick" : "whole"},
      {.patience = std::chrono::minutes(3),
       .environment = {{"OPENBLAS_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}}});
  PythonTimes times;
  try {
    for (std::size_t start = 0; start < said.out.size();) {
      const std::size_t end = std::min(said.out.find('\n', start), said.out.size());
      read_line(Json::parse(said.out.substr(start, end - start)), times);
      start = end + 1;
    }
  } catch (const Json::exception&) {
    times.missing = "Python: it said something that is no result";
  }
  if (!said.ok()) times.missing = "Python: " + said.reason();
  return times;
}

}  // namespace lockstep::cli
