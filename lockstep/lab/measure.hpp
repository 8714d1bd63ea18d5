#pragma once
// The time of a call, and repeated measurements of several programs that are to be compared, in turns: whatever else
// the machine does at a time, it does to all of them.

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace lockstep {

/// On the clock that never goes back.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds that one call takes.
template <class Body>
double timed_seconds(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct MeasureOptions {
  double seconds = 0.15;         // to spend on each body, about
  double sample_seconds = 1e-3;  // short bodies are called repeatedly until a sample lasts this long
  int least = 3, most = 31;      // samples of each body; a body that takes longer than `seconds` is sampled once
};

/// Makes `calls` calls and returns the seconds per call, by a clock of its own choice.
using TimedBody = std::function<double(std::int64_t calls)>;

/// Seconds per call: the samples of each body. Every body is called once before, to warm up; that call counts as a
/// sample where it alone takes longer than `seconds`.
std::vector<std::vector<double>> measure_in_turns(std::span<const TimedBody> bodies,
                                                  const MeasureOptions& options = {});

/// By the steady clock of the host.
TimedBody timed(std::function<void()> body);

}  // namespace lockstep
