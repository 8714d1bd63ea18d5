#include "lockstep/nn/init.hpp"

#include <cmath>

#include "lockstep/core/random.hpp"
#include "lockstep/kernels/math/circle.hpp"
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/math/normal.hpp"

namespace lockstep {

namespace {

struct Distribution {
  enum { uniform, normal, constant } shape;
  double size;  // half width, standard deviation or value
};

Distribution distribution(const Init& init, double fan_in, double fan_out) {
  switch (init.kind) {
    case InitKind::uniform:
      return {Distribution::uniform, init.scale};
    case InitKind::normal:
      return {Distribution::normal, init.scale};
    case InitKind::xavier_uniform:
      return {Distribution::uniform, std::sqrt(6 / (fan_in + fan_out))};
    case InitKind::xavier_normal:
      return {Distribution::normal, std::sqrt(2 / (fan_in + fan_out))};
    case InitKind::fan_in_uniform:
      return {Distribution::uniform, 1 / std::sqrt(fan_in)};
    case InitKind::he_uniform:
      return {Distribution::uniform, std::sqrt(6 / fan_in)};
    case InitKind::he_normal:
      return {Distribution::normal, std::sqrt(2 / fan_in)};
    case InitKind::zeros:
      return {Distribution::constant, 0};
    case InitKind::constant:
      return {Distribution::constant, init.scale};
    case InitKind::sinusoidal:
      break;
  }
  return {Distribution::constant, 0};
}

/// Element (feature f, step t) of a table [features, steps]: sin(t * 10000^(-f / features)) for even f, the cosine of
/// the same angle for the odd f behind it.
double wave(std::int64_t feature, std::int64_t features, std::int64_t step) {
  constexpr double kLogBase = 9.210340371976184;  // ln 10000
  constexpr double kInversePi = 0.3183098861837907;
  const std::int64_t even = feature - feature % 2;
  const double angle = double(step) * math::exp(-(double(even) * (kLogBase / double(features))));
  const double turn = angle * kInversePi;
  const CirclePoint at = unit_circle(turn - 2 * std::floor(turn / 2));
  return feature == even ? at.sine : at.cosine;
}

}  // namespace

template <class T>
void initialise(const Init& init, std::int64_t fan_in, std::int64_t fan_out, std::uint64_t seed,
                std::uint32_t parameter, std::span<T> values, std::int64_t first) {
  const Distribution d = distribution(init, double(fan_in), double(fan_out));
  const RandomKey key{.seed = seed, .purpose = Purpose::init, .layer = parameter};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t e = static_cast<std::uint64_t>(first) + i;
    // Drawn in double and rounded once, so a float32 network starts from the rounded float64 one.
    double value = d.size;
    if (d.shape == Distribution::uniform) value = (2 * uniform(key, e) - 1) * d.size;
    if (init.kind == InitKind::sinusoidal) value = wave(std::int64_t(e) / fan_out, fan_in, std::int64_t(e) % fan_out);
    if (d.shape == Distribution::normal) value = math::normal(key, e) * d.size;
    values[i] = static_cast<T>(value);
  }
}

template void initialise<float>(const Init&, std::int64_t, std::int64_t, std::uint64_t, std::uint32_t, std::span<float>,
                                std::int64_t);
template void initialise<double>(const Init&, std::int64_t, std::int64_t, std::uint64_t, std::uint32_t,
                                 std::span<double>, std::int64_t);

}  // namespace lockstep
