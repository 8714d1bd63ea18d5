#pragma once
// The kinds of kernels that experiments compare with plain loops, and how reports show them.

#include <string>
#include <vector>

#include "cli/reproduce/claim.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/lab/report/document.hpp"

namespace lockstep::cli {

/// SIMD, libraries and devices; `all`: also the plain kernels and the libraries of OpenCL, which take long to start.
/// Whether this machine has them is seen when they are used.
std::vector<Backend> backends_beside_naive(bool all);

/// "simd, 2 threads"
std::string kernels_on(Backend backend, int threads);

/// Which kernels did it. Lines of other programs have no backend.
struct KernelRecord {
  std::string backend{};
  int threads = 1;
  std::string device{}, device_kind{};  // its name; gpu, cpu or accelerator
  static constexpr auto fields() {
    using R = KernelRecord;
    return std::make_tuple(defaulted("backend", &R::backend), defaulted("threads", &R::threads),
                           defaulted("device", &R::device), defaulted("device_kind", &R::device_kind));
  }
};
using KernelLine = Line<KernelRecord>;

/// With the device that these kernels run on.
KernelRecord kernel_record(Backend backend, int threads);

/// Whether the device is a GPU, for a reader: "PoCL ... is a processor, not a GPU"; empty for kernels of the processor.
std::string device_text(const KernelRecord& kernel);
/// The name of a line; below it, for a device, whether that is a GPU.
report::Cell name_cell(const Result& timing, const KernelRecord& kernel);
report::Tone rung_tone(const KernelRecord& kernel);

/// The one by these kernels on one thread; null: none.
const KernelLine* on_one_thread(const std::vector<KernelLine>& timings, const std::string& backend);
/// The first that was measured on a GPU; null: none was.
const KernelLine* find_on_gpu(const std::vector<KernelLine>& timings);
/// Those whose weights are promised to be the same: all but the library kernels.
std::vector<KernelLine> canonical(std::vector<KernelLine> trainings);

/// A row for each: name, time, ratio to the first, and whether the weights are those of the first.
report::Table rungs_table(std::string title, const std::vector<KernelLine>& timings);

}  // namespace lockstep::cli
