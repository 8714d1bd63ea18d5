#include "lockstep/run/pages/pictures.hpp"

#include <algorithm>
#include <cmath>

#include "lockstep/lab/report/picture.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kLongestSide = 64;  // of a picture in a report

std::uint8_t byte_of(double share) {
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(std::isfinite(share) ? share : 0.0, 0.0, 1.0)));
}

/// Calls colour(numbers of a pixel, out) for every pixel that is kept: large pictures lose lines and columns.
template <class Colour>
std::string picture_of(const PictureShape& shape, std::int64_t channels, std::span<const double> numbers,
                       const Colour& colour) {
  const std::int64_t step = (std::max(shape.height, shape.width) + kLongestSide - 1) / kLongestSide;
  report::Pixels out{
      .width = (shape.width + step - 1) / step, .height = (shape.height + step - 1) / step, .channels = channels};
  for (std::int64_t y = 0; y < shape.height; y += step)
    for (std::int64_t x = 0; x < shape.width; x += step) {
      double pixel[3] = {};
      for (std::int64_t c = 0; c < shape.channels; ++c) {
        const std::int64_t at = shape.transposed ? x * shape.height + y : y * shape.width + x;
        pixel[c] = numbers[static_cast<std::size_t>(c * shape.height * shape.width + at)];
      }
      std::uint8_t bytes[3] = {};
      colour(pixel, bytes);
      out.values.insert(out.values.end(), bytes, bytes + channels);
    }
  return report::png_base64(out);
}

}  // namespace

std::optional<PictureShape> picture_shape(const Shape& sample, const ModelInfo& info) {
  constexpr std::int64_t kSmallest = 4, kLargest = 4096;
  PictureShape shape;
  if (sample.rank() == 3) {
    shape = {.channels = sample[0], .height = sample[1], .width = sample[2]};
    if (shape.channels != 1 && shape.channels != 3) return std::nullopt;
  } else if (sample.rank() == 2) {
    // [features, steps]: the rows of a picture, read one after another, are its columns.
    const bool rows = info.preparation && info.preparation->as_sequence == "rows";
    shape = {.height = rows ? sample[1] : sample[0], .width = rows ? sample[0] : sample[1], .transposed = rows};
  } else {
    const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(double(sample.elements()))));
    if (side * side != sample.elements() || info.table || side < 8) return std::nullopt;
    shape = {.height = side, .width = side};
    shape.transposed = info.source.ends_with(".mat") && !(info.preparation && info.preparation->transpose);
  }
  const auto fits = [](std::int64_t side) { return side >= kSmallest && side <= kLargest; };
  return fits(shape.height) && fits(shape.width) ? std::optional(shape) : std::nullopt;
}

std::string sample_picture(const PictureShape& shape, std::span<const double> inputs, const ModelInfo& info) {
  std::vector<double> numbers(inputs.begin(), inputs.end());
  double low = 0, high = info.white;
  if (!info.scale.empty()) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::size_t at = info.scale.size() == 1 ? 0 : i;
      numbers[i] = info.scale[at] != 0 ? (numbers[i] - info.offset[at]) / info.scale[at] : 0;
    }
  }
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  if (*least < 0 || *most > high * 1.001) low = *least, high = *most;  // no pixels as we know them
  const double range = high > low ? high - low : 1;
  return picture_of(shape, shape.channels, numbers, [&](const double* pixel, std::uint8_t* out) {
    for (std::int64_t c = 0; c < shape.channels; ++c) out[c] = byte_of((pixel[c] - low) / range);
  });
}

std::string filter_picture(const PictureShape& shape, std::span<const double> weights, double most) {
  const double scale = most > 0 ? 1 / most : 0;
  constexpr double kBelow[] = {0.106, 0.404, 0.678}, kAbove[] = {0.78, 0.31, 0.03};
  return picture_of(shape, 3, weights, [&](const double* pixel, std::uint8_t* out) {
    for (std::int64_t c = 0; c < 3; ++c) {
      const double value = std::clamp(pixel[shape.channels == 3 ? c : 0] * scale, -1.0, 1.0);
      out[c] = shape.channels == 3 ? byte_of(0.5 + 0.5 * value)
                                   : byte_of(1 + std::abs(value) * ((value < 0 ? kBelow : kAbove)[c] - 1));
    }
  });
}

}  // namespace lockstep
