#include "lockstep/data/generators.hpp"

#include <algorithm>
#include <cmath>

#include "lockstep/core/random.hpp"
#include "lockstep/kernels/math/circle.hpp"
#include "lockstep/kernels/math/normal.hpp"

namespace lockstep {
namespace {

// The layer field of the random key tells the streams of one sample apart.
enum class Stream : std::uint32_t { place = 0, noise = 1, centre = 2 };

RandomKey key_of(const GeneratorConfig& config, std::int64_t sample, Stream stream) {
  return {.seed = config.seed,
          .purpose = Purpose::data,
          .epoch = 0,
          .sample = static_cast<std::uint64_t>(sample),
          .layer = static_cast<std::uint32_t>(stream)};
}

/// Calls place(id, out) for every sample, adds the noise; place fills the coordinates and returns the label.
template <class Place>
Samples generate(const GeneratorConfig& config, std::int64_t features, std::int64_t classes, const Place& place) {
  Samples samples{make_array(ElementType::float64, {config.count, features}), {features}, {}};
  samples.targets.classes = classes;
  samples.targets.labels.resize(static_cast<std::size_t>(config.count));
  const auto values = samples.features.as<double>();
  for (std::int64_t i = 0; i < config.count; ++i) {
    const std::int64_t id = config.first + i;
    const auto point = values.subspan(static_cast<std::size_t>(i * features), static_cast<std::size_t>(features));
    samples.targets.labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(place(id, point));
    if (config.noise == 0) continue;
    const RandomKey key = key_of(config, id, Stream::noise);
    for (std::size_t f = 0; f < point.size(); ++f) point[f] = std::fma(config.noise, math::normal(key, f), point[f]);
  }
  return samples;
}

}  // namespace

Samples make_quadrants(const GeneratorConfig& config) {
  return generate(config, 2, 2, [&](std::int64_t id, std::span<double> point) {
    const RandomKey key = key_of(config, id, Stream::place);
    for (std::size_t f = 0; f < 2; ++f) point[f] = std::fma(2.0, uniform(key, f), -1.0);
    return (point[0] >= 0) == (point[1] >= 0) ? 0 : 1;
  });
}

Samples make_moons(const GeneratorConfig& config) {
  return generate(config, 2, 2, [&](std::int64_t id, std::span<double> point) {
    const CirclePoint at = unit_circle(uniform(key_of(config, id, Stream::place), 0));
    const bool second = id % 2 != 0;
    point[0] = second ? 1.0 - at.cosine : at.cosine;
    point[1] = second ? 0.5 - at.sine : at.sine;
    return second ? 1 : 0;
  });
}

Samples make_circles(const GeneratorConfig& config) {
  return generate(config, 2, 2, [&](std::int64_t id, std::span<double> point) {
    const CirclePoint at = unit_circle(2.0 * uniform(key_of(config, id, Stream::place), 0));
    const double radius = id % 2 != 0 ? config.factor : 1.0;
    point[0] = radius * at.cosine;
    point[1] = radius * at.sine;
    return id % 2;
  });
}

Samples make_blobs(const GeneratorConfig& config) {
  return generate(config, config.features, config.classes, [&](std::int64_t id, std::span<double> point) {
    const std::int64_t label = id % config.classes;
    const RandomKey key = key_of(config, label, Stream::centre);
    for (std::size_t f = 0; f < point.size(); ++f) point[f] = std::fma(20.0, uniform(key, f), -10.0);
    return label;
  });
}

Samples make_adding(const GeneratorConfig& config) {
  const std::int64_t steps = config.steps, half = steps / 2;
  Samples samples{make_array(ElementType::float64, {config.count, 2, steps}), {2, steps}, {}};
  samples.targets.values = make_array(ElementType::float64, {config.count, 1});
  const auto numbers = samples.features.as<double>();
  const auto targets = samples.targets.values.as<double>();
  for (std::int64_t i = 0; i < config.count; ++i) {
    const RandomKey place = key_of(config, config.first + i, Stream::place);
    const RandomKey noise = key_of(config, config.first + i, Stream::noise);
    const auto sequence = numbers.subspan(static_cast<std::size_t>(2 * i * steps), static_cast<std::size_t>(2 * steps));
    const auto marked = [&](std::uint64_t which, std::int64_t first, std::int64_t count) {
      const auto at = first + static_cast<std::int64_t>(uniform(place, which) * double(count));
      return static_cast<std::size_t>(at);
    };
    const std::size_t one = marked(0, 0, half), other = marked(1, half, steps - half);
    for (std::size_t t = 0; t < static_cast<std::size_t>(steps); ++t) sequence[t] = uniform(place, 2 + t);
    targets[static_cast<std::size_t>(i)] = sequence[one] + sequence[other];
    for (const std::size_t t : {one, other}) sequence[static_cast<std::size_t>(steps) + t] = 1;
    if (config.noise == 0) continue;
    for (std::size_t f = 0; f < sequence.size(); ++f)
      sequence[f] = std::fma(config.noise, math::normal(noise, f), sequence[f]);
  }
  return samples;
}

Samples make_copy(const GeneratorConfig& config) {
  constexpr std::int64_t kMostSymbols = 10;
  const std::int64_t steps = config.steps, symbols = std::min(kMostSymbols, steps / 3), tokens = config.classes + 2;
  Samples samples{make_array(ElementType::int32, {config.count, steps}), {steps}, {}};
  samples.targets.values = make_array(ElementType::int32, {config.count, steps});
  samples.targets.step_classes = tokens;
  const auto inputs = samples.features.as<std::int32_t>(), answers = samples.targets.values.as<std::int32_t>();
  for (std::int64_t i = 0; i < config.count; ++i) {
    const RandomKey key = key_of(config, config.first + i, Stream::place);
    const std::int64_t first = i * steps, last = first + steps - symbols;
    for (std::int64_t k = 0; k < symbols; ++k) {
      const double drawn = uniform(key, static_cast<std::uint64_t>(k)) * double(config.classes);
      const auto symbol = 2 + static_cast<std::int32_t>(drawn);
      inputs[static_cast<std::size_t>(first + k)] = symbol;
      answers[static_cast<std::size_t>(last + k)] = symbol;
    }
    inputs[static_cast<std::size_t>(last - 1)] = 1;
  }
  return samples;
}

}  // namespace lockstep
