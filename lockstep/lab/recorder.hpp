#pragma once
// Spans: which section of the program a thread was in, from when to when, and how much work it did there.
//
// A thread's spans follow each other without a gap: close() ends the span that began where the last one ended. So one
// look at the clock makes a span, spans never nest, and their times add up to the time of the thread. What runs between
// two operations (a few index computations) counts to the one that follows.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lockstep {

/// The sections that every training run has. Those of layers follow, a pair for each.
inline constexpr std::int32_t kLoadSection = 0;        // samples and targets gathered into a chunk
inline constexpr std::int32_t kLossSection = 1;        // loss, its gradient and the scores
inline constexpr std::int32_t kReduceSection = 2;      // the tree over slots
inline constexpr std::int32_t kUpdateSection = 3;      // L2, clipping, optimiser step
inline constexpr std::int32_t kWaitSection = 4;        // at barriers
inline constexpr std::int32_t kValidationSection = 5;  // the validation set, forward
inline constexpr std::int32_t kShuffleSection = 6;     // the order of an epoch
inline constexpr std::int32_t kReportSection = 7;      // callbacks, hashes, files; by thread 0
inline constexpr std::int32_t kExchangeSection = 8;    // sums and weights between ranks; by thread 0
inline constexpr std::int32_t kBubbleSection = 9;      // a stage of a pipeline waits for its neighbours
inline constexpr std::int32_t kGatherSection = 10;     // the parts of an activation between ranks that split layers
inline constexpr std::int32_t kFixedSections = 11;

/// `layer` is the layer's position in the walk over all layers (LayerPlan::id).
constexpr std::int32_t forward_section(std::uint32_t layer) {
  return kFixedSections + 2 * static_cast<std::int32_t>(layer);
}
constexpr std::int32_t backward_section(std::uint32_t layer) { return forward_section(layer) + 1; }

/// What reports print for a section.
struct SectionName {
  std::string name;   // "3 conv2d", "update"
  std::string phase;  // "forward", "backward"; of a fixed section its own name
};

/// Fixed sections, then forward and backward of each named layer.
std::vector<SectionName> section_names(const std::vector<std::string>& layers);

/// What one thread did in one section.
struct SectionSum {
  std::int64_t calls = 0, ns = 0;
  double flops = 0, bytes = 0;
};

struct Span {
  std::int32_t section = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // since the profile began
  double flops = 0, bytes = 0;
};

/// Where time is simulated, work takes none by itself: at the end of every span this lets it pass.
class SectionCharge {
 public:
  virtual ~SectionCharge() = default;
  virtual void charge(std::int32_t section, double flops, double bytes) = 0;
};

/// One thread's spans: sums of all, and the last `capacity` of them one by one. Used by one thread at a time.
class Recorder {
 public:
  using Clock = std::chrono::steady_clock;

  /// `charge` may be null: time passes by itself.
  Recorder(std::size_t sections, std::size_t capacity, Clock::time_point zero, SectionCharge* charge = nullptr);

  /// The thread's time begins, or goes on after a pause that belongs to no span.
  void start() { last_ns_ = now(); }

  /// Called before a span ends: where work goes on after the call that asked for it, as on a device, it waits. Null:
  /// calls return when their work is done.
  void settle_first(std::function<void()> settle) { settle_ = std::move(settle); }

  /// The time since start() or the last close() was spent in `section`.
  void close(std::int32_t section, double flops = 0, double bytes = 0) {
    if (settle_) settle_();
    if (charge_ != nullptr) charge_->charge(section, flops, bytes);
    const std::int64_t end = now();
    SectionSum& sum = sums_[static_cast<std::size_t>(section)];
    ++sum.calls;
    sum.ns += end - last_ns_;
    sum.flops += flops;
    sum.bytes += bytes;
    if (!ring_.empty()) {
      ring_[next_] = {section, last_ns_, end, flops, bytes};
      next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
    }
    ++count_;
    last_ns_ = end;
  }

  const std::vector<SectionSum>& sums() const { return sums_; }
  /// The spans still held, oldest first.
  std::vector<Span> spans() const;
  std::int64_t count() const { return count_; }  // of all spans, held or not
  std::int64_t dropped() const;                  // no longer held
  std::int64_t total_ns() const;                 // in all sections

 private:
  std::int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - zero_).count();
  }

  Clock::time_point zero_;
  std::int64_t last_ns_ = 0, count_ = 0;
  std::vector<SectionSum> sums_;
  std::vector<Span> ring_;
  std::size_t next_ = 0;
  std::function<void()> settle_;
  SectionCharge* charge_;
};

}  // namespace lockstep
