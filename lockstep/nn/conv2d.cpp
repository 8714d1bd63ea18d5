#include "lockstep/kernels/conv2d.hpp"

#include <algorithm>

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

  Sharing sharing() const override { return Sharing::from_all; }

  /// Whole groups go to the kernel together, parts of a group one by one.
  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    const Channels own = this->own_channels(pass);
    const std::int64_t per_group = geometry_.out_per_group(), end = own.first + own.count;
    for (std::int64_t first = own.first, count = 0; first < end; first += count) {
      const std::int64_t into = first % per_group, whole = (end - first) / per_group;
      const std::int64_t groups = into == 0 && whole > 0 ? whole : 1;
      count = into == 0 && whole > 0 ? whole * per_group : std::min(per_group - into, end - first);
      forward_some(pass, x, memory, {first, count}, groups);
    }
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
  /// These output channels, which make up `groups` groups or lie in one.
  void forward_some(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory, const Channels& some,
                    std::int64_t groups) const {
    const Channels in = {some.first / geometry_.out_per_group() * geometry_.in_per_group(),
                         groups * geometry_.in_per_group()};
    Conv2dGeometry geometry = geometry_;
    geometry.groups = groups;
    geometry.in_channels = in.count;
    geometry.out_channels = some.count;
    const std::int64_t taps = geometry_.in_per_group() * geometry_.kernel_h * geometry_.kernel_w;
    pass.kernels.conv2d_forward({.geometry = geometry,
                                 .x = this->rows_of(x, this->plan().in, in),
                                 .w = pass.parameters + weight_ + some.first * taps,
                                 .b = bias_ < 0 ? nullptr : pass.parameters + bias_ + some.first,
                                 .y = this->rows_of(memory.y, this->plan().out, some)},
                                pass.context);
  }

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
