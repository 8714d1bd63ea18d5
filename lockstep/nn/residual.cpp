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

  /// The branches take this member's part of dy and gather it where they must; the identity takes another part.
  bool backward_needs_all(bool data) const override {
    return data && shortcut_.empty() && this->plan().in_split != this->plan().out_split;
  }

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    const ConstMatrix<T> body = body_.forward(pass, x, memory.inner[0]);
    const ConstMatrix<T> shortcut = shortcut_.forward(pass, x, memory.inner[1]);
    if (body_.output_split() != this->plan().out_split) body_.gather_output(pass, memory.inner[0]);
    if (shortcut_.output_split() != this->plan().out_split) shortcut_.gather_output(pass, memory.inner[1]);
    if (pass.crew != nullptr) pass.crew->meet();  // who computed a channel of a branch depends on the branch
    const Channels own = this->own_channels(pass);
    const Shape& out = this->plan().out;
    pass.kernels.add({.a = this->rows_of(body, out, own),
                      .b = this->rows_of(shortcut, out, own),
                      .y = this->rows_of(memory.y, out, own)},
                     pass.context);
  }

  /// dx = body'(dy) + shortcut'(dy)
  void backward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory, Matrix<T> dy,
                Matrix<T> dx) const override {
    const bool data = dx.data != nullptr;
    const Split dy_split = backward_needs_all(data) ? Split{} : this->plan().out_split;
    if (backward_needs_all(data)) this->await_gradient(pass);
    T* const space = memory.saved.data();
    const Matrix<T> copy{space, dy.rows, dy.cols, dy.stride};
    copy_rows(pass, ConstMatrix<T>(dy), copy);
    if (pass.recorder != nullptr) pass.recorder->close(backward_section(this->plan().id));
    Pass<T> inner = pass;
    inner.watch = nullptr;  // branches are not complete one by one
    body_.backward(inner, x, memory.inner[0], copy, dx, dy_split);
    Matrix<T> other = dy;  // of the identity
    if (!shortcut_.empty()) {
      other = data ? Matrix<T>{space + dy.rows * dy.stride, dx.rows, dx.cols, dx.stride} : Matrix<T>{};
      shortcut_.backward(inner, x, memory.inner[1], dy, other, dy_split);
    }
    if (!data) return;
    const Channels own = this->plan().in_split.part(dx.rows, this->plan().member);
    const Matrix<T> sum = dx.rows_from(own.first, own.count);
    pass.kernels.add({.a = sum, .b = other.rows_from(own.first, own.count), .y = sum}, pass.context);
  }

  void update_statistics(const KernelTable<T>& kernels, KernelContext& context, T* parameters, const T* sums,
                         std::int64_t samples) const override {
    body_.update_statistics(kernels, context, parameters, sums, samples);
    shortcut_.update_statistics(kernels, context, parameters, sums, samples);
  }

  Cost forward_cost(std::int64_t samples) const override {
    return body_.forward_cost(samples) + shortcut_.forward_cost(samples) + sum_cost(samples);
  }
  Cost backward_cost(std::int64_t samples, bool data) const override {
    return body_.backward_cost(samples, data) + shortcut_.backward_cost(samples, data) +
           (data ? sum_cost(samples) : Cost{});
  }

  Cost own_forward_cost(std::int64_t samples) const override { return sum_cost(samples); }
  Cost own_backward_cost(std::int64_t samples, bool data) const override { return data ? sum_cost(samples) : Cost{}; }

 private:
  Cost sum_cost(std::int64_t samples) const {
    return this->share_of_work() * add_cost(this->plan().out.elements(), samples, sizeof(T));
  }

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

template <class T>
std::unique_ptr<Layer<T>> Residual::make(const LayerPlan& plan) const {
  return std::make_unique<ResidualLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(Residual);

}  // namespace lockstep
