#pragma once
// Repeated measurements of several programs that are to be compared, in turns: whatever else the machine does at a
// time, it does to all of them.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lockstep {

struct MeasureOptions {
  double seconds = 0.15;         // to spend on each body, about
  double sample_seconds = 1e-3;  // short bodies are called repeatedly until a sample lasts this long
  int least = 3, most = 31;      // samples of each body; a body that takes longer than `seconds` is sampled once
};

/// Calls something so often, and says how many seconds a call took, by whatever clock it has.
using TimedBody = std::function<double(std::int64_t calls)>;

/// Seconds per call: the samples of each body. Every body is called once before, to warm up; that call counts as a
/// sample where it alone takes longer than `seconds`.
std::vector<std::vector<double>> measure_in_turns(std::span<const TimedBody> bodies,
                                                  const MeasureOptions& options = {});

/// By the steady clock of the host.
TimedBody timed(std::function<void()> body);

}  // namespace lockstep
