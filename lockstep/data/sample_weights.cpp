#include "lockstep/data/sample_weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

// Weights are read in small groups on the stack: a step reads them for every chunk.
constexpr std::size_t kWeightGroup = 256;

std::vector<double> balanced_weights(const Dataset& data) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(data.classes()), 0);
  std::vector<std::int32_t> labels;
  for (std::int64_t first = 0; first < data.size(); first += std::int64_t{kWeightGroup}) {
    const std::vector<std::int64_t> ids = ids_from(first, std::min<std::int64_t>(kWeightGroup, data.size() - first));
    labels.resize(ids.size());
    data.labels(ids, labels);
    for (const std::int32_t label : labels) ++counts[static_cast<std::size_t>(label)];
  }
  const auto present = std::count_if(counts.begin(), counts.end(), [](std::int64_t n) { return n > 0; });
  std::vector<double> weights;
  for (const std::int64_t count : counts)
    weights.push_back(count == 0 ? 0 : double(data.size()) / (double(present) * double(count)));
  return weights;
}

std::vector<double> class_weights_of(const Dataset& data, const ClassWeights& classes) {
  if (!classes.any()) return {};
  if (data.classes() == 0)
    throw Error(ErrorCode::usage,
                "class_weights: the data has real-valued targets and no classes; weigh samples instead");
  if (classes.balanced) return balanced_weights(data);
  if (const std::string fault = weights_fault(classes.values, "class"); !fault.empty())
    throw Error(ErrorCode::usage, fmt::format("class_weights: {}", fault));
  if (std::ssize(classes.values) != data.classes())
    throw Error(ErrorCode::usage, fmt::format("class_weights: {} weights for {} classes; give one per class",
                                              classes.values.size(), data.classes()));
  return classes.values;
}

}  // namespace

std::string weights_fault(std::span<const double> weights, std::string_view each) {
  bool any = false;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0 && std::isfinite(weights[i])))
      return fmt::format("the weight of {} {} is {}; a weight is a finite number, at least 0", each, i, weights[i]);
    any = any || weights[i] > 0;
  }
  return any || weights.empty() ? "" : fmt::format("every {} has weight 0; at least one must be larger", each);
}

SampleWeights::SampleWeights(const Dataset& data, const ClassWeights& classes)
    : data_(data), by_class_(class_weights_of(data, classes)) {
  if (!any()) return;
  for (std::int64_t first = 0; first < data.size(); first += std::int64_t{kWeightGroup})
    if (sum(ids_from(first, std::min<std::int64_t>(kWeightGroup, data.size() - first))) > 0) return;
  throw Error(ErrorCode::data, "every training sample has weight 0; at least one must be larger");
}

template <class Use>
void SampleWeights::for_groups(std::span<const std::int64_t> ids, const Use& use) const {
  std::array<double, kWeightGroup> weights{};
  std::array<std::int32_t, kWeightGroup> labels{};
  for (std::size_t first = 0; first < ids.size(); first += kWeightGroup) {
    const auto group = ids.subspan(first, std::min(kWeightGroup, ids.size() - first));
    weights.fill(1);
    if (data_.has_weights()) data_.weights(group, std::span(weights).first(group.size()));
    if (!by_class_.empty()) {
      data_.labels(group, std::span(labels).first(group.size()));
      for (std::size_t j = 0; j < group.size(); ++j) weights[j] *= by_class_[static_cast<std::size_t>(labels[j])];
    }
    use(first, std::span<const double>(weights).first(group.size()));
  }
}

template <class T>
void SampleWeights::gather(std::span<const std::int64_t> ids, std::span<T> out) const {
  for_groups(ids, [&](std::size_t first, std::span<const double> weights) {
    for (std::size_t j = 0; j < weights.size(); ++j) out[first + j] = T(weights[j]);
  });
}
template void SampleWeights::gather(std::span<const std::int64_t>, std::span<float>) const;
template void SampleWeights::gather(std::span<const std::int64_t>, std::span<double>) const;

double SampleWeights::sum(std::span<const std::int64_t> ids) const {
  if (!any()) return double(ids.size());
  double sum = 0;
  for_groups(ids, [&](std::size_t, std::span<const double> weights) {
    for (const double weight : weights) sum += weight;
  });
  return sum;
}

}  // namespace lockstep
