#include "cli/reproduce/rungs.hpp"

#include <fmt/format.h>

#include "cli/reproduce/timing.hpp"

#include "lockstep/core/words.hpp"

namespace lockstep::cli {

std::vector<Backend> backends_beside_naive(bool all) {
  std::vector<Backend> backends = {Backend::simd, Backend::library, Backend::opencl, Backend::cuda};
  if (all) backends.insert(backends.end(), {Backend::opencl_naive, Backend::opencl_library});
  return backends;
}

std::string kernels_on(Backend backend, int threads) {
  return fmt::format("{}, {}", backend_names()[static_cast<std::size_t>(backend)], count_of(threads, "thread"));
}

report::Tone rung_tone(const Result& timing) {
  const std::string backend = timing.word("backend");
  if (backend == "naive" || backend == "naive-o0") return report::Tone::naive;
  if (backend == "simd") return timing.number("threads").value_or(1) > 1 ? report::Tone::threads : report::Tone::simd;
  return backend == "library" ? report::Tone::library : report::Tone::device;
}

report::Table rungs_table(std::string title, const std::vector<const Result*>& timings) {
  report::Table table{.title = std::move(title),
                      .columns = {{.title = "Kernels"},
                                  {.title = "Time", .format = report::seconds()},
                                  {.title = "Against the first", .format = report::ratio()},
                                  {.title = "Weights"}}};
  for (const Result* each : timings) {
    const bool same = each->weight_hash == timings[0]->weight_hash;
    table.rows.push_back(
        {.cells = {short_name(*each), time_cell(*each), median_of(*timings[0]) / median_of(*each),
                   same ? report::Cell("same bits").marked(report::Mark::same) : report::Cell("other rounding")},
         .mark = each == timings[0] ? report::Mark::baseline : report::Mark::none,
         .tone = rung_tone(*each)});
  }
  table.notes = {
      "Weights: after the first epoch, compared with those of the first row. Libraries add up in an order of "
      "their own."};
  return table;
}

}  // namespace lockstep::cli
