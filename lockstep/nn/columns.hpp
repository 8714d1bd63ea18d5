#pragma once
// The second copy of a split layer's weights. Members hold weights by output channel, for outputs and weight gradients;
// but an element of the data gradient is a sum over all outputs, in their order, so its computation needs a column
// of the weight: all outputs of one input channel. So each member also keeps the columns of its input channels. They
// are exchanged once per step, when the weights have changed (distribute/weight_columns.hpp).

#include <algorithm>
#include <cstdint>
#include <optional>

#include "lockstep/nn/plan.hpp"

namespace lockstep {

/// A weight [out][in / groups][taps].
struct WeightShape {
  std::int64_t out = 0, in = 0, groups = 1, taps = 1;
  std::int64_t out_per_group() const { return out / groups; }
  std::int64_t in_per_group() const { return in / groups; }
};

/// Of layers whose outputs are sums over all inputs: linear and conv2d.
std::optional<WeightShape> weight_shape(const LayerPlan& plan);

/// The elements of `outs` that belong to `ins`: output by output, the inputs of its group that are among `ins`.
std::int64_t column_elements(const WeightShape& shape, const Channels& outs, const Channels& ins);
/// Copies them from `rows`, the weight of `outs`; returns the end of what was written.
template <class T>
T* copy_columns(const WeightShape& shape, const T* rows, const Channels& outs, const Channels& ins, T* to);

/// Cuts channels, `per_group` of which make a group, into runs of whole groups and parts of one: for each
/// visit(channels, first group, groups).
template <class Visit>
void for_each_group_run(const Channels& channels, std::int64_t per_group, const Visit& visit) {
  const std::int64_t end = channels.first + channels.count;
  for (std::int64_t first = channels.first, count = 0; first < end; first += count) {
    const std::int64_t into = first % per_group, whole = into == 0 ? (end - first) / per_group : 0;
    count = whole > 0 ? whole * per_group : std::min(per_group - into, end - first);
    visit(Channels{first, count}, first / per_group, std::max<std::int64_t>(whole, 1));
  }
}

}  // namespace lockstep
