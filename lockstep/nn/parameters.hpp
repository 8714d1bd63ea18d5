#pragma once
// All parameters of a network in one flat vector: trainable ones first, then the running statistics. The optimiser,
// the reduction over slots and the weight hash see the vector; layers see their slices of it.

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "lockstep/core/aligned.hpp"
#include "lockstep/nn/init.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

enum class Role {
  weight,        // decays under L2 regularisation and AdamW
  bias,          // linear, conv2d, and batch normalisation's beta: never decays
  scale,         // batch normalisation's gamma: never decays
  running_mean,  // statistics: not trained
  running_var,
};

struct ParameterInfo {
  std::string name;  // "0.weight", "4.body.1.running_mean": as torch.nn.Sequential names them
  Shape shape;
  Role role = Role::weight;
  std::int64_t offset = 0;   // into the flat vector
  std::int64_t skipped = 0;  // elements of the network's parameter before these, where a rank holds a part of it
  std::int64_t fan_in = 1, fan_out = 1;
  Init init{};

  std::int64_t elements() const { return shape.elements(); }
  bool trainable() const { return role != Role::running_mean && role != Role::running_var; }
};

/// The values, in the network's precision.
using ParameterValues = std::variant<AlignedBuffer<float>, AlignedBuffer<double>>;

/// SHA-256, in hex, over the bytes of all parameters in the order of the vector (little-endian IEEE numbers).
/// Two networks trained alike have the same weight hash.
std::string weight_hash(const ParameterValues& values);

/// False where one of them is NaN or infinite.
bool all_finite(std::span<const float> values);
bool all_finite(std::span<const double> values);
bool all_finite(const ParameterValues& values);

}  // namespace lockstep
