#pragma once
// Samples and weights as small pictures.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lockstep/model/model_file.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// How the numbers of a sample lie in a picture.
struct PictureShape {
  std::int64_t channels = 1, height = 0, width = 0;
  bool transposed = false;  // columns first
  std::int64_t elements() const { return channels * height * width; }
};

/// Nothing where the samples are no pictures. A list of n*n numbers that are no columns of a table is one, and so is a
/// sequence.
std::optional<PictureShape> picture_shape(const Shape& sample, const ModelInfo& info);

/// The inputs of a network as a picture: black to white as in the source, where its scaling is known.
std::string sample_picture(const PictureShape& shape, std::span<const double> inputs, const ModelInfo& info);

/// Weights: blue below 0, white at 0, orange above it; of three channels their colours around grey. `most`: the largest
/// weight by magnitude.
std::string filter_picture(const PictureShape& shape, std::span<const double> weights, double most);

}  // namespace lockstep
