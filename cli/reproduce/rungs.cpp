#include "cli/reproduce/rungs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/output/console.hpp"
#include "cli/reproduce/timing.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/kernels/device/device.hpp"

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

std::map<std::string, std::string> kernel_words(Backend backend) {
  std::map<std::string, std::string> words = {{"backend", backend_names()[static_cast<std::size_t>(backend)]}};
  if (!on_device(backend)) return words;
  try {
    const DeviceInfo info = open_device(backend)->info();
    words["device"] = info.name;
    words["device_kind"] = info.kind;
  } catch (const Error&) {  // the kernels themselves will say it
  }
  return words;
}

std::string device_text(const Result& timing) {
  const std::string backend = timing.word("backend"), kind = timing.word("device_kind");
  const auto& names = backend_names();
  const auto found = std::find(names.begin(), names.end(), backend);
  if (found == names.end() || !on_device(static_cast<Backend>(found - names.begin()))) return "";
  if (kind.empty()) return "not recorded whether its device is a GPU";
  return fmt::format("{}: {}", one_line(timing.word("device")),
                     kind == "gpu"   ? "a GPU"
                     : kind == "cpu" ? "the processor itself, not a GPU"
                                     : "an accelerator, not a GPU");
}

report::Cell name_cell(const Result& timing) { return report::Cell(short_name(timing)).noted(device_text(timing)); }

const Result* on_one_thread(const std::vector<const Result*>& timings, const std::string& backend) {
  const auto found = std::find_if(timings.begin(), timings.end(), [&](const Result* each) {
    return each->word("backend") == backend && each->number("threads").value_or(1) == 1;
  });
  return found == timings.end() ? nullptr : *found;
}

const Result* find_on_gpu(const std::vector<const Result*>& timings) {
  const auto found = std::find_if(timings.begin(), timings.end(),
                                  [](const Result* each) { return each->word("device_kind") == "gpu"; });
  return found == timings.end() ? nullptr : *found;
}

std::vector<const Result*> canonical(std::vector<const Result*> trainings) {
  std::erase_if(trainings,
                [](const Result* each) { return each->word("backend").find("library") != std::string::npos; });
  return trainings;
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
        {.cells = {name_cell(*each), time_cell(*each), median_of(*timings[0]) / median_of(*each),
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
