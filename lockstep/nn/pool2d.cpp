#include "lockstep/nn/pool2d.hpp"

#include <fmt/format.h>

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

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

Pool2dGeometry pool2d_geometry(const Extent& window, const std::optional<Extent>& stride, const Extent& pad,
                               const Shape& in) {
  const Extent step = stride.value_or(window);
  return {.channels = in[0],
          .in_height = in[1],
          .in_width = in[2],
          .window_h = window.height,
          .window_w = window.width,
          .stride_h = step.height,
          .stride_w = step.width,
          .pad_h = pad.height,
          .pad_w = pad.width};
}

template <bool kMax>
std::string Pool2d<kMax>::detail() const {
  const std::string step = stride && !(*stride == window) ? detail_unless("stride", *stride, 0) : "";
  return extent_text(window) + step + detail_unless("pad", pad, 0);
}

template <bool kMax>
void Pool2d<kMax>::plan(LayerPlan& plan, const Init&) const {
  require_image(plan, "pooling");
  const Pool2dGeometry g = pool2d_geometry(window, stride, pad, plan.in);
  require(plan, g.window_h >= 1 && g.window_w >= 1 && g.stride_h >= 1 && g.stride_w >= 1,
          "window and stride must be at least 1");
  require(plan, g.pad_h >= 0 && g.pad_w >= 0 && 2 * g.pad_h <= g.window_h && 2 * g.pad_w <= g.window_w,
          "pad must be between 0 and half the window");
  require(plan, g.in_height + 2 * g.pad_h >= g.window_h && g.in_width + 2 * g.pad_w >= g.window_w,
          fmt::format("window {} is larger than the padded input", extent_text(window)));
  plan.out = {g.channels, g.out_height(), g.out_width()};
}

template <bool kMax>
std::string Pool2d<kMax>::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  const Extent step = stride.value_or(window);
  std::vector<OnnxAttribute> attributes = {{"kernel_shape", std::vector{window.height, window.width}},
                                           {"strides", std::vector{step.height, step.width}},
                                           {"pads", std::vector{pad.height, pad.width, pad.height, pad.width}}};
  if (!kMax) attributes.push_back({"count_include_pad", std::int64_t{1}});
  return graph.node(kMax ? "MaxPool" : "AveragePool", {x}, plan.path, attributes);
}

template <bool kMax>
template <class T>
std::unique_ptr<Layer<T>> Pool2d<kMax>::make(const LayerPlan& plan) const {
  using Result = std::conditional_t<kMax, MaxPool2dLayer<T>, AvgPool2dLayer<T>>;
  return std::make_unique<Result>(plan, pool2d_geometry(window, stride, pad, plan.in));
}

template struct Pool2d<true>;
template struct Pool2d<false>;
LOCKSTEP_INSTANTIATE_LAYER(MaxPool2d);
LOCKSTEP_INSTANTIATE_LAYER(AvgPool2d);

}  // namespace lockstep
