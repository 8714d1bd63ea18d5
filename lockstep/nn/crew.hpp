#pragma once
// Several threads that carry the same few samples through a network together. Each computes its share of the channels
// of every layer; a sum belongs to one output, so whoever computes it gets the same bits.

#include "lockstep/nn/split.hpp"

namespace lockstep {

/// One member's view of its crew.
class Crew {
 public:
  Crew(int index, int size) : index_(index), size_(size) {}
  virtual ~Crew() = default;

  /// Returns when all members have called it; what each wrote before is visible to all after.
  virtual void meet() const = 0;

  int index() const { return index_; }

  /// This member's share of a layer's channels.
  Channels share(std::int64_t channels) const { return share_of_channels(channels, index_, size_); }

 private:
  int index_, size_;
};

}  // namespace lockstep
