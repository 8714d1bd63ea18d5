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
  constant,  // fixed from the beginning: sinusoidal positions
};

struct ParameterInfo {
  std::string name;  // "0.weight", "4.body.1.running_mean": as torch.nn.Sequential names them
  Shape shape;
  Role role = Role::weight;
  std::int64_t offset = 0;   // into the flat vector
  std::int64_t blocks = 1;   // equal parts one behind the other, each with all channels: the gates of a recurrent layer
  std::int64_t skipped = 0;  // elements of each block before these, where a rank holds a part of the channels
  std::int64_t fan_in = 1, fan_out = 1;
  Init init{};

  std::int64_t elements() const { return shape.elements(); }
  bool trainable() const { return role != Role::running_mean && role != Role::running_var && role != Role::constant; }
};

/// The values, in the network's precision.
using ParameterValues = std::variant<AlignedBuffer<float>, AlignedBuffer<double>>;

/// SHA-256, in hex, over the bytes of all parameters in the order of the vector (little-endian IEEE numbers).
/// Two networks trained alike have the same weight hash.
std::string weight_hash(const ParameterValues& values);

/// "2.weight[17]": the parameter and its element at this place of the flat vector.
std::string element_name(const std::vector<ParameterInfo>& parameters, std::int64_t at);

/// False where one of them is NaN or infinite.
bool all_finite(std::span<const float> values);
bool all_finite(std::span<const double> values);
bool all_finite(const ParameterValues& values);

}  // namespace lockstep
