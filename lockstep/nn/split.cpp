#include "lockstep/nn/split.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/layer.hpp"

namespace lockstep {

Channels share_of_channels(std::int64_t channels, int member, int size) {
  const std::int64_t unit = channels % (16 * size) == 0 ? 16 : channels >= 8 * size ? 8 : 1;
  const std::int64_t units = (channels + unit - 1) / unit;
  const auto begin = [&](int m) { return std::min(channels, units * m / size * unit); };
  return {begin(member), begin(member + 1) - begin(member)};
}

Split split_channels(std::int64_t channels, int members) {
  Split split{.units = channels, .bounds = {0}};
  for (int m = 0; m < members; ++m) {
    const Channels share = share_of_channels(channels, m, members);
    split.bounds.push_back(share.first + share.count);
  }
  return split;
}

namespace {

/// The stretch of each parameter that belongs to these output channels: their rows lie together.
void keep_rows(LayerPlan& plan, const Channels& channels) {
  for (ParameterInfo& info : plan.parameters) {
    info.skipped = channels.first * (info.elements() / info.shape[0]);
    std::vector<std::int64_t> extents(info.shape.extents().begin(), info.shape.extents().end());
    extents[0] = channels.count;
    info.shape = Shape(extents);
  }
}

Sharing sharing_of(const LayerPlan& plan) {
  return std::holds_alternative<Flatten>(plan.spec.kind) ? Sharing::by_channel : make_layer<float>(plan)->sharing();
}

}  // namespace

Split split_layers(std::vector<LayerPlan>& plans, int member, int members, const Split& in) {
  Split held = in;
  for (LayerPlan& plan : plans) {
    const Sharing sharing = sharing_of(plan);
    plan.member = member;
    plan.in_split = held;
    if (sharing == Sharing::never && !plan.parameters.empty())
      throw Error(ExitCode::usage, fmt::format("layer {} ({}) cannot be split over ranks; set parallel.tensor = 1",
                                               plan.path, layer_type(plan.spec)));
    if (sharing != Sharing::by_channel) held = split_channels(plan.out[0], members);
    if (sharing != Sharing::never) plan.out_split = held;
    split_layers(plan.body, member, members, plan.in_split);
    split_layers(plan.shortcut, member, members, plan.in_split);
    keep_rows(plan, plan.out_split.part(plan.out[0], member));
  }
  return held;
}

}  // namespace lockstep
