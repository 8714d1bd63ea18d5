#include "lockstep/nn/pool2d.hpp"

#include <fmt/format.h>

#include "lockstep/kernels/pool2d.hpp"

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

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
