#pragma once
// Features and targets on their way from a file to a data set.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lockstep/data/array.hpp"
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

/// A sample as an image; Error(usage), naming `operation`, when the shape is not [h,w] or [c,h,w].
ImageShape image_shape_of(const Shape& shape, std::string_view operation);

/// Error(data) naming the first sample with a NaN or an infinity.
void check_finite(const Array& features, std::string_view name);

}  // namespace lockstep
