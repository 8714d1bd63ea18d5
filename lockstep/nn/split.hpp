#pragma once
// Layers split over the ranks of a tensor-parallel group: each member computes some channels of every output, and holds
// the parameters of these channels alone. A sum belongs to one output, so its bits do not depend on the member that
// computes it. Before a layer that needs all of its input the channels are gathered, so every member has them all.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep {

/// The channels [first, first + count) of an activation.
struct Channels {
  std::int64_t first = 0, count = 0;
};

/// How the output of a layer can be computed by several members.
enum class Sharing {
  by_channel,  // a channel of the output needs the same channel of the input, and nothing else
  from_all,    // a channel of the output needs the whole input
  never,       // every member computes everything
};

/// The share of one of `size` members: the same for every layer with this number of channels. Whole vectors of lanes
/// where there are enough channels, because kernels for a few samples have lanes over channels.
Channels share_of_channels(std::int64_t channels, int member, int size);

/// Which member holds which part of an activation. It is counted in units, such as the channels of the convolution that
/// made the activation, so that it stays true behind pooling and flattening.
struct Split {
  std::int64_t units = 0;
  std::vector<std::int64_t> bounds{};  // member m holds units [bounds[m], bounds[m + 1]); empty: every member holds all

  bool whole() const { return bounds.empty(); }
  int members() const { return static_cast<int>(bounds.size()) - 1; }
  /// Of `count` equal parts, a multiple of the units: rows, or channels.
  Channels part(std::int64_t count, int member) const {
    if (whole()) return {0, count};
    const auto at = static_cast<std::size_t>(member);
    return {bounds[at] * count / units, (bounds[at + 1] - bounds[at]) * count / units};
  }
  friend bool operator==(const Split&, const Split&) = default;
};

Split split_channels(std::int64_t channels, int members);

/// Gathers activations from the members of a tensor-parallel group, for one thread.
class ActivationGather {
 public:
  virtual ~ActivationGather() = default;

  /// Begins to complete `whole`, of which every member has its part; `unit` is the bytes of one of the split's units.
  virtual void start_gather(std::byte* whole, const Split& split, std::int64_t unit) = 0;
  /// Returns when what was begun is complete; at once where nothing was.
  virtual void finish_gather() = 0;
};

struct LayerPlan;

/// Gives each of these layers, which follow each other, its split and the parameters of `member`, of `members` in all;
/// `in` is how the gradient of their input is split. Parameters keep their names and are to be placed anew.
/// Returns the split of their output's gradient.
Split split_layers(std::vector<LayerPlan>& plans, int member, int members, const Split& in);

}  // namespace lockstep
