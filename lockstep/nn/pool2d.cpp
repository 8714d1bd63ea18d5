#include "lockstep/kernels/pool2d.hpp"

#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

/// What max and average pooling share.
template <class T>
class Pool2dLayer : public Layer<T> {
 public:
  Pool2dLayer(const LayerPlan& plan, const Pool2dGeometry& geometry) : Layer<T>(plan), geometry_(geometry) {}

  Sharing sharing() const override { return Sharing::by_channel; }

  Cost own_forward_cost(std::int64_t samples) const override { return pool2d_cost(geometry_, samples, sizeof(T)); }

 protected:
  Pool2dGeometry geometry_of(const LayerViews<T>& v) const {
    Pool2dGeometry geometry = geometry_;
    geometry.channels = v.out.count;
    return geometry;
  }

 private:
  Pool2dGeometry geometry_;
};

/// y = the largest tap of each window
template <class T>
class MaxPool2dLayer final : public Pool2dLayer<T> {
 public:
  using Pool2dLayer<T>::Pool2dLayer;

  bool backward_reads_y() const override { return true; }

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    pass.kernels.max_pool2d_forward({.geometry = this->geometry_of(v), .x = v.x, .y = v.y}, pass.context);
  }

  /// dx = dy where x is the window's y, else 0
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (v.dx.data == nullptr) return;
    pass.kernels.max_pool2d_backward({.geometry = this->geometry_of(v), .x = v.x, .y = v.y, .dy = v.dy, .dx = v.dx},
                                     pass.context);
  }
};

/// y = the mean of each window
template <class T>
class AvgPool2dLayer final : public Pool2dLayer<T> {
 public:
  using Pool2dLayer<T>::Pool2dLayer;

  void forward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    pass.kernels.avg_pool2d_forward({.geometry = this->geometry_of(v), .x = v.x, .y = v.y}, pass.context);
  }

  /// dx = the window's dy / area, summed over the windows
  void backward(const Pass<T>& pass, const LayerViews<T>& v, LayerMemory<T>&) const override {
    if (v.dx.data == nullptr) return;
    pass.kernels.avg_pool2d_backward({.geometry = this->geometry_of(v), .dy = v.dy, .dx = v.dx}, pass.context);
  }
};

}  // namespace

template <class T>
std::unique_ptr<Layer<T>> make_pool2d(const LayerPlan& plan) {
  if (const auto* p = std::get_if<MaxPool2d>(&plan.spec.kind))
    return std::make_unique<MaxPool2dLayer<T>>(plan, pool2d_geometry(p->window, p->stride, p->pad, plan.in));
  const auto& p = std::get<AvgPool2d>(plan.spec.kind);
  return std::make_unique<AvgPool2dLayer<T>>(plan, pool2d_geometry(p.window, p.stride, p.pad, plan.in));
}

LOCKSTEP_INSTANTIATE_LAYER(make_pool2d);

}  // namespace lockstep
