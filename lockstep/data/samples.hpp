#pragma once
// Features and targets on their way from a file to a data set. The targets that belong to stored samples: labels, real
// vectors, or none.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// Either labels.size() == samples and every label is in [0, classes); or classes == 0 and values is
/// [samples, target_size]; or neither. Weights are one per sample, or none: every sample counts 1.
struct Targets {
  std::vector<std::int32_t> labels;
  std::int64_t classes = 0;
  Array values{ElementType::float64, {0, 0}, {}};
  std::vector<double> weights{};
  std::int64_t step_classes = 0;  // above 0: values are classes below it, one per step

  std::int64_t target_size() const { return classes > 0 ? 0 : values.row_elements(); }
  /// The number of samples that have a target.
  std::int64_t size() const;
  void gather_labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const;
  void gather_weights(std::span<const std::int64_t> ids, std::span<double> out) const;
  template <class T>
  void gather_values(std::span<const std::int64_t> ids, Matrix<T> t) const;
  /// "10 classes", "targets [3]" or "no targets"; ", weighted" where there are weights
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

/// Error(data) unless targets are absent, or as many as the samples, labels in [0, classes), real targets finite;
/// weights absent, or as many as the samples, finite, at least 0 and not all 0.
void check_targets(const Targets& targets, std::int64_t samples, std::string_view name);

/// Error(bug) unless every id is in [0, size).
void check_ids(std::span<const std::int64_t> ids, std::int64_t size);

/// features.dims is [samples, ...]; shape.elements() numbers belong to each sample.
struct Samples {
  Array features;
  Shape shape;
  Targets targets;
  std::vector<std::int64_t> lengths{};  // of sequences that end at different steps
};

/// The shape of one sample of an array [samples, ...]: [] -> [1], [f] -> [f], [h,w] -> [1,h,w], [c,h,w] -> [c,h,w].
/// Error(data) when there are no samples, no features, or more than three dimensions per sample.
Shape sample_shape_of(std::span<const std::int64_t> dims, std::string_view name);

/// True when a sample of shape `stored` can be read as one of shape `wanted` without reordering its numbers: one shape
/// is a plain list, or both have the same extents apart from ones ([28,28], [1,28,28] and [28,28,1]).
bool same_order(const Shape& stored, const Shape& wanted);

/// Error(usage) unless the samples can be read as a network's input: the same number of elements, in the same order.
void check_input(const Shape& input, const Dataset& data);

/// Images [height,width,channels], one after another, become [channels,height,width] in place.
void channels_first(std::span<std::byte> images, const Shape& stored, std::int64_t element_size);

/// The shape of a sample after channels_first; nothing when the picture has no axis of channels and stays as it is.
/// `channel_axis`: the three extents were given, not completed to [1,height,width]. Error(usage) for a plain list.
std::optional<Shape> channels_first_shape(const Shape& stored, bool channel_axis);

/// A sample as an image; Error(usage), naming `operation`, when the shape is not [h,w] or [c,h,w].
ImageShape image_shape_of(const Shape& shape, std::string_view operation);

/// Error(data) naming the first sample and feature that is a NaN or an infinity. The second form: of the samples
/// ids[0], ids[1], ..., one after another in `bytes`, in native order; or that a network of this precision cannot hold.
void check_finite(const Array& features, std::string_view name);
void check_finite(ElementType type, std::span<const std::byte> bytes, std::span<const std::int64_t> ids,
                  std::string_view name, Precision precision = Precision::float64);

}  // namespace lockstep
