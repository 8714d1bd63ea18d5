#pragma once
// Small networks that together hold every layer in every form, for tests of files and exports.

#include <cmath>
#include <string>
#include <vector>

#include "lockstep/nn/network.hpp"

namespace lockstep {

struct ExampleNetwork {
  std::string name;
  Network network;
};

/// Parameters away from their usual values, so that no scale of 1, bias of 0 or mean of 0 hides a mistake.
inline void stir(Network& network) {
  network.initialise(7);
  std::visit(
      [&](auto& values) {
        std::int64_t i = 0;
        for (const ParameterInfo& info : network.parameters()) {
          for (std::int64_t e = info.offset; e < info.offset + info.elements(); ++e) {
            const double wave = std::sin(double(++i) * 0.7);
            if (info.role == Role::running_var || info.role == Role::scale)
              values[e] = static_cast<std::decay_t<decltype(values[e])>>(1.2 + 0.8 * wave);
            else if (info.role != Role::weight)
              values[e] = static_cast<std::decay_t<decltype(values[e])>>(0.3 * wave);
          }
        }
      },
      network.values());
}

/// Fully connected networks: what a .mat file can hold.
inline std::vector<ExampleNetwork> linear_networks(Precision precision) {
  std::vector<ExampleNetwork> all;
  all.push_back({"digits", Network::from_sizes({20, 7, 10}, Sigmoid{}, Sigmoid{}, precision)});
  Network activations({9}, precision);
  activations.add(Linear{.out = 8}).add(Relu{}).add(Linear{.out = 7}).add(LeakyRelu{.slope = 0.1});
  activations.add(Dropout{.p = 0.3}).add(Linear{.out = 6, .bias = false}).add(Tanh{}).add(Linear{.out = 9});
  activations.add(AbsTanh{}).add(Linear{.out = 5}).add(Gelu{}).add(Linear{.out = 6}).add(Sigmoid{.lambda = 2.5});
  activations.add(Flatten{}).add(Linear{.out = 4}).add(Softmax{});
  all.push_back({"activations", std::move(activations)});
  Network image_input({2, 3, 4}, precision);
  image_input.add(Linear{.out = 3});
  all.push_back({"image_input", std::move(image_input)});
  for (ExampleNetwork& example : all) stir(example.network);
  return all;
}

inline std::vector<ExampleNetwork> image_networks(Precision precision) {
  std::vector<ExampleNetwork> all;
  Network lenet({1, 12, 12}, precision);
  lenet.add(Conv2d{.out = 3, .kernel = 5, .pad = 2}).add(Relu{}).add(MaxPool2d{.window = 2});
  lenet.add(Conv2d{.out = 4, .kernel = 3}).add(Tanh{}).add(AvgPool2d{.window = 2}).add(Flatten{});
  lenet.add(Linear{.out = 10});
  all.push_back({"lenet", std::move(lenet)});

  Network awkward({4, 9, 11}, precision);
  awkward.add(Conv2d{.out = 6, .kernel = {3, 2}, .stride = {2, 1}, .pad = {1, 3}, .dilation = {1, 2}, .groups = 2});
  awkward.add(Gelu{}).add(MaxPool2d{.window = {3, 2}, .stride = Extent{1, 2}, .pad = {1, 1}}).add(AbsTanh{});
  awkward.add(AvgPool2d{.window = {2, 3}, .stride = Extent{2, 1}, .pad = {1, 1}}).add(Sigmoid{.lambda = 0.7});
  awkward.add(Conv2d{.out = 2, .kernel = 1, .bias = false}).add(Softmax{});
  all.push_back({"awkward", std::move(awkward)});

  Network normalised({2, 6, 5}, precision);
  normalised.add(Conv2d{.out = 3, .kernel = 3}).add(LayerNorm{.eps = 1e-3}).add(Relu{}).add(Flatten{});
  normalised.add(Linear{.out = 7}).add(LayerNorm{}).add(Linear{.out = 4});
  all.push_back({"normalised", std::move(normalised)});

  Network residual({3, 8, 8}, precision);
  residual.add(Conv2d{.out = 4, .kernel = 3, .pad = 1, .bias = false}).add(BatchNorm{.momentum = 0.2, .eps = 1e-3});
  residual.add(Residual{.body = {Conv2d{.out = 4, .kernel = 3, .pad = 1}, BatchNorm{}, LeakyRelu{.slope = 0.25},
                                 Residual{.body = {Conv2d{.out = 4, .kernel = 1}, Dropout{.p = 0.5}}, .shortcut = {}}},
                        .shortcut = {}});
  residual.add(Relu{}).add(Residual{.body = {Conv2d{.out = 6, .kernel = 3, .stride = 2, .pad = 1}, Tanh{}},
                                    .shortcut = {Conv2d{.out = 6, .kernel = 1, .stride = 2}, BatchNorm{}}});
  residual.add(Flatten{}).add(BatchNorm{}).add(Linear{.out = 5}).add(Dropout{.p = 0.1});
  all.push_back({"residual", std::move(residual)});
  for (ExampleNetwork& example : all) stir(example.network);
  return all;
}

inline std::vector<ExampleNetwork> sequence_networks(Precision precision) {
  std::vector<ExampleNetwork> all;
  Network stacked({3, 5}, precision);
  stacked.add(Lstm{.hidden = 4, .layers = 2, .bidirectional = true, .all_steps = true}).add(Relu{});
  stacked.add(Gru{.hidden = 3, .bidirectional = true, .all_steps = true}).add(Rnn{.hidden = 4, .layers = 2});
  stacked.add(Linear{.out = 3});
  all.push_back({"stacked", std::move(stacked)});
  Network single({2, 4}, precision);
  single.add(Rnn{.hidden = 3, .bidirectional = true, .all_steps = true, .bias = false, .relu = true});
  single.add(Gru{.hidden = 5, .layers = 2, .all_steps = true, .bias = false}).add(Lstm{.hidden = 4, .bias = false});
  all.push_back({"single", std::move(single)});
  Network forward({3, 4}, precision);  // in one direction
  forward.add(Lstm{.hidden = 4, .layers = 2, .all_steps = true}).add(Gru{.hidden = 5, .all_steps = true});
  forward.add(Rnn{.hidden = 3, .layers = 2});
  all.push_back({"forward", std::move(forward)});
  Network steps({6, 5}, precision);
  steps.add(Positions{}).add(Residual{.body = {LayerNorm{.per_step = true}, Attention{.heads = 2, .causal = true}}});
  steps.add(Linear{.out = 9, .per_step = true}).add(Gelu{}).add(Attention{.heads = 3, .bias = false});
  steps.add(Linear{.out = 4, .bias = false, .per_step = true});
  all.push_back({"steps", std::move(steps)});
  Network last({3, 6}, precision);
  last.add(Gru{.hidden = 4, .bidirectional = true});
  all.push_back({"last", std::move(last)});
  for (ExampleNetwork& example : all) stir(example.network);
  return all;
}

inline std::vector<ExampleNetwork> example_networks(Precision precision) {
  std::vector<ExampleNetwork> all = linear_networks(precision);
  for (ExampleNetwork& example : sequence_networks(precision)) all.push_back(std::move(example));
  for (ExampleNetwork& example : image_networks(precision)) all.push_back(std::move(example));
  return all;
}

}  // namespace lockstep
