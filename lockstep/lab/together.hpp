#pragma once
// Several threads do the same at the same time, under one clock.

#include <functional>

namespace lockstep {

/// Runs body(index) on `threads` threads that start together; seconds from the first start to the last end. Making the
/// threads is outside the clock. An exception of a body is thrown again here.
double time_together(int threads, const std::function<void(int)>& body);

/// The shortest of at least `least` runs of time_together; more while `seconds` are not used up.
double best_time_together(int threads, int least, double seconds, const std::function<void(int)>& body);

}  // namespace lockstep
