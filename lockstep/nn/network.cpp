#include "lockstep/nn/network.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

/// Without a branch in the loop, so that it runs at the speed of memory.
template <class T>
bool every_finite(std::span<const T> values) {
  bool finite = true;
  for (const T value : values) finite &= std::abs(value) <= std::numeric_limits<T>::max();
  return finite;
}

}  // namespace

static_assert(std::endian::native == std::endian::little, "the weight hash is defined over little-endian bytes");

std::string element_name(const std::vector<ParameterInfo>& parameters, std::int64_t at) {
  for (const ParameterInfo& info : parameters)
    if (at >= info.offset && at < info.offset + info.elements())
      return fmt::format("{}[{}]", info.name, at - info.offset);
  return fmt::format("element {}", at);
}

std::string weight_hash(const ParameterValues& values) {
  return std::visit(
      [](const auto& buffer) {
        Sha256 hash;
        hash.update(std::as_bytes(buffer.span()));
        return to_hex(hash.finish());
      },
      values);
}

bool all_finite(std::span<const float> values) { return every_finite(values); }
bool all_finite(std::span<const double> values) { return every_finite(values); }
bool all_finite(const ParameterValues& values) {
  return std::visit([](const auto& buffer) { return every_finite(buffer.span()); }, values);
}

Network::Network(Shape input, Precision precision, Init init)
    : input_(input), precision_(precision), init_(init), values_(AlignedBuffer<float>()) {
  if (input_.rank() == 0 || input_.rank() > 3 || input_.elements() < 1)
    throw Error(
        ErrorCode::usage,
        fmt::format("model input {} must be [features], [features,steps] or [channels,height,width], all at least 1",
                    input_.str()));
}

Network Network::from_sizes(const std::vector<std::int64_t>& sizes, const std::optional<LayerSpec>& activation,
                            const std::optional<LayerSpec>& output, Precision precision, Init init) {
  if (sizes.size() < 2)
    throw Error(ErrorCode::usage, "sizes needs at least an input and an output, such as 784-128-10");
  Network network({sizes.front()}, precision, init);
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    network.add(Linear{.out = sizes[i]});
    const std::optional<LayerSpec>& after = i + 1 < sizes.size() ? activation : output;
    if (after) network.add(*after);
  }
  return network;
}

Network& Network::add(LayerSpec layer) {
  LayerPlan plan = plan_layer(layer, output(), std::to_string(plans_.size()), init_);
  check_tokens(plans_, plan);
  plans_.push_back(std::move(plan));
  layers_.push_back(std::move(layer));
  place_parameters();
  initialised_ = false;
  return *this;
}

void Network::place_parameters() {
  infos_.clear();
  std::uint32_t id = 0;
  std::int64_t offset = 0;
  const auto place = [&](bool trainable) {
    for_each_layer(plans_, [&](LayerPlan& plan) {
      for (ParameterInfo& info : plan.parameters) {
        if (info.trainable() != trainable) continue;
        info.offset = offset;
        offset += info.elements();
        infos_.push_back(info);
      }
    });
  };
  for_each_layer(plans_, [&](LayerPlan& plan) { plan.id = id++; });
  place(true);
  trainable_ = offset;
  place(false);
  count_ = offset;
}

std::vector<LayerSummary> Network::summary() const {
  std::vector<LayerSummary> lines;
  for_each_layer(plans_, [&](const LayerPlan& plan) {
    const bool flatten = std::holds_alternative<Flatten>(plan.spec.kind);
    std::int64_t parameters = 0;
    for (const ParameterInfo& info : plan.parameters) parameters += info.trainable() ? info.elements() : 0;
    lines.push_back({.path = plan.path,
                     .type = layer_type(plan.spec),
                     .detail = layer_detail(plan.spec),
                     .in = plan.in,
                     .out = plan.out,
                     .parameters = parameters,
                     .flops = flatten ? 0 : make_layer<float>(plan)->forward_cost(1).flops});
  });
  return lines;
}

void Network::initialise(std::uint64_t seed) {
  seed_ = seed;
  draw();
}

void Network::initialise_later(std::uint64_t seed) {
  seed_ = seed;
  initialised_ = false;
}

template <class T>
void Network::draw_parameter(std::size_t index, std::int64_t first, std::span<T> to) const {
  const ParameterInfo& info = infos_[index];
  lockstep::initialise(info.init, info.fan_in, info.fan_out, seed_, static_cast<std::uint32_t>(index), to, first);
}

template <class T>
void Network::copy_parameter(std::size_t index, std::int64_t first, std::span<T> to) const {
  if (initialised_)
    std::copy_n(data<T>() + infos_[index].offset + first, to.size(), to.begin());
  else
    draw_parameter(index, first, to);
}
template void Network::copy_parameter(std::size_t, std::int64_t, std::span<float>) const;
template void Network::copy_parameter(std::size_t, std::int64_t, std::span<double>) const;

void Network::draw() const {
  const auto fill = [&](auto buffer) {
    for (std::size_t p = 0; p < infos_.size(); ++p)
      draw_parameter(p, 0,
                     buffer.span().subspan(static_cast<std::size_t>(infos_[p].offset),
                                           static_cast<std::size_t>(infos_[p].elements())));
    values_ = std::move(buffer);
  };
  if (precision_ == Precision::float32)
    fill(AlignedBuffer<float>(count_));
  else
    fill(AlignedBuffer<double>(count_));
  initialised_ = true;
}

const ParameterValues& Network::values() const {
  if (!initialised_) draw();
  return values_;
}

ParameterValues& Network::values() {
  if (!initialised_) draw();
  return values_;
}

bool reads_sequences(const Network& network) {
  const auto recurrent = [](const LayerSpec& layer) {
    return std::holds_alternative<Lstm>(layer.kind) || std::holds_alternative<Gru>(layer.kind) ||
           std::holds_alternative<Rnn>(layer.kind);
  };
  return network.input().rank() == 2 && std::any_of(network.layers().begin(), network.layers().end(), recurrent);
}

}  // namespace lockstep
