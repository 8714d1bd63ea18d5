#include "cli/reproduce/rungs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/reproduce/timing.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/kernels/device/device.hpp"

namespace lockstep::cli {

std::vector<Backend> backends_beside_naive(bool all) {
  std::vector<Backend> backends = {Backend::simd, Backend::library, Backend::opencl, Backend::cuda};
  if (all) backends.insert(backends.end(), {Backend::opencl_naive, Backend::opencl_library});
  return backends;
}

std::string kernels_on(Backend backend, int threads) {
  return fmt::format("{}, {}", backend_info(backend).name, count_of(threads, "thread"));
}

KernelRecord kernel_record(Backend backend, int threads) {
  KernelRecord record{.backend = backend_info(backend).name, .threads = threads};
  if (!on_device(backend)) return record;
  try {
    const DeviceInfo info = open_device(backend)->info();
    record.device = info.name;
    record.device_kind = info.kind;
  } catch (const Error&) {  // the kernels themselves will say it
  }
  return record;
}

std::string device_text(const KernelRecord& kernel) {
  const auto& names = backend_names();
  const auto found = std::find(names.begin(), names.end(), kernel.backend);
  if (found == names.end() || !on_device(static_cast<Backend>(found - names.begin()))) return "";
  if (kernel.device_kind.empty()) return "not recorded whether its device is a GPU";
  return fmt::format("{}: {}", one_line(kernel.device),
                     kernel.device_kind == "gpu"   ? "a GPU"
                     : kernel.device_kind == "cpu" ? "the processor itself, not a GPU"
                                                   : "an accelerator, not a GPU");
}

report::Cell name_cell(const Result& timing, const KernelRecord& kernel) {
  return report::Cell(short_name(timing)).noted(device_text(kernel));
}

report::Tone rung_tone(const KernelRecord& kernel) {
  if (kernel.backend == "naive" || kernel.backend == "naive-o0") return report::Tone::naive;
  if (kernel.backend == "simd") return kernel.threads > 1 ? report::Tone::threads : report::Tone::simd;
  return kernel.backend == "library" ? report::Tone::library : report::Tone::device;
}

const KernelLine* on_one_thread(const std::vector<KernelLine>& timings, const std::string& backend) {
  return first_where(timings, [&](const KernelRecord& each) { return each.backend == backend && each.threads == 1; });
}

const KernelLine* find_on_gpu(const std::vector<KernelLine>& timings) {
  return first_where(timings, [](const KernelRecord& each) { return each.device_kind == "gpu"; });
}

std::vector<KernelLine> canonical(std::vector<KernelLine> trainings) {
  std::erase_if(trainings, [](const KernelRecord& each) { return each.backend.find("library") != std::string::npos; });
  return trainings;
}

report::Table rungs_table(std::string title, const std::vector<KernelLine>& timings) {
  report::Table table{.title = std::move(title),
                      .columns = {report::column("Kernels"), report::column("Time", report::seconds()),
                                  report::column("Against the first", report::ratio()), report::column("Weights")}};
  for (const KernelLine& each : timings) {
    const bool same = each.weight_hash == timings[0].weight_hash;
    table.rows.push_back(
        {.cells = {name_cell(each, each), time_cell(each), median_of(timings[0]) / median_of(each),
                   same ? report::Cell("same bits").marked(report::Mark::same) : report::Cell("other rounding")},
         .mark = &each == timings.data() ? report::Mark::baseline : report::Mark::none,
         .tone = rung_tone(each)});
  }
  table.notes = {
      "Weights: after the first epoch, compared with those of the first row. Libraries add up in an order of "
      "their own."};
  return table;
}

}  // namespace lockstep::cli
