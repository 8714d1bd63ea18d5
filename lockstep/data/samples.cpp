#include "lockstep/data/samples.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {

Shape sample_shape_of(std::span<const std::int64_t> dims, std::string_view name) {
  if (dims.empty() || dims.size() > 4) {
    throw Error(ExitCode::data,
                fmt::format("{}: features [{}], expected [samples], [samples,features], [samples,height,width] or "
                            "[samples,channels,height,width]",
                            name, fmt::join(dims, ",")));
  }
  for (const std::int64_t extent : dims) {
    if (extent == 0) {
      throw Error(ExitCode::data, fmt::format("{}: features [{}] hold no samples", name, fmt::join(dims, ",")));
    }
  }
  const auto rest = dims.subspan(1);
  if (rest.empty()) return {1};
  if (rest.size() == 2) return {1, rest[0], rest[1]};
  return Shape(rest);
}

ImageShape image_shape_of(const Shape& shape, std::string_view operation) {
  if (shape.rank() == 2) return {1, shape[0], shape[1]};
  if (shape.rank() == 3) return {shape[0], shape[1], shape[2]};
  throw Error(ExitCode::usage, fmt::format("{}: samples {} are no images [channels,height,width], give data.shape",
                                           operation, shape.str()));
}

bool same_order(const Shape& stored, const Shape& wanted) {
  if (stored.elements() != wanted.elements()) return false;
  if (stored.rank() <= 1 || wanted.rank() <= 1) return true;
  const auto longer = [](const Shape& shape) {
    std::vector<std::int64_t> extents(shape.extents().begin(), shape.extents().end());
    std::erase(extents, 1);
    return extents;
  };
  return longer(stored) == longer(wanted);
}

void check_input(const Shape& input, const Dataset& data) {
  const Shape shape = data.sample_shape();
  if (same_order(shape, input)) return;
  std::string message = fmt::format("the data has samples {} but the model input is {}", shape.str(), input.str());
  if (shape.elements() == input.elements())
    message += fmt::format(
        "; say what is meant: data.layout = \"nhwc\" turns height, width, channels into channels, height, width; "
        "data.shape = [{}] takes the numbers as they stand",
        fmt::join(input.extents(), ", "));
  throw Error(ExitCode::usage, message);
}

void channels_first(std::span<std::byte> images, const Shape& stored, std::int64_t element_size) {
  const std::int64_t pixels = stored[0] * stored[1], channels = stored[2];
  const auto bytes = static_cast<std::size_t>(stored.elements() * element_size);
  std::vector<std::byte> image(bytes);
  for (; !images.empty(); images = images.subspan(bytes)) {
    std::copy_n(images.begin(), bytes, image.begin());
    copy_transposed(image.data(), images.data(), channels, pixels, element_size);
  }
}

std::optional<Shape> channels_first_shape(const Shape& stored, bool channel_axis) {
  if (stored.rank() == 1) {
    throw Error(
        ExitCode::usage,
        fmt::format("data: layout = \"nhwc\", but samples {} are plain lists; give data.shape = [height, width, "
                    "channels] too",
                    stored.str()));
  }
  if (stored.rank() == 2 || !channel_axis) return std::nullopt;
  return Shape{stored[2], stored[0], stored[1]};
}

namespace {

template <class T>
void check_numbers(std::span<const std::byte> bytes, std::int64_t row, std::string_view name,
                   std::span<const std::int64_t> ids) {
  const auto* values = reinterpret_cast<const T*>(bytes.data());
  const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(T));
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::isfinite(values[i])) continue;
    const std::int64_t sample = ids.empty() ? i / row : ids[static_cast<std::size_t>(i / row)];
    throw Error(ExitCode::data, fmt::format("{}: sample {}: feature {} is {}, a finite number was expected", name,
                                            sample, i % row, values[i]));
  }
}

}  // namespace

void check_finite(const Array& features, std::string_view name) {
  if (features.type == ElementType::float32) check_numbers<float>(features.bytes, features.row_elements(), name, {});
  if (features.type == ElementType::float64) check_numbers<double>(features.bytes, features.row_elements(), name, {});
}

void check_finite(ElementType type, std::span<const std::byte> bytes, std::span<const std::int64_t> ids,
                  std::string_view name) {
  if (ids.empty()) return;
  const auto row = static_cast<std::int64_t>(bytes.size() / ids.size()) / element_size(type);
  if (type == ElementType::float32) check_numbers<float>(bytes, row, name, ids);
  if (type == ElementType::float64) check_numbers<double>(bytes, row, name, ids);
}

}  // namespace lockstep
