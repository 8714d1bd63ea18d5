#include "lockstep/nn/embedding.hpp"

#include <array>

#include <fmt/format.h>

#include "lockstep/kernels/attention.hpp"
#include "lockstep/nn/onnx.hpp"
#include "lockstep/nn/per_step.hpp"

namespace lockstep {

namespace {

/// y_t = weight^T (one-hot of x_t): a sum with one term that is not 0. Vocabularies of characters are small, so the
/// product costs little beside the layers behind it, and all of its kernels are there.
template <class T>
class EmbeddingLayer : public Layer<T> {
 public:
  explicit EmbeddingLayer(const LayerPlan& plan)
      : Layer<T>(plan),
        out_(plan.out[0]),
        steps_(plan.out[1]),
        vocabulary_(std::get<Embedding>(plan.spec.kind).vocabulary) {}

  Sharing sharing() const override { return Sharing::never; }

  void reserve(LayerMemory<T>& memory, std::int64_t samples, std::int64_t slots, Memory& where) const override {
    const std::int64_t packed = slots > 0 ? (vocabulary_ + out_) * steps_ * samples : 0;
    memory.saved = AlignedBuffer<T>(vocabulary_ * steps_ * padded(samples) + packed, where);
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    pass.kernels.one_hot({.x = v.x, .y = hot(v, memory)}, pass.context);
    linear_steps_data<T>(pass, dense_matrix(v.parameters[0], vocabulary_, out_), steps_of(hot(v, memory), steps_),
                         steps_of(v.y, steps_));
  }

  /// Tokens have no gradient.
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    if (v.gradients[0] == nullptr) return;
    const Matrix<T> tokens = hot(v, memory);
    linear_steps_weights<T>(pass, steps_of(v.dy, steps_), steps_of(tokens, steps_), v.gradients[0], nullptr,
                            tokens.data + tokens.rows * tokens.stride);
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return linear_cost(vocabulary_, out_, steps_ * samples, sizeof(T));
  }
  Cost parameter_gradient_cost(std::int64_t samples) const override { return own_forward_cost(samples); }
  Cost data_gradient_cost(std::int64_t) const override { return {}; }

 private:
  Matrix<T> hot(const LayerViews<T>& v, LayerMemory<T>& memory) const {
    return {memory.saved.data(), vocabulary_ * steps_, v.x.cols, padded(v.x.cols)};
  }

  std::int64_t out_, steps_, vocabulary_;
};

/// y = x + weight: a product without terms from the weight as its bias, and x.
template <class T>
class PositionsLayer : public Layer<T> {
 public:
  explicit PositionsLayer(const LayerPlan& plan)
      : Layer<T>(plan), rows_(plan.in.elements()), fixed_(std::get<Positions>(plan.spec.kind).sinusoidal) {}

  bool backward_in_place() const override { return true; }
  Sharing sharing() const override { return Sharing::never; }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    const ConstMatrix<T> none{nullptr, 0, v.x.cols, v.x.stride};
    if (fixed_ && pass.training) clear(pass, v.gradients[0]);
    pass.kernels.linear_forward({.x = none, .w = {v.parameters[0], rows_, 0, 0}, .b = v.parameters[0], .y = v.y},
                                pass.context);
    pass.kernels.add({.a = v.x, .b = v.y, .y = v.y}, pass.context);
  }

  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    const ConstMatrix<T> none{nullptr, 0, v.dy.cols, v.dy.stride};
    if (v.gradients[0] != nullptr && !fixed_)
      pass.kernels.linear_backward_weights(
          {.x = none, .dy = v.dy, .slots = pass.slots, .dw = {v.gradients[0], rows_, 0, 0}, .db = v.gradients[0]},
          pass.context);
    if (v.dx.data != nullptr && v.dx.data != v.dy.data) copy_rows(pass, ConstMatrix<T>(v.dy), v.dx);
  }

  Cost own_forward_cost(std::int64_t samples) const override { return add_cost(rows_, samples, sizeof(T)); }
  Cost parameter_gradient_cost(std::int64_t samples) const override { return own_forward_cost(samples); }

 private:
  /// A sum over no samples.
  void clear(const Pass<T>& pass, T* sums) const {
    const std::array<std::int64_t, 2> nobody = {0, 0};
    pass.kernels.linear_backward_weights(
        {.x = {nullptr, 0, 0, 0}, .dy = {sums, rows_, 0, 0}, .slots = {nobody}, .dw = {sums, rows_, 0, 0}, .db = sums},
        pass.context);
  }

  std::int64_t rows_;
  bool fixed_;
};

}  // namespace

std::string Embedding::detail() const { return fmt::format("{} tokens", vocabulary); }

void Embedding::plan(LayerPlan& plan, const Init&) const {
  require(plan, plan.in.rank() == 1, "embedding needs tokens [steps]");
  require(plan, out >= 1 && vocabulary >= 1, "out and vocabulary must be at least 1");
  add_parameter(plan, "weight", {vocabulary, out}, Role::weight, vocabulary, out,
                init.value_or(Init{.kind = InitKind::normal, .scale = 1}));
  plan.out = {out, plan.in[0]};
}

std::string Embedding::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  const std::string tokens = graph.node("Cast", {x}, plan.path, {{"to", kOnnxInt64}});
  const std::string rows =
      graph.node("Gather", {plan.parameters[0].name, tokens}, plan.path, {{"axis", std::int64_t{0}}});
  return onnx_steps_first(graph, plan, rows);
}

std::string Positions::detail() const { return sinusoidal ? "sinusoidal" : "learned"; }

void Positions::plan(LayerPlan& plan, const Init&) const {
  require(plan, plan.in.rank() == 2, "positions needs a sequence [features,steps]");
  require(plan, !sinusoidal || !init, "sinusoidal positions take no init");
  const Init waves{.kind = InitKind::sinusoidal}, usual{.kind = InitKind::normal, .scale = 0.02};
  const Init drawn = sinusoidal ? waves : init.value_or(usual);
  const bool table = drawn.kind == InitKind::sinusoidal;  // needs both extents
  add_parameter(plan, "weight", plan.in, sinusoidal ? Role::constant : Role::weight, table ? plan.in[0] : 1,
                table ? plan.in[1] : 1, drawn);
}

std::string Positions::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  return graph.node("Add", {x, plan.parameters[0].name}, plan.path);
}

LOCKSTEP_MAKE_LAYER(Embedding, EmbeddingLayer);
LOCKSTEP_MAKE_LAYER(Positions, PositionsLayer);

}  // namespace lockstep
