#pragma once
// Times of several variants, taken in turns, with every sample in results.jsonl.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli/reproduce/experiment.hpp"
#include "lockstep/lab/sampling.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep::cli {

struct Variant {
  std::string name;            // "simd, 2 threads"
  std::function<void()> body;  // what is timed
  // What somebody needs to know to do it again.
  std::map<std::string, double> numbers{};
  std::map<std::string, std::string> words{};
  std::string weight_hash{};
};

/// Samples the variants in turns and keeps a result of kind "measurement" of each, named "series: name", with all its
/// samples. The baseline of speed-ups is the first variant.
void time_variants(const ExperimentRun& run, const std::string& series, std::span<const Variant> variants,
                   const SamplingRule& rule);

/// The same for samples of one variant that were taken elsewhere, by another program. `baseline`: the name of a variant
/// of the series.
void keep_samples(const ExperimentRun& run, const std::string& series, const Variant& variant,
                  const std::string& baseline, std::vector<double> samples);

/// Below tables that show devices.
inline constexpr const char* kDeviceNote =
    "An OpenCL device may be the processor itself (PoCL, see lockstep doctor): its time is then no time of a GPU.";

/// The median with its 95 % interval (where there are samples enough for one) and all samples, for a table.
report::Cell time_cell(const Result& timing);

}  // namespace lockstep::cli
