#pragma once
// Ranks as threads of one process: what the tests of everything above the transport run on, without a launcher.

#include <memory>
#include <vector>

#include "lockstep/parallel/transport.hpp"

namespace lockstep {

/// One end for each of `size` ranks, by rank; each may be used by a thread of its own.
std::vector<std::unique_ptr<Transport>> make_thread_transports(int size);

}  // namespace lockstep
