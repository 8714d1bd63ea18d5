#pragma once
// What every layer's record shares. A layer is a pair of files: the header has its record, a plain value with
//   kName, kHelp     what configurations and reports call it, and one line of the documentation
//   fields()         its options (core/fields.hpp): TOML, JSON in model files and the documentation follow from them
//   kExample         where an option is required: how to write the layer
//   detail()         optional: what inspect shows of the options; without it, all of them
// and the source what it does:
//   plan()           checks the input; sets the output shape and the parameters
//   onnx()           adds its nodes to a graph; returns the name of the output
//   make()           the layer that runs: forward, backward, cost (layer.hpp)
// The list of layers stands in layers.hpp. What a record lacks does not compile or does not link.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lockstep/core/fields.hpp"
#include "lockstep/core/names.hpp"
#include "lockstep/nn/init.hpp"

namespace lockstep {

struct LayerPlan;
class OnnxBuilder;
template <class T>
class Layer;

/// Height and width of a window; one number means both.
struct Extent {
  std::int64_t height, width;
  Extent(std::int64_t both) : height(both), width(both) {}  // NOLINT(google-explicit-constructor): .kernel = 5
  Extent(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// "5x3"
std::string extent_text(const Extent& extent);
/// ", pad 2" unless it is the usual value: a part of a layer's detail().
std::string detail_unless(const char* name, const Extent& extent, std::int64_t usual);

inline constexpr IntRange kOutputRange{1, 1 << 24};
inline constexpr IntRange kWindowRange{1, 4096};
inline constexpr IntRange kPadRange{0, 4096};

inline constexpr const char* kBiasHelp = "adds a bias to every output";
inline constexpr const char* kPerStepHelp = "every step of [features, steps] by itself, with the same parameters";
inline constexpr const char* kInitHelp = "initialiser of the weights; default: that of the model";

}  // namespace lockstep
