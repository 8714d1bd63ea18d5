#pragma once
// How initial weights are drawn. Element e of parameter p is a pure function of (seed, p, e): it does not depend on
// who computes it. Biases start at 0 unless the kind says otherwise.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep {

enum class InitKind {
  uniform,         // uniform in +-scale
  normal,          // scale * N(0, 1)
  xavier_uniform,  // uniform in +-sqrt(6 / (fan_in + fan_out))
  xavier_normal,   // N(0, 2 / (fan_in + fan_out))
  fan_in_uniform,  // uniform in +-1/sqrt(fan_in)
  he_uniform,      // uniform in +-sqrt(6 / fan_in)
  he_normal,       // N(0, 2 / fan_in)
  zeros,
  constant,  // scale
};

struct Init {
  InitKind kind = InitKind::xavier_uniform;
  double scale = 0;     // of uniform, normal and constant
  bool biases = false;  // draw the biases from the same distribution (fan_in of their layer) instead of 0
};

/// The names of the configuration ("xavier-uniform"), in the order of InitKind.
const std::vector<std::string>& init_names();

/// Fills `values` from the stream of `parameter`, from element `first` on.
template <class T>
void initialise(const Init& init, std::int64_t fan_in, std::int64_t fan_out, std::uint64_t seed,
                std::uint32_t parameter, std::span<T> values, std::int64_t first = 0);

}  // namespace lockstep
