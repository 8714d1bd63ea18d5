#pragma once
// openmp-cuda-pytorch: one network serially, on OpenMP threads, on a device, by libraries and in PyTorch.

#include <memory>
#include <string>
#include <vector>

#include "cli/reproduce/contest.hpp"
#include "cli/reproduce/openmp_cuda_pytorch/records.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

Experiment openmp_cuda_pytorch();

/// The network of the timings, 2-300-300-300-300-300-300-1, sigmoids throughout.
Network deep_network();
TrainOptions deep_options(Backend backend, int threads, std::int64_t batch);
std::shared_ptr<const Dataset> moon_points(std::int64_t count);

// Names of the series of results.
inline constexpr const char *kMoonCurves = "moons", *kThreadTimes = "threads", *kKindTimes = "kinds",
                            *kSectionTimes = "sections", *kBatchTimes = "batches", *kPeerTimes = "PyTorch",
                            *kLayers = "forward through layer", *kTrained = "trained from weights";

// The parts of measuring, in their order.
void measure_moons(const ExperimentRun& run);
void time_threads(const ExperimentRun& run);
void measure_sections(const ExperimentRun& run);
void time_batches(const ExperimentRun& run);
void time_pytorch(const ExperimentRun& run);
void measure_not_a_number(const ExperimentRun& run);

/// The epochs on moons, for Lockstep and for PyTorch alike.
std::int64_t moon_epochs();

std::vector<Claim> openmp_claims();

// The parts of the report.
void describe_moons(const Findings& findings, report::Document& document);
void describe_threads(const Findings& findings, report::Document& document);
void describe_sections(const Findings& findings, report::Document& document);
void describe_batches(const Findings& findings, report::Document& document);
void describe_pytorch(const Findings& findings, report::Document& document);
void describe_not_a_number(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
