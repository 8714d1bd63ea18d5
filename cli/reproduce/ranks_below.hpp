#pragma once
// This program again, as several ranks under mpirun, for experiments that run from within one process.

#include <string>
#include <vector>

#include "cli/process/captured.hpp"

namespace lockstep::cli {

/// Whether there is an mpirun, and a library of it beside this program; if not, why.
struct RanksHere {
  bool possible = false;
  std::string why{};  // not
};
RanksHere ranks_here();

/// Runs `lockstep words...` on that many ranks of this machine, one thread each, and waits for its end.
Captured run_on_ranks(int ranks, const std::vector<std::string>& words, const CaptureOptions& options);

}  // namespace lockstep::cli
