#include "lockstep/data/resize.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {
namespace {

/// Keys' cubic convolution kernel with a = -1/2.
double cubic(double x) {
  x = std::abs(x);
  if (x <= 1) return (1.5 * x - 2.5) * x * x + 1;
  if (x < 2) return ((-0.5 * x + 2.5) * x - 4) * x + 2;
  return 0;
}

ResizeTaps average_taps(std::int64_t in, std::int64_t out, std::int64_t position) {
  // In units of 1 / out of an input pixel everything is an integer: output i covers [i * in, (i + 1) * in),
  // input k covers [k * out, (k + 1) * out).
  ResizeTaps taps;
  const std::int64_t from = position * in, to = from + in;
  for (std::int64_t k = from / out; k * out < to; ++k) {
    const std::int64_t overlap = std::min(to, (k + 1) * out) - std::max(from, k * out);
    taps.index.push_back(k);
    taps.weight.push_back(static_cast<double>(overlap) / static_cast<double>(in));
  }
  return taps;
}

ResizeTaps bicubic_taps(std::int64_t in, std::int64_t out, std::int64_t position) {
  const double ratio = static_cast<double>(out) / static_cast<double>(in);
  const double stretch = std::min(ratio, 1.0);  // shrinking: a wider kernel keeps high frequencies from folding back
  const double width = 4.0 / stretch;
  const double centre = (static_cast<double>(position) + 0.5) / ratio - 0.5;
  const auto left = static_cast<std::int64_t>(std::floor(centre - width / 2));
  const auto taps_wanted = static_cast<std::int64_t>(std::ceil(width)) + 2;
  ResizeTaps taps;
  double sum = 0;
  for (std::int64_t k = left; k < left + taps_wanted; ++k) {
    const double weight = cubic(stretch * (centre - static_cast<double>(k)));
    if (weight == 0) continue;
    taps.index.push_back(std::clamp<std::int64_t>(k, 0, in - 1));
    taps.weight.push_back(weight);
    sum += weight;
  }
  for (double& weight : taps.weight) weight /= sum;
  return taps;
}

/// One plane [height,width] to [rows.size(),cols.size()]; `middle` holds rows.size() * width numbers.
void resize_plane(const double* in, std::int64_t width, const std::vector<ResizeTaps>& rows,
                  const std::vector<ResizeTaps>& cols, std::vector<double>& middle, double* out) {
  for (std::size_t y = 0; y < rows.size(); ++y) {
    double* row = middle.data() + static_cast<std::int64_t>(y) * width;
    std::fill_n(row, width, 0.0);
    for (std::size_t t = 0; t < rows[y].index.size(); ++t) {
      const double weight = rows[y].weight[t];
      const double* source = in + rows[y].index[t] * width;
      for (std::int64_t x = 0; x < width; ++x) row[x] = std::fma(weight, source[x], row[x]);
    }
    for (std::size_t x = 0; x < cols.size(); ++x) {
      double sum = 0;
      for (std::size_t t = 0; t < cols[x].index.size(); ++t)
        sum = std::fma(cols[x].weight[t], row[cols[x].index[t]], sum);
      out[y * cols.size() + x] = sum;
    }
  }
}

}  // namespace

ResizeMethod parse_resize_method(std::string_view text) {
  const std::vector<std::string>& names = names_of<ResizeMethod>();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<ResizeMethod>(found - names.begin());
  throw Error(ErrorCode::usage, fmt::format("resize: unknown method \"{}\", expected average or bicubic", text));
}

std::vector<ResizeTaps> resize_taps(std::int64_t in, std::int64_t out, ResizeMethod method) {
  std::vector<ResizeTaps> taps;
  for (std::int64_t i = 0; i < out; ++i)
    taps.push_back(method == ResizeMethod::average ? average_taps(in, out, i) : bicubic_taps(in, out, i));
  return taps;
}

Samples resize_images(const Samples& samples, std::int64_t size, ResizeMethod method) {
  const ImageShape from = image_shape_of(samples.shape, "resize");
  if (size < 1 || size > 1 << 14) {
    throw Error(ErrorCode::usage, fmt::format("resize: size {} is outside 1..16384", size));
  }
  const std::int64_t count = samples.features.dims.front();
  if (!checked_product({count, from.channels, size, size, 8})) {
    throw Error(ErrorCode::resources, fmt::format("resize: {} images of {}x{} do not fit memory", count, size, size));
  }
  const auto rows = resize_taps(from.height, size, method), cols = resize_taps(from.width, size, method);
  Samples result{make_array(ElementType::float64, {count, from.channels, size, size}),
                 {from.channels, size, size},
                 samples.targets};
  const auto out = result.features.as<double>();
  std::vector<double> plane(static_cast<std::size_t>(from.height * from.width));
  std::vector<double> middle(static_cast<std::size_t>(size * from.width));
  for (std::int64_t p = 0; p < count * from.channels; ++p) {
    const std::int64_t first = p * from.height * from.width;
    for (std::size_t i = 0; i < plane.size(); ++i)
      plane[i] = samples.features.value(first + static_cast<std::int64_t>(i));
    resize_plane(plane.data(), from.width, rows, cols, middle, out.data() + p * size * size);
  }
  return result;
}

Samples transpose_images(const Samples& samples) {
  const ImageShape from = image_shape_of(samples.shape, "transpose");
  const std::int64_t count = samples.features.dims.front(), bytes = element_size(samples.features.type);
  Samples result{make_array(samples.features.type, {count, from.channels, from.width, from.height}),
                 {from.channels, from.width, from.height},
                 samples.targets,
                 samples.lengths};
  const std::byte* in = samples.features.bytes.data();
  std::byte* out = result.features.bytes.data();
  const auto size = static_cast<std::size_t>(bytes);
  for (std::int64_t p = 0; p < count * from.channels; ++p) {
    const std::int64_t first = p * from.height * from.width;
    for (std::int64_t x = 0; x < from.width; ++x) {
      for (std::int64_t y = 0; y < from.height; ++y)
        std::memcpy(out + (first + x * from.height + y) * bytes, in + (first + y * from.width + x) * bytes, size);
    }
  }
  return result;
}

}  // namespace lockstep
