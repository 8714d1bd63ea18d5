#pragma once
// Several threads that carry the same few samples through a network together. Each computes its share of the channels
// of every layer; a sum belongs to one output, so whoever computes it gets the same bits.

#include <algorithm>
#include <cstdint>

namespace lockstep {

/// The channels [first, first + count) of a layer's output.
struct Channels {
  std::int64_t first = 0, count = 0;
};

/// How the output of a layer can be computed by several members.
enum class Sharing {
  by_channel,  // a channel of the output needs the same channel of the input, and nothing else
  from_all,    // a channel of the output needs the whole input
  never,       // one member computes everything
};

/// One member's view of its crew.
class Crew {
 public:
  Crew(int index, int size) : index_(index), size_(size) {}
  virtual ~Crew() = default;

  /// Returns when all members have called it; what each wrote before is visible to all after.
  virtual void meet() const = 0;

  int index() const { return index_; }

  /// This member's share of a layer's channels: the same for every layer with so many. Whole vectors of lanes where
  /// there are enough channels, because kernels for a few samples have lanes over channels.
  Channels share(std::int64_t channels) const {
    const std::int64_t unit = channels % (16 * size_) == 0 ? 16 : channels >= 8 * size_ ? 8 : 1;
    const std::int64_t units = (channels + unit - 1) / unit;
    const auto begin = [&](int member) { return std::min(channels, units * member / size_ * unit); };
    return {begin(index_), begin(index_ + 1) - begin(index_)};
  }

 private:
  int index_, size_;
};

}  // namespace lockstep
