#include "lockstep/data/samples.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"

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

void check_finite(const Array& features, std::string_view name) {
  const auto check = [&](auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (std::isfinite(values[i])) continue;
      const auto sample = static_cast<std::int64_t>(i) / features.row_elements();
      throw Error(ExitCode::data,
                  fmt::format("{}: sample {}: feature {} is {}, a finite number was expected", name, sample,
                              static_cast<std::int64_t>(i) % features.row_elements(), values[i]));
    }
  };
  if (features.type == ElementType::float32) check(features.as<float>());
  if (features.type == ElementType::float64) check(features.as<double>());
}

}  // namespace lockstep
