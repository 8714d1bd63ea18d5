#pragma once
// The targets that belong to stored samples: labels, real vectors, or none.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// Either labels.size() == samples and every label is in [0, classes); or classes == 0 and values is
/// [samples, target_size]; or neither.
struct Targets {
  std::vector<std::int32_t> labels;
  std::int64_t classes = 0;
  Array values{ElementType::float64, {0, 0}, {}};

  std::int64_t target_size() const { return classes > 0 ? 0 : values.row_elements(); }
  /// The number of samples that have a target.
  std::int64_t size() const;
  void gather_labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const;
  template <class T>
  void gather_values(std::span<const std::int64_t> ids, Matrix<T> t) const;
  /// "10 classes", "targets [3]" or "no targets"
  std::string describe() const;
};

/// How the labels of a file become classes 0 .. classes - 1.
enum class LabelRule {
  as_stored,  // class = label
  digits,     // class = label mod 10: labels 1..10 where 10 is the digit 0
  from_one,   // class = label - 1
};
/// "as-stored", "digits", "from-one"
const std::vector<std::string>& label_rule_names();
/// Error(usage) for another name.
LabelRule parse_label_rule(std::string_view name);

/// The rule of programs that count from 1, for labels 1..count and for the `count` rows of a last layer's weights
/// alike: 10 are digits, any other number counts from one.
LabelRule one_based_rule(std::int64_t count);

/// The class of a label.
double class_of_label(double label, LabelRule rule);

/// The rule for a .mat file, whose programs count from 1: some label is below 1: as_stored; otherwise one_based_rule of
/// `classes` (0: of the largest label). Labels that are no integers are left to make_labels.
LabelRule mat_label_rule(const Array& labels, std::int64_t classes = 0);

/// Labels of any numeric type, one per sample. `classes` 0: the largest class + 1. Error(data) names the first sample
/// whose label is no integer or outside [0, classes). `name` is the file.
Targets make_labels(const Array& labels, std::int64_t classes, LabelRule rule, std::string_view name);

/// Real targets [samples] or [samples, size]; every value must be finite.
Targets make_values(Array values, std::string_view name);

/// Error(data) unless targets are absent, or as many as the samples, labels in [0, classes), real targets finite.
void check_targets(const Targets& targets, std::int64_t samples, std::string_view name);

/// Error(bug) unless every id is in [0, size).
void check_ids(std::span<const std::int64_t> ids, std::int64_t size);

}  // namespace lockstep
