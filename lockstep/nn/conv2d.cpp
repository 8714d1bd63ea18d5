#include "lockstep/nn/conv2d.hpp"

#include <fmt/format.h>

#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

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

Conv2dGeometry conv2d_geometry(const Conv2d& c, const Shape& in) {
  return {.in_channels = in[0],
          .in_height = in[1],
          .in_width = in[2],
          .out_channels = c.out,
          .kernel_h = c.kernel.height,
          .kernel_w = c.kernel.width,
          .stride_h = c.stride.height,
          .stride_w = c.stride.width,
          .pad_h = c.pad.height,
          .pad_w = c.pad.width,
          .dilation_h = c.dilation.height,
          .dilation_w = c.dilation.width,
          .groups = c.groups};
}

std::string Conv2d::detail() const {
  return fmt::format("{} of {}{}{}{}{}{}", out, extent_text(kernel), detail_unless("stride", stride, 1),
                     detail_unless("pad", pad, 0), detail_unless("dilation", dilation, 1),
                     groups == 1 ? "" : fmt::format(", {} groups", groups), bias ? "" : ", no bias");
}

void Conv2d::plan(LayerPlan& plan, const Init& usual) const {
  require_image(plan, kName);
  require(plan, out >= 1 && groups >= 1, "out and groups must be at least 1");
  require(plan,
          kernel.height >= 1 && kernel.width >= 1 && stride.height >= 1 && stride.width >= 1 && dilation.height >= 1 &&
              dilation.width >= 1 && pad.height >= 0 && pad.width >= 0,
          "kernel, stride and dilation must be at least 1, pad at least 0");
  require(plan, plan.in[0] % groups == 0 && out % groups == 0,
          fmt::format("groups = {} must divide the input channels and out = {}", groups, out));
  const Conv2dGeometry g = conv2d_geometry(*this, plan.in);
  require(plan,
          g.in_height + 2 * g.pad_h >= g.dilation_h * (g.kernel_h - 1) + 1 &&
              g.in_width + 2 * g.pad_w >= g.dilation_w * (g.kernel_w - 1) + 1,
          fmt::format("kernel {} is larger than the padded input", extent_text(kernel)));
  const std::int64_t taps = g.kernel_h * g.kernel_w;
  add_weight_and_bias(plan, {g.out_channels, g.in_per_group(), g.kernel_h, g.kernel_w}, bias, g.in_per_group() * taps,
                      g.out_per_group() * taps, init.value_or(usual));
  plan.out = {g.out_channels, g.out_height(), g.out_width()};
}

std::string Conv2d::onnx(OnnxBuilder& graph, const LayerPlan& plan, const std::string& x) const {
  return graph.node("Conv", onnx_inputs(x, plan), plan.path,
                    {{"kernel_shape", std::vector{kernel.height, kernel.width}},
                     {"strides", std::vector{stride.height, stride.width}},
                     {"pads", std::vector{pad.height, pad.width, pad.height, pad.width}},
                     {"dilations", std::vector{dilation.height, dilation.width}},
                     {"group", groups}});
}

LOCKSTEP_MAKE_LAYER(Conv2d, Conv2dLayer);

}  // namespace lockstep
