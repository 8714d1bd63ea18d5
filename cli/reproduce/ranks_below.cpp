#include "cli/reproduce/ranks_below.hpp"

#include <fmt/format.h>

#include "cli/process/mpirun.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep::cli {

RanksHere ranks_here() {
  try {
    static_cast<void>(find_mpirun(""));
    return {.possible = true};
  } catch (const Error& error) {
    return {.why = error.what()};
  }
}

Captured run_on_ranks(int ranks, const std::vector<std::string>& words, const CaptureOptions& options) {
  const StartCommand start = start_command(find_mpirun(""), {.command = words}, ranks, {}, false, "reproduce");
  CaptureOptions with = options;
  with.environment.insert(with.environment.end(), start.environment.begin(), start.environment.end());
  with.environment.emplace_back("OMP_NUM_THREADS", "1");
  return run_captured(start.words, with);
}

}  // namespace lockstep::cli
