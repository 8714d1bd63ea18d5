#include "lockstep/nn/softmax.hpp"

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

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    pass.kernels.softmax_forward({.x = v.x, .y = v.y}, pass.context);
  }

  /// dx_k = y_k (dy_k - sum over j of dy_j y_j)
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (v.dx.data == nullptr) return;
    pass.kernels.softmax_backward({.y = v.y, .dy = v.dy, .dx = v.dx}, pass.context);
  }

  Cost own_forward_cost(std::int64_t samples) const override {
    return softmax_cost(this->plan().in.elements(), samples, sizeof(T));
  }
};

}  // namespace

std::string Softmax::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  std::string y = graph.node("Softmax", {onnx_flattened(graph, plan, x)}, plan.path, {{"axis", std::int64_t{1}}});
  if (plan.in.rank() == 1) return y;
  std::vector<std::int64_t> shape{-1};
  std::ranges::copy(plan.in.extents(), std::back_inserter(shape));
  return graph.node("Reshape", {y, graph.integers(plan.path + ".shape", shape)}, plan.path);
}

LOCKSTEP_MAKE_LAYER(Softmax, SoftmaxLayer);

}  // namespace lockstep
