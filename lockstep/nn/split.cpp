#include "lockstep/nn/split.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/nn/columns.hpp"
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

/// The inputs of an output's group that are among `ins`.
Channels inputs_of(const WeightShape& shape, std::int64_t out, const Channels& ins) {
  const std::int64_t group = out / shape.out_per_group() * shape.in_per_group();
  const std::int64_t first = std::max(ins.first, group);
  const std::int64_t last = std::min(ins.first + ins.count, group + shape.in_per_group());
  return {first, std::max<std::int64_t>(last - first, 0)};
}

/// The stretch of each block of a parameter that belongs to the member's channels: their rows lie together.
void keep_rows(LayerPlan& plan) {
  if (plan.parameter_split.whole()) return;
  for (ParameterInfo& info : plan.parameters) {
    const Channels channels = plan.parameter_split.part(info.shape[0] / info.blocks, plan.member);
    info.skipped = channels.first * (info.elements() / info.shape[0]);
    std::vector<std::int64_t> extents(info.shape.extents().begin(), info.shape.extents().end());
    extents[0] = channels.count * info.blocks;
    info.shape = Shape(extents);
  }
}

std::int64_t split_units_of(const LayerPlan& plan) {
  return std::holds_alternative<Flatten>(plan.spec.kind) ? 0 : make_layer<float>(plan)->split_units();
}

Sharing sharing_of(const LayerPlan& plan) {
  return std::holds_alternative<Flatten>(plan.spec.kind) ? Sharing::by_channel : make_layer<float>(plan)->sharing();
}

}  // namespace

Split split_layers(std::vector<LayerPlan>& plans, int member, int members, const Split& in) {
  Split held = in;
  for (LayerPlan& plan : plans) {
    plan.member = member;
    plan.in_split = held;
    if (const std::int64_t units = split_units_of(plan); units > 0)
      plan.parameter_split = split_channels(units, members);
    const Sharing sharing = sharing_of(plan);
    if (sharing != Sharing::by_channel)
      held = plan.parameter_split.whole() || sharing == Sharing::never ? split_channels(plan.out[0], members)
                                                                       : plan.parameter_split;
    if (sharing != Sharing::never) plan.out_split = held;
    if (plan.parameter_split.whole()) plan.parameter_split = plan.out_split;
    split_layers(plan.body, member, members, plan.in_split);
    split_layers(plan.shortcut, member, members, plan.in_split);
    keep_rows(plan);
  }
  return held;
}

std::optional<WeightShape> weight_shape(const LayerPlan& plan) {
  if (const auto* linear = std::get_if<Linear>(&plan.spec.kind)) {
    const std::int64_t in = linear->per_step ? plan.in[0] : plan.in.elements();
    return WeightShape{.out = plan.out[0], .in = in, .groups = 1, .taps = 1};
  }
  if (const auto* conv = std::get_if<Conv2d>(&plan.spec.kind))
    return WeightShape{
        .out = plan.out[0], .in = plan.in[0], .groups = conv->groups, .taps = conv->kernel.height * conv->kernel.width};
  return std::nullopt;
}

std::int64_t column_elements(const WeightShape& shape, const Channels& outs, const Channels& ins) {
  std::int64_t channels = 0;
  for (std::int64_t out = outs.first; out < outs.first + outs.count; ++out)
    channels += inputs_of(shape, out, ins).count;
  return channels * shape.taps;
}

template <class T>
T* copy_columns(const WeightShape& shape, const T* rows, const Channels& outs, const Channels& ins, T* to) {
  const std::int64_t row = shape.in_per_group() * shape.taps;
  for (std::int64_t out = outs.first; out < outs.first + outs.count; ++out, rows += row) {
    const Channels own = inputs_of(shape, out, ins);
    to = std::copy_n(rows + own.first % shape.in_per_group() * shape.taps, own.count * shape.taps, to);
  }
  return to;
}

template float* copy_columns(const WeightShape&, const float*, const Channels&, const Channels&, float*);
template double* copy_columns(const WeightShape&, const double*, const Channels&, const Channels&, double*);

}  // namespace lockstep
