#pragma once
// The kinds of kernels that experiments compare with plain loops, and how reports show them.

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

/// By its words "backend" and its number "threads".
report::Tone rung_tone(const Result& timing);

/// A row for each: name, time, ratio to the first, and whether the weights are those of the first.
report::Table rungs_table(std::string title, const std::vector<const Result*>& timings);

}  // namespace lockstep::cli
