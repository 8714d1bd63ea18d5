#include "lockstep/nn/columns.hpp"

#include <algorithm>

namespace lockstep {

std::optional<WeightShape> weight_shape(const LayerPlan& plan) {
  if (std::holds_alternative<Linear>(plan.spec.kind))
    return WeightShape{.out = plan.out[0], .in = plan.in.elements(), .groups = 1, .taps = 1};
  if (const auto* conv = std::get_if<Conv2d>(&plan.spec.kind))
    return WeightShape{
        .out = plan.out[0], .in = plan.in[0], .groups = conv->groups, .taps = conv->kernel.height * conv->kernel.width};
  return std::nullopt;
}

namespace {

/// The inputs of an output's group that are among `ins`.
Channels inputs_of(const WeightShape& shape, std::int64_t out, const Channels& ins) {
  const std::int64_t group = out / shape.out_per_group() * shape.in_per_group();
  const std::int64_t first = std::max(ins.first, group);
  const std::int64_t last = std::min(ins.first + ins.count, group + shape.in_per_group());
  return {first, std::max<std::int64_t>(last - first, 0)};
}

}  // namespace

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
