#include "lockstep/data/generators.hpp"

#include <cmath>

#include "lockstep/core/random.hpp"
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

// Taylor coefficients of sin(a) / a and cos(a) in a^2; on |a| <= pi/4 the first omitted term is below 2^-59.
constexpr double kSine[] = {1.0,          -1.0 / 6,        1.0 / 120,          -1.0 / 5040,
                            1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0, -1.0 / 1307674368000.0};
constexpr double kCosine[] = {1.0,
                              -1.0 / 2,
                              1.0 / 24,
                              -1.0 / 720,
                              1.0 / 40320,
                              -1.0 / 3628800,
                              1.0 / 479001600,
                              -1.0 / 87178291200.0,
                              1.0 / 20922789888000.0};

template <std::size_t Size>
double polynomial(const double (&coefficients)[Size], double x) {
  double sum = coefficients[Size - 1];
  for (std::size_t i = Size - 1; i-- > 0;) sum = std::fma(sum, x, coefficients[i]);
  return sum;
}

}  // namespace

CirclePoint unit_circle(double turn) {
  // The nearest quarter turn is taken off exactly; what is left lies in [-1/4, 1/4].
  const double quarter = std::floor(std::fma(2.0, turn, 0.5));
  const double angle = std::fma(-0.5, quarter, turn) * 3.141592653589793;
  const double square = angle * angle;
  const double sine = angle * polynomial(kSine, square), cosine = polynomial(kCosine, square);
  switch (static_cast<int>(quarter) & 3) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

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

}  // namespace lockstep
