#include "lockstep/data/targets.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/scaling.hpp"

namespace lockstep {
namespace {

// More classes than this are a label column chosen wrongly, and would size the network's last layer.
constexpr double kMaxClasses = 1 << 20;

void check_values(const Array& values, std::string_view name) {
  for (std::int64_t i = 0; i < values.elements(); ++i) {
    if (!std::isfinite(values.value(i))) {
      throw Error(ExitCode::data, fmt::format("{}: sample {}: target {} is not finite", name,
                                              i / std::max<std::int64_t>(values.row_elements(), 1), values.value(i)));
    }
  }
}

}  // namespace

const std::vector<std::string>& label_rule_names() {
  static const std::vector<std::string> names = {"as-stored", "digits", "from-one"};
  return names;
}

LabelRule parse_label_rule(std::string_view name) {
  const std::vector<std::string>& names = label_rule_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<LabelRule>(found - names.begin());
  throw Error(ExitCode::usage,
              fmt::format("label_rule: unknown rule \"{}\", expected as-stored, digits or from-one", name));
}

LabelRule one_based_rule(std::int64_t count) { return count == 10 ? LabelRule::digits : LabelRule::from_one; }

double class_of_label(double label, LabelRule rule) {
  switch (rule) {
    case LabelRule::digits:
      return label == 10 ? 0 : label;
    case LabelRule::from_one:
      return label - 1;
    case LabelRule::as_stored:
      break;
  }
  return label;
}

std::int64_t Targets::size() const {
  return classes > 0 ? static_cast<std::int64_t>(labels.size()) : values.dims.front();
}

void Targets::gather_labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const {
  if (classes == 0) throw Error(ExitCode::bug, "data set: labels asked for, but it has none");
  check_ids(ids, size());
  for (std::size_t j = 0; j < ids.size(); ++j) out[j] = labels[static_cast<std::size_t>(ids[j])];
}

template <class T>
void Targets::gather_values(std::span<const std::int64_t> ids, Matrix<T> t) const {
  if (target_size() == 0) throw Error(ExitCode::bug, "data set: real targets asked for, but it has none");
  check_ids(ids, size());
  const std::int64_t row_bytes = target_size() * element_size(values.type);
  std::array<const std::byte*, kRowTile> rows{};
  const auto tile = static_cast<std::size_t>(kRowTile);
  for (std::size_t first = 0; first < ids.size(); first += tile) {
    const std::size_t count = std::min(tile, ids.size() - first);
    for (std::size_t j = 0; j < count; ++j) rows[j] = values.bytes.data() + ids[first + j] * row_bytes;
    scatter_rows(values.type, std::span(rows).first(count), Scaling{},
                 columns_from(t, static_cast<std::int64_t>(first)));
  }
}

template void Targets::gather_values(std::span<const std::int64_t>, Matrix<float>) const;
template void Targets::gather_values(std::span<const std::int64_t>, Matrix<double>) const;

std::string Targets::describe() const {
  if (classes > 0) return count_of(classes, "class", "classes");
  return target_size() > 0 ? fmt::format("targets [{}]", target_size()) : "no targets";
}

LabelRule mat_label_rule(const Array& labels, std::int64_t classes) {
  double largest = 0;
  for (std::int64_t i = 0; i < labels.elements(); ++i) {
    const double label = labels.value(i);
    if (!(label >= 1)) return LabelRule::as_stored;
    largest = std::max(largest, label);
  }
  return one_based_rule(classes > 0 ? classes : static_cast<std::int64_t>(std::min(largest, kMaxClasses)));
}

Targets make_labels(const Array& labels, std::int64_t classes, LabelRule rule, std::string_view name) {
  Targets targets;
  targets.labels.resize(static_cast<std::size_t>(labels.elements()));
  const double limit = classes > 0 ? static_cast<double>(classes) : kMaxClasses;
  std::int32_t largest = 0;
  for (std::int64_t i = 0; i < labels.elements(); ++i) {
    const double stored = labels.value(i);
    const double label = class_of_label(stored, rule);
    if (!(std::floor(label) == label)) {
      throw Error(
          ExitCode::data,
          fmt::format("{}: sample {}: label {} is not an integer; for real targets set regression", name, i, stored));
    }
    if (label < 0 && classes == 0) {
      throw Error(ExitCode::data,
                  fmt::format("{}: sample {}: label {} is negative; classes are integers from 0", name, i, stored));
    }
    if (!(label >= 0 && label < limit)) {
      throw Error(ExitCode::data, fmt::format("{}: sample {}: label {} is outside the {} classes 0..{}", name, i,
                                              stored, limit, limit - 1));
    }
    targets.labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(label);
    largest = std::max(largest, static_cast<std::int32_t>(label));
  }
  targets.classes = classes > 0 ? classes : std::int64_t{largest} + 1;
  return targets;
}

Targets make_values(Array values, std::string_view name) {
  check_values(values, name);
  if (values.rank() == 1) values.dims.push_back(1);
  Targets targets;
  targets.values = std::move(values);
  return targets;
}

void check_targets(const Targets& targets, std::int64_t samples, std::string_view name) {
  if (targets.classes <= 0 && !targets.labels.empty()) {
    throw Error(ExitCode::data, fmt::format("{}: {} labels but {} classes; say how many there are", name,
                                            targets.labels.size(), targets.classes));
  }
  const bool present = targets.classes > 0 || targets.target_size() > 0;
  if (present && targets.size() != samples) {
    throw Error(ExitCode::data, fmt::format("{}: {} samples but {} targets, one target per sample was expected", name,
                                            samples, targets.size()));
  }
  for (std::size_t i = 0; i < targets.labels.size(); ++i) {
    if (targets.labels[i] < 0 || targets.labels[i] >= targets.classes) {
      throw Error(ExitCode::data, fmt::format("{}: sample {}: label {} is outside the {} classes 0..{}", name, i,
                                              targets.labels[i], targets.classes, targets.classes - 1));
    }
  }
  if (targets.classes == 0) check_values(targets.values, name);
}

void check_ids(std::span<const std::int64_t> ids, std::int64_t size) {
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= size) {
      throw Error(ExitCode::bug, fmt::format("data set: sample {} asked for, there are {}", id, size));
    }
  }
}

}  // namespace lockstep
