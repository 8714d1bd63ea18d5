#pragma once
// The layers a network can be described with: plain values, no memory, no machine. A network is a list of them.
//
//   Network net({1, 28, 28});
//   net.add(Conv2d{.out = 6, .kernel = 5, .pad = 2}).add(Relu{}).add(MaxPool2d{.window = 2}).add(Flatten{});
//   net.add(Linear{.out = 10});

#include <variant>

#include "lockstep/nn/activation.hpp"
#include "lockstep/nn/attention.hpp"
#include "lockstep/nn/batch_norm.hpp"
#include "lockstep/nn/conv2d.hpp"
#include "lockstep/nn/dropout.hpp"
#include "lockstep/nn/embedding.hpp"
#include "lockstep/nn/flatten.hpp"
#include "lockstep/nn/layer_norm.hpp"
#include "lockstep/nn/linear.hpp"
#include "lockstep/nn/pool2d.hpp"
#include "lockstep/nn/recurrent.hpp"
#include "lockstep/nn/residual.hpp"
#include "lockstep/nn/softmax.hpp"

namespace lockstep {

/// The list of layers (record.hpp), in the order of the documentation.
using LayerKind =
    std::variant<Linear, Conv2d, MaxPool2d, AvgPool2d, Relu, LeakyRelu, Tanh, AbsTanh, Sigmoid, Gelu, Softmax,
                 BatchNorm, LayerNorm, Dropout, Embedding, Positions, Lstm, Gru, Rnn, Attention, Flatten, Residual>;

struct LayerSpec {
  LayerKind kind;
  template <class Kind>
  LayerSpec(Kind k) : kind(std::move(k)) {}  // NOLINT(google-explicit-constructor): lists of layers read well
};

/// "conv2d", "max_pool2d", "relu", ...: the names of the configuration and of reports.
std::string layer_type(const LayerSpec& spec);

/// "6 of 5x5, pad 2": what distinguishes this layer from others of its type.
std::string layer_detail(const LayerSpec& spec);

}  // namespace lockstep
