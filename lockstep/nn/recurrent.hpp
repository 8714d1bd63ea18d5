#pragma once
// Recurrent layers over sequences [features, steps], with PyTorch's formulas and names of parameters: weight_ih_l0,
// weight_hh_l0, bias_ih_l0, bias_hh_l0; _l1, ... of the layers above, each with _reverse for the second direction.
// fan_in and fan_out of all of them are `hidden`, so "fan-in-uniform" with biases draws what PyTorch draws.

#include "lockstep/nn/record.hpp"

namespace lockstep {

inline constexpr IntRange kStackRange{1, 4};

/// The options that all of them have.
template <class Record>
constexpr auto recurrent_fields() {
  return std::tuple{
      field("hidden", &Record::hidden, kOutputRange, "units per layer and direction")
          .needs("the number of hidden units")
          .shorthand(),
      field("layers", &Record::layers, kStackRange, "layers, each over the outputs of the one below"),
      field("bidirectional", &Record::bidirectional, "a second recurrence from the last step to the first"),
      field("all_steps", &Record::all_steps, "output of every step, [outputs, steps]; else of the last one, [outputs]"),
      field("bias", &Record::bias, "adds two biases per unit, as PyTorch does"),
      field("init", &Record::init, kInitHelp)};
}

/// kernels/recurrent.hpp has the formulas.
struct Lstm {
  std::int64_t hidden = 0, layers = 1;
  bool bidirectional = false, all_steps = false, bias = true;
  std::optional<Init> init{};

  static constexpr const char* kName = "lstm";
  static constexpr const char* kHelp = "long short-term memory over [features, steps]";
  static constexpr const char* kExample = "{lstm = 128}";
  static constexpr auto fields() { return recurrent_fields<Lstm>(); }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

struct Gru {
  std::int64_t hidden = 0, layers = 1;
  bool bidirectional = false, all_steps = false, bias = true;
  std::optional<Init> init{};

  static constexpr const char* kName = "gru";
  static constexpr const char* kHelp = "gated recurrent unit over [features, steps]";
  static constexpr const char* kExample = "{gru = 128}";
  static constexpr auto fields() { return recurrent_fields<Gru>(); }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

/// h = tanh(weight_ih x + bias_ih + weight_hh h_before + bias_hh), or ReLU of it.
struct Rnn {
  std::int64_t hidden = 0, layers = 1;
  bool bidirectional = false, all_steps = false, bias = true;
  std::optional<Init> init{};
  bool relu = false;

  static constexpr const char* kName = "rnn";
  static constexpr const char* kHelp = "simple recurrence over [features, steps]";
  static constexpr const char* kExample = "{rnn = 128}";
  static constexpr auto fields() {
    return std::tuple_cat(recurrent_fields<Rnn>(), std::tuple{field("relu", &Rnn::relu, "ReLU in place of tanh")});
  }
  std::string detail() const;
  void plan(LayerPlan& plan, const Init& init) const;
  std::string onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const;
  template <class T>
  std::unique_ptr<Layer<T>> make(const LayerPlan& plan) const;
};

}  // namespace lockstep
