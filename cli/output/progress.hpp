#pragma once
// The progress of a training: a bar on a terminal, and a line per epoch (at most one per second).

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "lockstep/train/trainer.hpp"

namespace lockstep::cli {

class Progress {
 public:
  /// `samples` of one epoch. The console must outlive it.
  Progress(Console& console, std::int64_t samples, std::int64_t epochs);

  void step(const StepReport& report);
  void epoch(const EpochReport& report);
  /// The losses of the epochs as a line of blocks; "" where there are fewer than three.
  std::string curve() const;

 private:
  using Clock = std::chrono::steady_clock;
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  Console* console_;
  std::int64_t samples_, epochs_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_draw_{}, last_line_{};
  std::vector<double> losses_{};  // of the epochs
  std::string metric_{};          // of the last validation, for the bar
};

/// At most `width` blocks, from the lowest to the highest value: "\u2587\u2585\u2581". More values are taken in groups,
/// by their means.
std::string sparkline(std::span<const double> values, std::size_t width);

/// "[=====>    ]", `width` characters in all, at least 3.
std::string bar(double done, int width);

}  // namespace lockstep::cli
