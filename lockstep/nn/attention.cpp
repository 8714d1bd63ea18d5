#include "lockstep/nn/attention.hpp"

#include <cmath>

#include <fmt/format.h>

#include "lockstep/kernels/attention.hpp"
#include "lockstep/nn/onnx.hpp"
#include "lockstep/nn/per_step.hpp"

namespace lockstep {

namespace {

/// y = out_proj(attention(in_proj(x)))
template <class T>
class AttentionLayer : public Layer<T> {
 public:
  explicit AttentionLayer(const LayerPlan& plan)
      : Layer<T>(plan),
        width_(plan.in[0]),
        steps_(plan.in[1]),
        biases_(std::get<Attention>(plan.spec.kind).bias),
        shape_{.heads = std::get<Attention>(plan.spec.kind).heads,
               .head = width_ / std::get<Attention>(plan.spec.kind).heads,
               .steps = steps_,
               .causal = std::get<Attention>(plan.spec.kind).causal} {}

  Sharing sharing() const override { return Sharing::never; }

  void reserve(LayerMemory<T>& memory, std::int64_t samples, std::int64_t slots, Memory& where) const override {
    const std::int64_t stride = padded(samples), activation = width_ * steps_ * stride,
                       pairs = steps_ * steps_ * stride;
    std::int64_t elements = 4 * activation + pairs;  // qkv, the heads' results, p
    if (slots > 0)
      elements = 8 * activation + 2 * shape_.heads * pairs + 4 * width_ * steps_ * samples;  // their gradients, packed
    memory.saved = AlignedBuffer<T>(elements, where);
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const Space space = space_of(memory, v.x.cols, pass.training);
    linear_steps<T>(pass, steps_of(v.x, steps_), in_weight(v), bias(v.parameters, 1), steps_of(space.qkv, steps_));
    pass.kernels.attention_forward(
        {.shape = shape_, .scale = scale(), .qkv = space.qkv, .y = space.result, .p = space.p, .lengths = pass.lengths},
        pass.context);
    linear_steps<T>(pass, steps_of(space.result, steps_), out_weight(v), bias(v.parameters, 3), steps_of(v.y, steps_));
  }

  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const Space space = space_of(memory, v.x.cols, true);
    const Steps<T> dy = steps_of(v.dy, steps_), result = steps_of(space.result, steps_);
    if (v.gradients[0] != nullptr)
      linear_steps_weights<T>(pass, result, dy, v.gradients[out_place()], bias(v.gradients, 3), space.packed);
    linear_steps_data<T>(pass, out_weight(v), dy, steps_of(space.dresult, steps_));
    pass.kernels.attention_backward({.shape = shape_,
                                     .scale = scale(),
                                     .qkv = space.qkv,
                                     .p = space.p,
                                     .dy = space.dresult,
                                     .dqkv = space.dqkv,
                                     .ds = space.ds},
                                    pass.context);
    const Steps<T> dqkv = steps_of(space.dqkv, steps_);
    if (v.gradients[0] != nullptr)
      linear_steps_weights<T>(pass, steps_of(v.x, steps_), dqkv, v.gradients[0], bias(v.gradients, 1), space.packed);
    if (v.dx.data != nullptr) linear_steps_data<T>(pass, in_weight(v), dqkv, steps_of(v.dx, steps_));
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return products(samples) + attention_cost(shape_, samples, sizeof(T), 2);
  }
  Cost parameter_gradient_cost(std::int64_t samples) const override { return products(samples); }
  Cost data_gradient_cost(std::int64_t samples) const override {
    return products(samples) + attention_cost(shape_, samples, sizeof(T), 5);
  }

 private:
  struct Space {
    Matrix<T> qkv, result, p, dresult, dqkv, ds;
    T* packed = nullptr;
  };
  Space space_of(LayerMemory<T>& memory, std::int64_t samples, bool training) const {
    T* at = memory.saved.data();
    const auto take = [&](std::int64_t rows) {
      const Matrix<T> part{at, rows, samples, padded(samples)};
      at += rows * padded(samples);
      return part;
    };
    Space space{.qkv = take(3 * width_ * steps_), .result = take(width_ * steps_)};
    space.p = take((training ? shape_.heads : 1) * steps_ * steps_);
    if (!training) return space;
    space.dresult = take(width_ * steps_);
    space.dqkv = take(3 * width_ * steps_);
    space.ds = take(shape_.heads * steps_ * steps_);
    space.packed = at;
    return space;
  }

  T scale() const { return T(1.0 / std::sqrt(double(shape_.head))); }
  std::size_t out_place() const { return biases_ ? 2 : 1; }
  ConstMatrix<T> in_weight(const LayerViews<T>& v) const { return dense_matrix(v.parameters[0], 3 * width_, width_); }
  ConstMatrix<T> out_weight(const LayerViews<T>& v) const {
    return dense_matrix(v.parameters[out_place()], width_, width_);
  }
  template <class Pointers>
  auto bias(const Pointers& pointers, std::size_t place) const {
    return biases_ ? pointers[place] : nullptr;
  }
  Cost products(std::int64_t samples) const { return linear_cost(width_, 4 * width_, steps_ * samples, sizeof(T)); }

  std::int64_t width_, steps_;
  bool biases_;
  AttentionShape shape_;
};

}  // namespace

std::string Attention::detail() const {
  return fmt::format("{} {}{}", heads, heads == 1 ? "head" : "heads", causal ? ", causal" : "");
}

void Attention::plan(LayerPlan& plan, const Init& usual) const {
  require(plan, plan.in.rank() == 2, "attention needs a sequence [features,steps]");
  require(plan, heads >= 1 && plan.in[0] % heads == 0, fmt::format("{} heads do not share the features evenly", heads));
  const std::int64_t width = plan.in[0];
  const Init weights = init.value_or(usual), zero{.kind = InitKind::zeros};
  const auto add = [&](const char* weight, const char* own_bias, std::int64_t rows) {
    add_parameter(plan, weight, {rows, width}, Role::weight, width, rows, weights);
    if (bias) add_parameter(plan, own_bias, {rows}, Role::bias, width, rows, weights.biases ? weights : zero);
  };
  add("in_proj_weight", "in_proj_bias", 3 * width);
  add("out_proj.weight", "out_proj.bias", width);
}

namespace {

/// Attention as products, a softmax and changes of shape.
class OnnxAttention {
 public:
  OnnxAttention(OnnxBuilder& graph, const LayerPlan& plan, const Attention& layer)
      : graph_(graph), plan_(plan), layer_(layer), width_(plan.in[0]), steps_(plan.in[1]) {}

  std::string build(const std::string& x) {
    const std::size_t out = layer_.bias ? 2 : 1;
    const std::string qkv = product(onnx_steps_first(graph_, plan_, x), 0);  // [N, steps, 3 width]
    const std::string q = heads(qkv, 0, {0, 2, 1, 3}), k = heads(qkv, 1, {0, 2, 3, 1}), v = heads(qkv, 2, {0, 2, 1, 3});
    const double head = double(width_) / double(layer_.heads);
    std::string scores = node("Mul", {node("MatMul", {q, k}), graph_.scalar(1.0 / std::sqrt(head))});
    if (layer_.causal) scores = node("Where", {seen(), scores, graph_.scalar(-1e30)});
    const std::string p = node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    const std::string y = node("Transpose", {node("MatMul", {p, v})}, {{"perm", Integers{0, 2, 1, 3}}});
    return onnx_steps_first(graph_, plan_, product(shaped(y, {-1, steps_, width_}), out));
  }

 private:
  using Integers = std::vector<std::int64_t>;

  std::string node(const char* operation, const std::vector<std::string>& inputs,
                   const std::vector<OnnxAttribute>& attributes = {}) {
    return graph_.node(operation, inputs, plan_.path, attributes);
  }
  std::string constant(const Integers& values) {
    return graph_.integers(fmt::format("{}.integers.{}", plan_.path, ++constants_), values);
  }
  std::string shaped(const std::string& x, const Integers& extents) { return node("Reshape", {x, constant(extents)}); }

  /// With the weight at this place of the parameters, and the bias behind it.
  std::string product(const std::string& x, std::size_t place) {
    const std::string y = node("MatMul", {x, onnx_transposed(graph_, plan_, plan_.parameters[place].name)});
    return layer_.bias ? node("Add", {y, plan_.parameters[place + 1].name}) : y;
  }
  /// The queries (0), keys (1) or values (2) as [N, steps, heads, features], turned.
  std::string heads(const std::string& qkv, std::int64_t which, const Integers& turned) {
    Integers rows;
    for (std::int64_t i = 0; i < width_; ++i) rows.push_back(which * width_ + i);
    const std::string part = node("Gather", {qkv, constant(rows)}, {{"axis", std::int64_t{-1}}});
    return node("Transpose", {shaped(part, {-1, steps_, layer_.heads, width_ / layer_.heads})}, {{"perm", turned}});
  }
  /// [steps, steps]: whether a query sees a key.
  std::string seen() {
    Integers all;
    for (std::int64_t t = 0; t < steps_; ++t) all.push_back(t);
    const std::string each = constant(all);
    return node("GreaterOrEqual", {shaped(each, {steps_, 1}), shaped(each, {1, steps_})});
  }

  OnnxBuilder& graph_;
  const LayerPlan& plan_;
  const Attention& layer_;
  std::int64_t width_, steps_;
  int constants_ = 0;
};

}  // namespace

std::string Attention::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  return OnnxAttention(graph, plan, *this).build(x);
}

LOCKSTEP_MAKE_LAYER(Attention, AttentionLayer);

}  // namespace lockstep
