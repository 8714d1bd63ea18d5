#include "lockstep/nn/softmax.hpp"

#include "lockstep/kernels/softmax.hpp"

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

namespace lockstep {

namespace {

/// y_k = exp(x_k) / sum over j of exp(x_j)
template <class T>
class SoftmaxLayer : public Layer<T> {
 public:
  using Layer<T>::Layer;

  bool in_place() const override { return true; }
  bool backward_reads_y() const override { return true; }

  Sharing sharing() const override { return Sharing::never; }

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    pass.kernels.softmax_forward({.x = x, .y = memory.y}, pass.context);
  }

  /// dx_k = y_k (dy_k - sum over j of dy_j y_j)
  void backward(const Pass<T>& pass, ConstMatrix<T>, LayerMemory<T>& memory, Matrix<T> dy,
                Matrix<T> dx) const override {
    if (dx.data == nullptr) return;
    pass.kernels.softmax_backward({.y = memory.y, .dy = dy, .dx = dx}, pass.context);
  }

  Cost forward_cost(std::int64_t samples) const override {
    return softmax_cost(this->plan().in.elements(), samples, sizeof(T));
  }
  Cost backward_cost(std::int64_t samples, bool data) const override { return data ? forward_cost(samples) : Cost{}; }
};

}  // namespace

std::string Softmax::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  std::string y = graph.node("Softmax", {onnx_flattened(graph, plan, x)}, plan.path, {{"axis", std::int64_t{1}}});
  if (plan.in.rank() == 1) return y;
  std::vector<std::int64_t> shape{-1};
  std::ranges::copy(plan.in.extents(), std::back_inserter(shape));
  return graph.node("Reshape", {y, graph.integers(plan.path + ".shape", shape)}, plan.path);
}

template <class T>
std::unique_ptr<Layer<T>> Softmax::make(const LayerPlan& plan) const {
  return std::make_unique<SoftmaxLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(Softmax);

}  // namespace lockstep
