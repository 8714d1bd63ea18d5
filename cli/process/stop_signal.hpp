#pragma once
// Ctrl-C and SIGTERM as a request: a training or measurement polls it, saves its results and ends.

namespace lockstep::cli {

/// From now on the first signal is a request; a second one has its usual effect.
void catch_stop_signals();

bool stop_requested();

}  // namespace lockstep::cli
