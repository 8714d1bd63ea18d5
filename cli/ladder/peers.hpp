#pragma once
// PyTorch and JAX as rungs: the scripts of bench/peers train the same network on the same samples with their own
// initial weights and without shuffling; a training of ours from those weights in that order says how near theirs come.
// They need Fashion-MNIST, and layers that the scripts know.

#include <memory>
#include <optional>
#include <string>

#include "cli/ladder/rungs.hpp"
#include "cli/process/conversation.hpp"
#include "lockstep/config/config.hpp"

namespace lockstep::cli {

struct PeerPlace {
  std::string python;   // of build/venv-peers
  std::string scripts;  // bench/peers
};

/// Where the peers are, from the current folder upwards or beside the program; nothing: not installed.
std::optional<PeerPlace> find_peers();

/// The network as bench/peers/workloads.py takes it; `why` says what it does not know.
std::optional<std::string> peer_workload(const RunConfig& config, std::int64_t samples, std::string& why);

struct PeerAnswer {
  double seconds = 0;
  std::optional<double> accuracy{}, loss{};
};

class PeerRung {
 public:
  /// Starts it: imports, loads, compiles. Error(peer_lost) when it cannot.
  PeerRung(const PeerPlace& place, const Rung& rung, const std::string& workload, double seconds, Stopped stopped);
  PeerAnswer run(double seconds);
  /// Trains again and writes the initial and the trained weights into the folder.
  struct Weights {
    std::string initial, trained;  // files
  };
  Weights weights(const std::string& folder, double seconds);
  std::string version() const;

 private:
  std::unique_ptr<Conversation> conversation_;
};

}  // namespace lockstep::cli
