#pragma once
// The kinds of kernels that experiments compare with plain loops, and how reports show them.

#include <map>
#include <string>
#include <vector>

#include "cli/reproduce/findings.hpp"
#include "lockstep/kernels/backend.hpp"
#include "lockstep/lab/report/document.hpp"

namespace lockstep::cli {

/// SIMD, libraries and devices; `all`: also the plain kernels and the libraries of OpenCL, which take long to start.
/// Whether this machine has them is seen when they are used.
std::vector<Backend> backends_beside_naive(bool all);

/// "simd, 2 threads"
std::string kernels_on(Backend backend, int threads);

/// Words of a result by these kernels: "backend"; on a device also "device", its name, and "device_kind": gpu, cpu or
/// accelerator.
std::map<std::string, std::string> kernel_words(Backend backend);

/// Whether the device is a GPU, for a reader: "PoCL ... is a processor, not a GPU"; empty for kernels of the processor.
std::string device_text(const Result& timing);
/// Its name; below it, for a device, whether that is a GPU.
report::Cell name_cell(const Result& timing);
/// The one by these kernels on one thread; null: none.
const Result* on_one_thread(const std::vector<const Result*>& timings, const std::string& backend);
/// The first that was measured on a GPU; null: none was.
const Result* find_on_gpu(const std::vector<const Result*>& timings);
/// Those whose weights are promised to be the same: all but the library kernels.
std::vector<const Result*> canonical(std::vector<const Result*> trainings);

/// By its words "backend" and its number "threads".
report::Tone rung_tone(const Result& timing);

/// A row for each: name, time, ratio to the first, and whether the weights are those of the first.
report::Table rungs_table(std::string title, const std::vector<const Result*>& timings);

}  // namespace lockstep::cli
