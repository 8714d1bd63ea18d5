#include "lockstep/kernels/conv2d.hpp"

#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

/// y[oc] = b[oc] + sum over ic, ky, kx of w[oc,ic,ky,kx] * x[ic] shifted by (ky, kx)
template <class T>
class Conv2dLayer : public Layer<T> {
 public:
  explicit Conv2dLayer(const LayerPlan& plan)
      : Layer<T>(plan), geometry_(conv2d_geometry(std::get<Conv2d>(plan.spec.kind), plan.in)) {}

  Sharing sharing() const override { return Sharing::from_all; }

  /// The transposed weights: with lanes over channels, a vector of them lies together. Those of groups, whose channels
  /// are few, stay as they are.
  void prepare(const T* parameters, LayerMemory<T>& memory) const override {
    if (geometry_.groups > 1) return;
    const T* const w = parameters + this->plan().parameters[0].offset;
    memory.prepared = transposed(dense_matrix(w, geometry_.out_channels, elements_of_output()));
  }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>& memory) const override {
    ConstMatrix<T> w_transposed;
    if (memory.prepared.size() > 0) {
      const std::int64_t stride = transposed_stride(geometry_.out_channels);
      w_transposed = {memory.prepared.data() + v.out.first, elements_of_output(), stride - v.out.first, stride};
    }
    pass.kernels.conv2d_forward({.geometry = geometry_of(v),
                                 .x = v.x,
                                 .w = v.parameters[0],
                                 .b = v.parameters[1],
                                 .y = v.y,
                                 .w_transposed = w_transposed},
                                pass.context);
  }

  /// dw = dy correlated with x, db = sum of dy, dx = dy convolved with the turned kernel
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (v.gradients[0] != nullptr)
      pass.kernels.conv2d_backward_weights({.geometry = geometry_of(v),
                                            .x = v.x,
                                            .dy = v.dy,
                                            .slots = pass.slots,
                                            .dw = v.gradients[0],
                                            .db = v.gradients[1]},
                                           pass.context);
    if (v.dx.data != nullptr)
      pass.kernels.conv2d_backward_data({.geometry = geometry_of(v), .w = v.parameters[0], .dy = v.dy, .dx = v.dx},
                                        pass.context);
  }

  Cost own_forward_cost(std::int64_t samples) const override { return conv2d_cost(geometry_, samples, sizeof(T)); }
  Cost parameter_gradient_cost(std::int64_t samples) const override { return own_forward_cost(samples); }

 private:
  Conv2dGeometry geometry_of(const LayerViews<T>& v) const {
    Conv2dGeometry geometry = geometry_;
    geometry.groups = v.groups;
    geometry.in_channels = v.in.count;
    geometry.out_channels = v.out.count;
    return geometry;
  }
  /// Elements of the weight that belong to one output channel.
  std::int64_t elements_of_output() const { return geometry_.in_per_group() * geometry_.kernel_h * geometry_.kernel_w; }

  Conv2dGeometry geometry_;
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_conv2d(const LayerPlan& plan) {
  return std::make_unique<Conv2dLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(make_conv2d);

}  // namespace lockstep
