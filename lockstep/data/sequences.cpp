#include "lockstep/data/sequences.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/resize.hpp"

namespace lockstep {

Samples image_steps(Samples samples, std::string_view steps) {
  if (steps == "rows") samples = transpose_images(samples);
  const ImageShape image = image_shape_of(samples.shape, "as_sequence");
  samples.shape = {image.channels * image.height, image.width};
  return samples;
}

Samples with_steps(Samples samples, std::int64_t steps, std::string_view name) {
  if (samples.shape.rank() != 2)
    throw Error(ErrorCode::usage,
                fmt::format("samples {} of {} are no sequences [features,steps]; set data.as_sequence "
                            "or data.shape",
                            samples.shape.str(), name));
  const std::int64_t count = samples.features.dims.front(), features = samples.shape[0], stored = samples.shape[1];
  if (stored == steps) return samples;
  if (samples.lengths.empty()) samples.lengths.assign(static_cast<std::size_t>(count), stored);
  const auto longer = std::ranges::find_if(samples.lengths, [&](std::int64_t length) { return length > steps; });
  if (longer != samples.lengths.end())
    throw Error(ErrorCode::data, fmt::format("{}: sample {} has {} steps, more than data.steps = {}", name,
                                             longer - samples.lengths.begin(), *longer, steps));
  const std::int64_t bytes = element_size(samples.features.type);
  if (!checked_product({count, features, steps, bytes}))
    throw Error(ErrorCode::resources, fmt::format("{}: {} steps of every sample do not fit memory", name, steps));
  Array padded = make_array(samples.features.type, {count, features, steps});
  for (std::int64_t row = 0; row < count * features; ++row)
    std::copy_n(samples.features.bytes.begin() + row * stored * bytes, std::min(stored, steps) * bytes,
                padded.bytes.begin() + row * steps * bytes);
  samples.features = std::move(padded);
  samples.shape = {features, steps};
  return samples;
}

}  // namespace lockstep
