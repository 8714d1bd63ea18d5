#pragma once
// How initial weights are drawn. Element e of parameter p is a pure function of (seed, p, e): it does not depend on
// who computes it. Biases start at 0 unless the kind says otherwise.

#include <cstdint>
#include <span>

#include "lockstep/core/fields.hpp"
#include "lockstep/core/names.hpp"

namespace lockstep {

enum class InitKind {
  uniform,
  normal,
  xavier_uniform,
  xavier_normal,
  fan_in_uniform,
  he_uniform,
  he_normal,
  zeros,
  constant,
  sinusoidal,
};

constexpr Described describe(InitKind kind) {
  switch (kind) {
    case InitKind::uniform:
      return {"uniform", "uniform in +-scale"};
    case InitKind::normal:
      return {"normal", "scale * N(0, 1)"};
    case InitKind::xavier_uniform:
      return {"xavier-uniform", "uniform in +-sqrt(6 / (fan_in + fan_out))"};
    case InitKind::xavier_normal:
      return {"xavier-normal", "N(0, 2 / (fan_in + fan_out))"};
    case InitKind::fan_in_uniform:
      return {"fan-in-uniform", "uniform in +-1/sqrt(fan_in)"};
    case InitKind::he_uniform:
      return {"he-uniform", "uniform in +-sqrt(6 / fan_in)"};
    case InitKind::he_normal:
      return {"he-normal", "N(0, 2 / fan_in)"};
    case InitKind::zeros:
      return {"zeros", "0"};
    case InitKind::constant:
      return {"constant", "scale"};
    case InitKind::sinusoidal:
      return {"sinusoidal", "of positions: sine and cosine of step / 10000^(feature / features)"};
  }
  return {};
}

struct Init {
  InitKind kind = InitKind::xavier_uniform;
  double scale = 0;
  bool biases = false;  // draw the biases from the same distribution (fan_in of their layer) instead of 0

  static constexpr auto fields() {
    constexpr auto is_spread = [](const Init& i) { return i.kind == InitKind::uniform || i.kind == InitKind::normal; };
    constexpr auto is_constant = [](const Init& i) { return i.kind == InitKind::constant; };
    constexpr const char* hint = "\"{0}\" needs one, as {{name = \"{0}\", scale = 0.12}}";
    return std::tuple{
        field("scale", &Init::scale, kNotNegative, "size of the numbers").needs(hint).when(is_spread),
        field("scale", &Init::scale, NumberRange{-1e30, 1e30}, "the number").needs(hint).when(is_constant),
        field("biases", &Init::biases, "draw biases too; else they start at 0").quiet()};
  }
};

/// Fills `values` from the stream of `parameter`, from element `first` on.
template <class T>
void initialise(const Init& init, std::int64_t fan_in, std::int64_t fan_out, std::uint64_t seed,
                std::uint32_t parameter, std::span<T> values, std::int64_t first = 0);

}  // namespace lockstep
