#pragma once
// The spans of a whole team, and what can be read from them.
//
//   Profile profile;
//   trainer.fit(data, {.epochs = 2, .profile = &profile});
//   for (const ProfileRow& row : profile_rows(profile)) ...

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lockstep/lab/recorder.hpp"

namespace lockstep {

/// Spans that a profile holds one by one, over all threads: what bounds the size of a trace (about 150 bytes each).
inline constexpr std::int64_t kMaxSpans = 100'000;

/// A device's own clock: what one of its kernels took.
struct DeviceKernel {
  std::string name;
  std::int64_t launches = 0;
  double seconds = 0;
};

class Profile {
 public:
  /// `charge` may be null; it is called by all threads, and must outlive the profile.
  explicit Profile(std::int64_t max_spans = kMaxSpans, SectionCharge* charge = nullptr)
      : max_spans_(max_spans), charge_(charge) {}

  /// Forgets everything and makes one recorder per thread. The training loop calls it.
  void begin(std::vector<SectionName> sections, int threads);

  bool empty() const { return recorders_.empty(); }
  int threads() const { return static_cast<int>(recorders_.size()); }
  const std::vector<SectionName>& sections() const { return sections_; }
  Recorder& recorder(int thread) { return *recorders_[static_cast<std::size_t>(thread)]; }
  const Recorder& recorder(int thread) const { return *recorders_[static_cast<std::size_t>(thread)]; }

  /// The sum of a section over all threads.
  SectionSum sum(std::size_t section) const;
  /// The mean over threads of the time in all sections.
  double seconds() const;
  /// Spans of all threads that are no longer held one by one.
  std::int64_t dropped() const;
  std::int64_t spans() const;  // of all threads, held or not

  // What the loop counts besides spans; by one thread.
  std::int64_t steps = 0, samples = 0, validation_samples = 0;
  std::vector<DeviceKernel> device_kernels{};  // where the training ran on a device
  std::int64_t bytes_to_device = 0, bytes_to_host = 0;
  std::vector<std::int64_t> wall_ns{};  // of each thread's loop, by a clock of its own: what the spans must explain

 private:
  std::int64_t max_spans_;
  SectionCharge* charge_;
  std::vector<SectionName> sections_;
  std::vector<std::unique_ptr<Recorder>> recorders_;  // apart in memory: each is written by one thread
};

/// One line of the table. Times are means over threads, so that they add up to the time of the loop.
struct ProfileRow {
  SectionName section;
  std::int64_t calls = 0;  // over all threads
  double seconds = 0;
  double share = 0;                    // of the loop's time
  double flops = 0, bytes = 0;         // over all threads
  double flops_per_second = 0;         // of the team while it is in this section
  double bytes_per_second = 0;         // of the same
  std::optional<double> peak_share{};  // of peak_flops; nothing where the section has no arithmetic
  std::optional<double> speedup{};     // time per sample in `baseline` / here; nothing where it means nothing
};

struct ProfileQuestion {
  const Profile* baseline = nullptr;  // the same training on one thread; null: no speed-ups
  double peak_flops = 0;              // of as many threads, per second; 0: unknown
};

/// A row for every section that was entered: load, the layers forward, loss, the layers backward (from the last to the
/// first), reduce, exchange, update, wait, validation, shuffle, report.
std::vector<ProfileRow> profile_rows(const Profile& profile, const ProfileQuestion& question = {});

/// The rows as one: sums, and the speed-up of a training step (waiting included; without validation, shuffle and
/// report).
ProfileRow profile_total(const Profile& profile, const ProfileQuestion& question = {});

/// What recording itself costs: nanoseconds per span on this machine, the best of a few short runs.
double span_cost_ns();

}  // namespace lockstep
