#pragma once
// Features and targets on their way from a file to a data set.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lockstep/data/array.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/targets.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// features.dims is [samples, ...]; shape.elements() numbers belong to each sample.
struct Samples {
  Array features;
  Shape shape;
  Targets targets;
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
/// ids[0], ids[1], ..., one after another in `bytes`, in native order.
void check_finite(const Array& features, std::string_view name);
void check_finite(ElementType type, std::span<const std::byte> bytes, std::span<const std::int64_t> ids,
                  std::string_view name);

}  // namespace lockstep
