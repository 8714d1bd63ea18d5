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

/// The rule for a .mat file, whose programs count from 1: some label is below 1: as_stored; the largest is 10: digits;
/// otherwise from_one. Labels that are no integers are left to make_labels.
LabelRule mat_label_rule(const Array& labels);

/// Labels of any numeric type, one per sample. `classes` 0: the largest class + 1. Error(data) names the first sample
/// whose label is no integer or outside [0, classes). `name` is the file.
Targets make_labels(const Array& labels, std::int64_t classes, LabelRule rule, std::string_view name);

/// Real targets [samples] or [samples, size]; every value must be finite.
Targets make_values(Array values, std::string_view name);

/// Error(data) unless targets are absent or as many as the samples.
void check_target_count(const Targets& targets, std::int64_t samples, std::string_view name);

/// Error(bug) unless every id is in [0, size).
void check_ids(std::span<const std::int64_t> ids, std::int64_t size);

}  // namespace lockstep
