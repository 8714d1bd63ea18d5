#pragma once
// One turn of a rung: a training of two epochs in a process of its own. The first epoch warms it up, the second is the
// sample. What it says is read back as what another program wrote: nothing is taken for granted.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/ladder/rungs.hpp"
#include "cli/process/captured.hpp"
#include "lockstep/config/config.hpp"

namespace lockstep::cli {

/// What all turns have in common.
struct TurnSetting {
  std::string config;            // the file
  std::vector<std::string> set;  // --set
  std::int64_t batch = 1;
  bool split = false;             // the training set is a part of the data: data.limit would cut before it is taken
  double split_test = 0;          // data.split.test
  std::filesystem::path scratch;  // a folder for run directories
  Stopped stopped{};
};

/// The part of the setting that follows from the configuration.
TurnSetting setting_of(const RunConfig& config, std::int64_t epoch_samples);

using PhaseSeconds = std::map<std::string, double>;

struct SectionTime {
  std::string name;  // "3 conv2d backward", "wait"
  double seconds = 0, flops = 0, bytes = 0;
};

struct TurnProfile {
  double explained = 0, seconds = 0, flops = 0;
  std::int64_t samples = 0;
  double device_seconds = 0;              // of kernels, by the clock of the device
  std::vector<SectionTime> sections{};    // means over the threads of rank 0
  std::vector<PhaseSeconds> by_thread{};  // of rank 0
};

struct Turn {
  double seconds = 0;  // of the second epoch, of the slowest rank
  double wall = 0;     // of the whole process
  std::string weight_hash{};
  std::optional<double> accuracy{}, loss{};
  std::string threads_note{};         // why not all threads take part in a step; empty: they do
  std::int64_t warm_up_epochs = 0;    // before the one that is timed
  std::vector<PhaseSeconds> ranks{};  // phases of the second epoch, rank by rank
  std::filesystem::path model{};
  std::optional<TurnProfile> profile{};
};

/// Trains on the first `samples` samples. Error as the run's own when it fails: its exit code and its last line.
Turn run_turn(const Rung& rung, const TurnSetting& setting, std::int64_t samples, double seconds_limit,
              bool profile = false);

/// The command line of a turn, as a user would type it: for the report.
std::string turn_command(const Rung& rung, const TurnSetting& setting, std::int64_t samples);

}  // namespace lockstep::cli
