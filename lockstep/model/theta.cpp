#include "lockstep/model/theta.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

/// One linear layer: where its parameters lie in the vector.
struct Place {
  std::string name;  // "Theta1"
  std::int64_t out = 0, in = 0;
  std::int64_t weight = 0;
  std::int64_t bias = -1;  // -1: none
  LabelRule rule = LabelRule::as_stored;

  /// The output that row `row` (from 0) of the matrix belongs to.
  std::int64_t output_of(std::int64_t row) const {
    if (rule == LabelRule::as_stored) return row;
    return static_cast<std::int64_t>(class_of_label(static_cast<double>(row + 1), rule));
  }
};

bool is_allowed(const LayerPlan& plan) {
  const auto& kind = plan.spec.kind;
  return std::holds_alternative<Linear>(kind) ||
         (plan.parameters.empty() && !std::holds_alternative<MaxPool2d>(kind) &&
          !std::holds_alternative<AvgPool2d>(kind) && !std::holds_alternative<Residual>(kind));
}

/// Only the rows of the last layer stand for labels.
void apply_rule(Place& last, std::optional<LabelRule> rule) {
  last.rule = rule.value_or(one_based_rule(last.out));
  if (last.rule == LabelRule::digits && last.out != 10)
    throw Error(ErrorCode::usage,
                fmt::format("label_rule = \"digits\" is for 10 classes, but {} of the network has {} rows", last.name,
                            last.out));
}

std::vector<Place> places(const Network& network, std::optional<LabelRule> rule) {
  std::vector<Place> found;
  for (const LayerPlan& plan : network.plans()) {
    if (!is_allowed(plan))
      throw Error(ErrorCode::usage,
                  fmt::format("a .mat file holds Theta1, Theta2, ... of linear layers, but layer {} is {}; use "
                              ".safetensors, .npz or .onnx",
                              plan.path, layer_type(plan.spec)));
    if (!std::holds_alternative<Linear>(plan.spec.kind)) continue;
    Place place{.name = fmt::format("Theta{}", found.size() + 1)};
    for (const ParameterInfo& info : network.parameters()) {
      if (info.name == plan.path + ".bias") place.bias = info.offset;
      if (info.name != plan.path + ".weight") continue;
      place.out = info.shape[0];
      place.in = info.shape[1];
      place.weight = info.offset;
    }
    found.push_back(std::move(place));
  }
  if (found.empty())
    throw Error(ErrorCode::usage, "a .mat file holds the weights of linear layers; the network has none");
  apply_rule(found.back(), rule);
  return found;
}

template <class T>
Array theta_of(const Place& place, const T* values) {
  Array array = make_array(ElementType::float64, {place.out, 1 + place.in});
  const auto theta = array.as<double>();
  auto next = theta.begin();
  for (std::int64_t row = 0; row < place.out; ++row) {
    const std::int64_t output = place.output_of(row);
    *next++ = place.bias < 0 ? 0.0 : static_cast<double>(values[place.bias + output]);
    const T* weights = values + place.weight + output * place.in;
    next = std::copy(weights, weights + place.in, next);
  }
  return array;
}

template <class T>
void set_theta(const Place& place, const Array& array, T* values) {
  std::int64_t i = 0;
  for (std::int64_t row = 0; row < place.out; ++row) {
    const std::int64_t output = place.output_of(row);
    const double bias = array.value(i++);
    if (place.bias >= 0) values[place.bias + output] = static_cast<T>(bias);
    T* weights = values + place.weight + output * place.in;
    for (std::int64_t col = 0; col < place.in; ++col) weights[col] = static_cast<T>(array.value(i++));
  }
}

const Array* find(std::span<const NamedArray> arrays, std::string_view name) {
  const auto found = std::ranges::find(arrays, name, &NamedArray::name);
  return found == arrays.end() ? nullptr : &found->array;
}

void check_theta(const Place& place, const Array* array, std::string_view file) {
  const std::string wanted = fmt::format("[{},{}]", place.out, 1 + place.in);
  const auto refuse = [&](const std::string& what) { throw Error(ErrorCode::data, fmt::format("{}: {}", file, what)); };
  if (array == nullptr) refuse(fmt::format("{} {} of the network is missing", place.name, wanted));
  if (array->dims != std::vector<std::int64_t>{place.out, 1 + place.in})
    refuse(fmt::format("{} is [{}] in the file but {} in the network (the bias is column 0)", place.name,
                       fmt::join(array->dims, ","), wanted));
  for (std::int64_t row = 0; place.bias < 0 && row < place.out; ++row)
    if (array->value(row * (1 + place.in)) != 0)
      refuse(fmt::format("{} has a bias in row {}, but its layer has none", place.name, row));
}

}  // namespace

std::vector<NamedArray> thetas(const Network& network, std::optional<LabelRule> rule) {
  std::vector<NamedArray> arrays;
  for (const Place& place : places(network, rule)) {
    std::visit(
        [&](const auto& values) {
          arrays.push_back({place.name, theta_of(place, values.data())});
        },
        network.values());
  }
  return arrays;
}

void set_thetas(Network& network, std::span<const NamedArray> arrays, std::string_view name,
                std::optional<LabelRule> rule) {
  const std::vector<Place> layers = places(network, rule);
  for (const Place& place : layers) check_theta(place, find(arrays, place.name), name);
  const std::string surplus = fmt::format("Theta{}", layers.size() + 1);
  if (find(arrays, surplus) != nullptr)
    throw Error(ErrorCode::data,
                fmt::format("{}: {} has no place in the network of {} linear layers", name, surplus, layers.size()));
  for (const Place& place : layers) {
    std::visit([&](auto& values) { set_theta(place, *find(arrays, place.name), values.data()); }, network.values());
  }
}

std::optional<LabelRule> weight_rule(const DataConfig& data) {
  if (data.regression) return LabelRule::as_stored;
  if (data.label_rule.empty()) return std::nullopt;
  // Labels that are classes already say nothing about rows, which count from 1 whatever the labels do.
  const LabelRule rule = parse_label_rule(data.label_rule);
  return rule == LabelRule::as_stored ? std::nullopt : std::optional(rule);
}

}  // namespace lockstep
