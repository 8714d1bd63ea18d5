#pragma once
#include <string>

#include "cli/reproduce/experiment.hpp"

namespace lockstep::cli {

Experiment conv_multicore();

/// The part of this rank, under mpirun: `runs` passes over its share of the kernels. Rank 0 prints the seconds of the
/// slowest rank of each.
void run_conv_rank(int runs, Console& console);

// Series of results. Every one has the number "workers": threads or ranks.
inline constexpr const char* kConvThreads = "threads";
inline constexpr const char* kConvRanks = "ranks";
inline constexpr const char* kConvNaive = "plain loops";  // scaled from "kernels" of the 128
inline constexpr const char* kConvPeers = "software";     // and others; the first is ours

void describe_conv(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
