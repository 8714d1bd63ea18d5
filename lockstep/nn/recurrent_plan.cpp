#include "lockstep/nn/recurrent_plan.hpp"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "lockstep/nn/onnx.hpp"
#include "lockstep/nn/plan.hpp"

namespace lockstep {

namespace {

template <class Record>
RecurrentSpec common_spec(Cell cell, const Record& layer) {
  return {.cell = cell,
          .hidden = layer.hidden,
          .layers = layer.layers,
          .bidirectional = layer.bidirectional,
          .all_steps = layer.all_steps,
          .bias = layer.bias};
}

/// "_l0", "_l0_reverse"
std::string suffix(std::int64_t layer, int direction) {
  return fmt::format("_l{}{}", layer, direction == 0 ? "" : "_reverse");
}

std::string detail_of(const RecurrentSpec& spec) {
  std::string text = spec.layers > 1 ? fmt::format("{} layers", spec.layers) : "";
  const auto add = [&](bool holds, const char* word) {
    if (holds) text += fmt::format("{}{}", text.empty() ? "" : ", ", word);
  };
  add(spec.bidirectional, "both directions");
  add(spec.all_steps, "all steps");
  add(!spec.bias, "no bias");
  add(spec.relu, "ReLU");
  return text;
}

void plan_recurrent(LayerPlan& plan, const RecurrentSpec& spec, const Init& init) {
  require(plan, plan.in.rank() == 2, "needs a sequence [features,steps], as data.as_sequence makes of an image");
  const std::int64_t hidden = spec.hidden;
  require(plan, hidden >= 1 && hidden <= kOutputRange.max, fmt::format("hidden = {} is out of range", hidden));
  require(plan, spec.layers >= 1 && spec.layers <= kStackRange.max,
          fmt::format("layers = {} must be from 1 to {}", spec.layers, kStackRange.max));
  const Init biases = init.biases ? init : Init{.kind = InitKind::zeros};
  const std::int64_t rows = spec.gates() * hidden, outputs = spec.directions() * hidden;
  for (std::int64_t l = 0; l < spec.layers; ++l)
    for (int d = 0; d < spec.directions(); ++d) {
      const auto add = [&](const char* name, const Shape& shape, Role role, const Init& drawn) {
        add_parameter(plan, (name + suffix(l, d)).c_str(), shape, role, hidden, hidden, drawn);
      };
      add("weight_ih", {rows, l == 0 ? plan.in[0] : outputs}, Role::weight, init);
      add("weight_hh", {rows, hidden}, Role::weight, init);
      if (!spec.bias) continue;
      add("bias_ih", {rows}, Role::bias, biases);
      add("bias_hh", {rows}, Role::bias, biases);
    }
  plan.out = spec.all_steps ? Shape{outputs, plan.in[1]} : Shape{outputs};
}

// ONNX: sequences are [steps, N, features], the parameters of both directions stand in one tensor, and the gates in
// another order.

std::vector<std::int64_t> onnx_gate_order(Cell cell) {
  if (cell == Cell::lstm) return {0, 3, 1, 2};  // i, o, f, g
  if (cell == Cell::gru) return {1, 0, 2};      // z, r, n
  return {0};
}

const char* onnx_operator(Cell cell) { return cell == Cell::lstm ? "LSTM" : cell == Cell::gru ? "GRU" : "RNN"; }

class OnnxRecurrence {
 public:
  OnnxRecurrence(OnnxBuilder& graph, const LayerPlan& plan, const RecurrentSpec& spec)
      : graph_(graph), plan_(plan), spec_(spec), steps_(plan.in[1]), outputs_(spec.directions() * spec.hidden) {
    for (const std::int64_t gate : onnx_gate_order(spec.cell))
      for (std::int64_t unit = 0; unit < spec.hidden; ++unit) rows_.push_back(gate * spec.hidden + unit);
  }

  std::string build(std::string x) {
    x = node("Transpose", {x}, {{"perm", std::vector<std::int64_t>{2, 0, 1}}});
    std::string y;  // [steps, directions, N, hidden]
    for (std::int64_t l = 0; l < spec_.layers; ++l) {
      if (l > 0) {
        x = node("Transpose", {y}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
        x = reshaped(x, {steps_, -1, outputs_});
      }
      y = recurrence(l, x);
    }
    if (!spec_.all_steps) return last_steps(y);
    return reshaped(node("Transpose", {y}, {{"perm", std::vector<std::int64_t>{2, 1, 3, 0}}}), {-1, outputs_, steps_});
  }

 private:
  std::string node(const char* operation, const std::vector<std::string>& inputs,
                   const std::vector<OnnxAttribute>& attributes = {}) {
    return graph_.node(operation, inputs, plan_.path, attributes);
  }
  std::string constant(std::vector<std::int64_t> values) {
    return graph_.integers(fmt::format("{}.integers.{}", plan_.path, ++constants_), values);
  }
  std::string reshaped(const std::string& x, std::vector<std::int64_t> extents) {
    return node("Reshape", {x, constant(std::move(extents))});
  }
  std::string joined(const std::vector<std::string>& parts, std::int64_t axis) {
    return parts.size() == 1 ? parts[0] : node("Concat", parts, {{"axis", axis}});
  }
  /// A parameter with its rows in ONNX's order.
  std::string parameter(const char* name, std::int64_t l, int d) {
    return node("Gather", {fmt::format("{}.{}{}", plan_.path, name, suffix(l, d)), constant(rows_)},
                {{"axis", std::int64_t{0}}});
  }

  std::string recurrence(std::int64_t l, const std::string& x) {
    std::vector<std::string> weights_ih, weights_hh, biases;
    const auto count = static_cast<std::int64_t>(rows_.size());
    for (int d = 0; d < spec_.directions(); ++d) {
      weights_ih.push_back(reshaped(parameter("weight_ih", l, d), {1, count, -1}));
      weights_hh.push_back(reshaped(parameter("weight_hh", l, d), {1, count, -1}));
      if (spec_.bias)
        biases.push_back(reshaped(joined({parameter("bias_ih", l, d), parameter("bias_hh", l, d)}, 0), {1, 2 * count}));
    }
    std::vector<std::string> inputs = {x, joined(weights_ih, 0), joined(weights_hh, 0)};
    if (spec_.bias) inputs.push_back(joined(biases, 0));
    std::vector<OnnxAttribute> attributes = {{"hidden_size", spec_.hidden}};
    if (spec_.bidirectional) attributes.push_back({"direction", std::string("bidirectional")});
    if (spec_.cell == Cell::gru) attributes.push_back({"linear_before_reset", std::int64_t{1}});
    if (spec_.relu)
      attributes.push_back({"activations", std::vector<std::string>(std::size_t(spec_.directions()), "Relu")});
    return node(onnx_operator(spec_.cell), inputs, attributes);
  }

  std::string last_steps(const std::string& y) {
    std::vector<std::string> parts;
    for (int d = 0; d < spec_.directions(); ++d) {
      std::string part = node("Gather", {y, constant({d == 0 ? steps_ - 1 : 0})}, {{"axis", std::int64_t{0}}});
      if (spec_.bidirectional) part = node("Gather", {part, constant({d})}, {{"axis", std::int64_t{1}}});
      parts.push_back(reshaped(part, {-1, spec_.hidden}));
    }
    return joined(parts, 1);
  }

  OnnxBuilder& graph_;
  const LayerPlan& plan_;
  const RecurrentSpec spec_;
  std::int64_t steps_, outputs_;
  std::vector<std::int64_t> rows_;
  int constants_ = 0;
};

}  // namespace

RecurrentSpec spec_of(const Lstm& layer) { return common_spec(Cell::lstm, layer); }
RecurrentSpec spec_of(const Gru& layer) { return common_spec(Cell::gru, layer); }
RecurrentSpec spec_of(const Rnn& layer) {
  RecurrentSpec spec = common_spec(Cell::rnn, layer);
  spec.relu = layer.relu;
  return spec;
}

// NOLINTBEGIN(bugprone-macro-parentheses): the name of a record takes none
#define LOCKSTEP_RECURRENT_RECORD(record)                                                           \
  std::string record::detail() const { return detail_of(spec_of(*this)); }                          \
  void record::plan(LayerPlan& plan, const Init& usual) const {                                     \
    plan_recurrent(plan, spec_of(*this), init.value_or(usual));                                     \
  }                                                                                                 \
  std::string record::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const { \
    return OnnxRecurrence(graph, plan, spec_of(*this)).build(x);                                    \
  }
// NOLINTEND(bugprone-macro-parentheses)
LOCKSTEP_RECURRENT_RECORD(Lstm)
LOCKSTEP_RECURRENT_RECORD(Gru)
LOCKSTEP_RECURRENT_RECORD(Rnn)

}  // namespace lockstep
