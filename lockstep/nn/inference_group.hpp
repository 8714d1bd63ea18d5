#pragma once
// Several threads that carry the same few samples through a network together. Each computes its share of the channels
// of every layer. A sum belongs to one output, so its bits do not depend on the thread that computes it.

#include "lockstep/nn/split.hpp"

namespace lockstep {

/// One thread's view of its group.
class InferenceGroup {
 public:
  InferenceGroup(int index, int size) : index_(index), size_(size) {}
  virtual ~InferenceGroup() = default;

  /// A barrier: returns when all threads have called it; what each wrote before is visible to all after.
  virtual void meet() const = 0;

  int index() const { return index_; }

  /// This thread's share of a layer's channels.
  Channels share(std::int64_t channels) const { return share_of_channels(channels, index_, size_); }

 private:
  int index_, size_;
};

}  // namespace lockstep
