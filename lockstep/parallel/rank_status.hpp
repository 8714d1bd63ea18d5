#pragma once
// State shared by the thread that trains and the heartbeat's thread (ranks.hpp, heartbeat.hpp).

#include <atomic>
#include <cstdint>

namespace lockstep {

struct RankStatus {
  /// What this rank is doing; a string literal. It stands in the line that the others say when it is lost.
  std::atomic<const char*> phase{"start"};
  /// The last step it has finished.
  std::atomic<std::int64_t> step{0};
  /// It waits for other ranks.
  std::atomic<bool> waiting{false};

  /// Some rank works, as far as rank 0 knows: waits are patient meanwhile.
  std::atomic<bool> somebody_works{false};
  /// The run is over and the reason has been said: waits end at once.
  std::atomic<bool> over{false};
};

}  // namespace lockstep
