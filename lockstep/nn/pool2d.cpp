#include "lockstep/kernels/pool2d.hpp"

#include "lockstep/nn/layer.hpp"

namespace lockstep {

namespace {

Pool2dGeometry some_channels(Pool2dGeometry geometry, const Channels& channels) {
  geometry.channels = channels.count;
  return geometry;
}

/// y = the largest tap of each window
template <class T>
class MaxPool2dLayer : public Layer<T> {
 public:
  MaxPool2dLayer(const LayerPlan& plan, const Pool2dGeometry& geometry) : Layer<T>(plan), geometry_(geometry) {}

  bool backward_reads_y() const override { return true; }

  Sharing sharing() const override { return Sharing::by_channel; }

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    const Channels own = this->own_channels(pass);
    pass.kernels.max_pool2d_forward({.geometry = some_channels(geometry_, own),
                                     .x = this->rows_of(x, this->plan().in, own),
                                     .y = this->rows_of(memory.y, this->plan().out, own)},
                                    pass.context);
  }

  /// dx = dy where x is the window's y, else 0
  void backward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory, Matrix<T> dy,
                Matrix<T> dx) const override {
    if (dx.data == nullptr) return;
    const Channels own = this->held_channels();
    pass.kernels.max_pool2d_backward({.geometry = some_channels(geometry_, own),
                                      .x = this->rows_of(x, this->plan().in, own),
                                      .y = this->rows_of(memory.y, this->plan().out, own),
                                      .dy = this->rows_of(dy, this->plan().out, own),
                                      .dx = this->rows_of(dx, this->plan().in, own)},
                                     pass.context);
  }

  Cost forward_cost(std::int64_t samples) const override {
    return this->share_of_work() * pool2d_cost(geometry_, samples, sizeof(T));
  }
  Cost backward_cost(std::int64_t samples, bool data) const override { return data ? forward_cost(samples) : Cost{}; }

 private:
  Pool2dGeometry geometry_;
};

/// y = the mean of each window
template <class T>
class AvgPool2dLayer : public Layer<T> {
 public:
  AvgPool2dLayer(const LayerPlan& plan, const Pool2dGeometry& geometry) : Layer<T>(plan), geometry_(geometry) {}

  Sharing sharing() const override { return Sharing::by_channel; }

  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    const Channels own = this->own_channels(pass);
    pass.kernels.avg_pool2d_forward({.geometry = some_channels(geometry_, own),
                                     .x = this->rows_of(x, this->plan().in, own),
                                     .y = this->rows_of(memory.y, this->plan().out, own)},
                                    pass.context);
  }

  /// dx = the window's dy / area, summed over the windows
  void backward(const Pass<T>& pass, ConstMatrix<T>, LayerMemory<T>&, Matrix<T> dy, Matrix<T> dx) const override {
    if (dx.data == nullptr) return;
    const Channels own = this->held_channels();
    pass.kernels.avg_pool2d_backward({.geometry = some_channels(geometry_, own),
                                      .dy = this->rows_of(dy, this->plan().out, own),
                                      .dx = this->rows_of(dx, this->plan().in, own)},
                                     pass.context);
  }

  Cost forward_cost(std::int64_t samples) const override {
    return this->share_of_work() * pool2d_cost(geometry_, samples, sizeof(T));
  }
  Cost backward_cost(std::int64_t samples, bool data) const override { return data ? forward_cost(samples) : Cost{}; }

 private:
  Pool2dGeometry geometry_;
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
