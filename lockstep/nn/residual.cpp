#include "lockstep/nn/residual.hpp"

#include <fmt/format.h>

#include "lockstep/nn/onnx.hpp"
#include "lockstep/nn/sequence.hpp"

namespace lockstep {

namespace {

/// y = body(x) + shortcut(x)
template <class T>
class ResidualLayer : public Layer<T> {
 public:
  explicit ResidualLayer(const LayerPlan& plan) : Layer<T>(plan), body_(plan.body), shortcut_(plan.shortcut) {}

  void reserve(LayerMemory<T>& memory, std::int64_t samples, std::int64_t slots, Memory& where) const override {
    memory.inner.push_back(body_.make_memory(samples, slots, where));
    memory.inner.push_back(shortcut_.make_memory(samples, slots, where));
    if (slots == 0) return;
    // Both branches destroy the dy they are given, and both give a dx: a copy of dy and the shortcut's dx.
    const std::int64_t out = this->plan().out.elements(), in = this->plan().in.elements();
    memory.saved = AlignedBuffer<T>((out + in) * padded(samples), where);
  }

  void place(LayerMemory<T>& memory, std::int64_t samples) const override {
    body_.place(memory.inner[0], samples);
    shortcut_.place(memory.inner[1], samples);
  }

  void prepare(const T* parameters, LayerMemory<T>& memory) const override {
    body_.prepare(parameters, memory.inner[0]);
    shortcut_.prepare(parameters, memory.inner[1]);
  }

  Sharing sharing() const override { return Sharing::from_all; }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    const ConstMatrix<T> body = body_.forward(pass, v.x, memory.inner[0]);
    const ConstMatrix<T> shortcut = shortcut_.forward(pass, v.x, memory.inner[1]);
    body_.complete_branch(pass, memory.inner[0], this->plan());
    shortcut_.complete_branch(pass, memory.inner[1], this->plan());
    join_branches(pass);
    const Shape& out = this->plan().out;
    pass.kernels.add({.a = rows_of(body, out, v.out), .b = rows_of(shortcut, out, v.out), .y = v.y}, pass.context);
  }

  /// dx = body'(dy) + shortcut'(dy)
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    T* const space = memory.saved.data();
    const Matrix<T> copy{space, v.dy.rows, v.dy.cols, v.dy.stride};
    copy_rows(pass, ConstMatrix<T>(v.dy), copy);
    if (pass.recorder != nullptr) pass.recorder->close(backward_section(this->plan().id));
    body_.backward_branch(pass, v.x, memory.inner[0], copy, v.dx, this->plan());
    Matrix<T> other = v.dy;  // of the identity
    if (!shortcut_.empty()) {
      other = {};
      if (v.dx.data != nullptr) other = {space + v.dy.rows * v.dy.stride, v.dx.rows, v.dx.cols, v.dx.stride};
      shortcut_.backward_branch(pass, v.x, memory.inner[1], v.dy, other, this->plan());
    }
    if (v.dx.data == nullptr) return;
    const Matrix<T> sum = rows_of(v.dx, this->plan().in, v.in);
    pass.kernels.add({.a = sum, .b = rows_of(other, this->plan().in, v.in), .y = sum}, pass.context);
  }

  void update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                         std::int64_t samples) const override {
    body_.update_statistics(kernels, context, parameters, sums, samples);
    shortcut_.update_statistics(kernels, context, parameters, sums, samples);
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return add_cost(this->plan().out.elements(), samples, sizeof(T));
  }
  Cost inner_forward_cost(std::int64_t samples) const override {
    return body_.forward_cost(samples) + shortcut_.forward_cost(samples);
  }
  Cost inner_backward_cost(std::int64_t samples, bool data) const override {
    return body_.backward_cost(samples, data) + shortcut_.backward_cost(samples, data);
  }

 private:
  Sequence<T> body_, shortcut_;
};

}  // namespace

std::string Residual::detail() const { return fmt::format("body of {}, shortcut of {}", body.size(), shortcut.size()); }

void Residual::plan(LayerPlan& plan, const Init& usual) const {
  require(plan, !body.empty(), "a residual block needs a body");
  plan.body = plan_sequence(body, plan.in, plan.path + ".body.", usual);
  plan.shortcut = plan_sequence(shortcut, plan.in, plan.path + ".shortcut.", usual);
  plan.out = plan.body.back().out;
  const Shape other = plan.shortcut.empty() ? plan.in : plan.shortcut.back().out;
  require(plan, plan.out == other, fmt::format("body gives {} but the shortcut gives {}", plan.out.str(), other.str()));
}

std::string Residual::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  const std::string sum = onnx_sequence(graph, plan.body, x);
  return graph.node("Add", {sum, onnx_sequence(graph, plan.shortcut, x)}, plan.path);
}

LOCKSTEP_MAKE_LAYER(Residual, ResidualLayer);

}  // namespace lockstep
