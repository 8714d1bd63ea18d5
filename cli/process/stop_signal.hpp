#pragma once
// Ctrl-C and SIGTERM as a wish: whoever measures looks at it, keeps what is there and ends.

namespace lockstep::cli {

/// The first signal is noted; a second one has its usual effect.
void catch_stop_signals();

bool stop_requested();

}  // namespace lockstep::cli
