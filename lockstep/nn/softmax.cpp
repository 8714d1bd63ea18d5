#include "lockstep/kernels/softmax.hpp"

#include "lockstep/nn/layer.hpp"

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

template <class T>
std::unique_ptr<Layer<T>> make_softmax(const LayerPlan& plan) {
  return std::make_unique<SoftmaxLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(make_softmax);

}  // namespace lockstep
