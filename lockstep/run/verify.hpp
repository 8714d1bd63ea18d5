#pragma once
// Whether a run is what it claims to be. Results are defined bit for bit, so a run can be computed again, on any
// machine and backend that keeps the bits, and compared with ==:
//   files      checkpoints, metrics, certificate and model belong together (no training needed)
//   segments   training from the beginning, or from a checkpoint, to the next one gives its state and its metrics
// Checkpoints that a run keeps (checkpoint.keep) cut it into segments; some of them, drawn at random, can be checked
// instead of all (docs/reliability.md).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/kernels/backend.hpp"
#include "lockstep/run/observer.hpp"

namespace lockstep {

struct VerifyOptions {
  Backend backend = Backend::simd;
  int threads = 0;         // as RunOptions
  int segments = 0;        // how many are computed again, drawn at random; 0: all of them
  std::uint64_t seed = 0;  // of that draw
  bool files_only = false;
  std::function<bool()> stop{};  // true: give up, with Error(preempted)
  RunObserver* observer = nullptr;
};

/// One thing that a run claims.
struct Claim {
  std::string what{};
  bool holds = true;
  std::string detail{};  // the figures; where it does not hold: what differs, and where
};

struct Verification {
  std::string name{};
  std::vector<Claim> claims{};

  bool holds() const;
  std::string text() const;
  std::string json() const;
};

/// Of a run directory; nothing in it is changed. Error(usage) for a folder that is no run, or one whose bits depend on
/// more than its configuration (parallel.reduce = "mpi").
Verification verify_run(const std::filesystem::path& directory, const VerifyOptions& options = {});

/// Of a certificate and the model it belongs to.
Verification verify_certificate(const std::filesystem::path& certificate, const std::filesystem::path& model);

}  // namespace lockstep
