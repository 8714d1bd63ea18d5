#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/reproduce/experiment.hpp"

namespace lockstep::cli {

Experiment conv_multicore();

/// The part of this rank, under mpirun: `runs` passes over its share of the kernels. Rank 0 prints the seconds of the
/// slowest rank of each. `data`: the picture of --data; empty: none.
void run_conv_rank(int runs, const std::string& data, Console& console);

inline constexpr const char* kConvPicture =
    "picture";  // the result that says which file it was; none: scrambled numbers
// Series of results. Every one has the number "workers": threads or ranks.
inline constexpr const char* kConvThreads = "threads";
inline constexpr const char* kConvRanks = "ranks";
inline constexpr const char* kConvNaive = "plain loops";  // scaled from "kernels" of the 128
inline constexpr const char* kConvPeers = "software";     // and others; the first is ours

/// Of a result: threads or ranks.
int workers_of(const Result& result);
/// How many times as fast it is on `to` workers as on `from`; nothing: one of them was not measured.
std::optional<Comparison> conv_speed_up(const std::vector<const Result*>& results, int from, int to);

std::vector<Claim> conv_claims();
void describe_conv(const Findings& findings, report::Document& document);

}  // namespace lockstep::cli
