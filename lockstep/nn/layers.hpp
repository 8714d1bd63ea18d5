#pragma once
// The layers a network can be described with: plain values, no memory, no machine. A network is a list of them.
//
//   Network net({1, 28, 28});
//   net.add(Conv2d{.out = 6, .kernel = 5, .pad = 2}).add(Relu{}).add(MaxPool2d{.window =
//   2}).add(Flatten{}).add(Linear{.out = 10});

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lockstep/nn/init.hpp"

namespace lockstep {

/// Height and width of a window; one number means both.
struct Extent {
  std::int64_t height, width;
  Extent(std::int64_t both) : height(both), width(both) {}  // NOLINT(google-explicit-constructor): .kernel = 5
  Extent(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  friend bool operator==(const Extent&, const Extent&) = default;
};

/// y = w x + b on the flattened sample.
struct Linear {
  std::int64_t out = 0;
  bool bias = true;
  std::optional<Init> init{};  // default: the network's
};

/// See kernels/conv2d.hpp.
struct Conv2d {
  std::int64_t out = 0;
  Extent kernel = 1, stride = 1, pad = 0, dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  std::optional<Init> init{};
};

/// See kernels/pool2d.hpp. Without a stride the windows do not overlap.
struct MaxPool2d {
  Extent window = 2;
  std::optional<Extent> stride{};
  Extent pad = 0;
};
struct AvgPool2d {
  Extent window = 2;
  std::optional<Extent> stride{};
  Extent pad = 0;
};

struct Relu {};
struct LeakyRelu {
  double slope = 0.01;
};
struct Tanh {};
struct AbsTanh {};
struct Sigmoid {
  double lambda = 1;  // 1 / (1 + exp(-lambda x))
};
struct Gelu {};  // the tanh form
struct Softmax {};

/// Per channel of [channels,height,width] or per feature of [features]; see kernels/batch_norm.hpp.
/// running = (1 - momentum) * running + momentum * statistics of the batch.
struct BatchNorm {
  double momentum = 0.1;
  double eps = 1e-5;
};

struct Dropout {
  double p = 0.5;  // the share of elements set to 0 in training
};
struct Flatten {};

struct LayerSpec;

/// y = body(x) + shortcut(x); an empty shortcut is the identity.
struct Residual {
  std::vector<LayerSpec> body;
  std::vector<LayerSpec> shortcut;
};

struct LayerSpec {
  std::variant<Linear, Conv2d, MaxPool2d, AvgPool2d, Relu, LeakyRelu, Tanh, AbsTanh, Sigmoid, Gelu, Softmax, BatchNorm,
               Dropout, Flatten, Residual>
      kind;
  template <class Kind>
  LayerSpec(Kind k) : kind(std::move(k)) {}  // NOLINT(google-explicit-constructor): lists of layers read well
};

/// "conv2d", "max_pool2d", "relu", ...: the names of the configuration and of reports.
std::string layer_type(const LayerSpec& spec);

}  // namespace lockstep
