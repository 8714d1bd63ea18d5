#include "lockstep/kernels/conv2d.hpp"

#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

/// y[oc] = b[oc] + sum over ic, ky, kx of w[oc,ic,ky,kx] * x[ic] shifted by (ky, kx)
template <class T>
class Conv2dLayer : public Layer<T> {
 public:
  explicit Conv2dLayer(const LayerPlan& plan)
      : Layer<T>(plan),
        geometry_(conv2d_geometry(std::get<Conv2d>(plan.spec.kind), plan.in)),
        weight_(plan.parameters[0].offset) {
    if (plan.parameters.size() > 1) bias_ = plan.parameters[1].offset;
  }

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    pass.kernels.conv2d_forward({.geometry = geometry_,
                                 .x = x,
                                 .w = pass.parameters + weight_,
                                 .b = bias_ < 0 ? nullptr : pass.parameters + bias_,
                                 .y = memory.y},
                                pass.context);
  }

  /// dx = dy convolved with the turned kernel, dw = dy correlated with x, db = sum of dy
  void backward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>&, Matrix<T> dy, Matrix<T> dx) const override {
    pass.kernels.conv2d_backward_weights({.geometry = geometry_,
                                          .x = x,
                                          .dy = dy,
                                          .slots = pass.slots,
                                          .dw = pass.gradients + weight_,
                                          .db = bias_ < 0 ? nullptr : pass.gradients + bias_},
                                         pass.context);
    if (dx.data != nullptr)
      pass.kernels.conv2d_backward_data({.geometry = geometry_, .w = pass.parameters + weight_, .dy = dy, .dx = dx},
                                        pass.context);
  }

  Cost forward_cost(std::int64_t samples) const override { return conv2d_cost(geometry_, samples, sizeof(T)); }
  Cost backward_cost(std::int64_t samples, bool data) const override { return (data ? 2 : 1) * forward_cost(samples); }

 private:
  Conv2dGeometry geometry_;
  std::int64_t weight_, bias_ = -1;
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_conv2d(const LayerPlan& plan) {
  return std::make_unique<Conv2dLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(make_conv2d);

}  // namespace lockstep
