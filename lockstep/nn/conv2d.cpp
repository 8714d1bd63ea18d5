#include "lockstep/nn/conv2d.hpp"

#include <fmt/format.h>

#include "lockstep/kernels/conv2d.hpp"

#include "lockstep/nn/columns.hpp"
#include "lockstep/nn/layer.hpp"
#include "lockstep/nn/onnx.hpp"

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

  /// The transposed weights: with lanes over channels, a vector of them lies together. Those of groups, whose channels
  /// are few, stay as they are.
  void prepare(const T* parameters, LayerMemory<T>& memory) const override {
    if (geometry_.groups > 1) return;
    memory.prepared = transposed(dense_matrix(parameters + weight_, geometry_.out_channels, elements_of_output()));
  }

  /// Whole groups go to the kernel together, parts of a group one by one.
  void forward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory) const override {
    for_each_group_run(
        this->own_channels(pass), geometry_.out_per_group(),
        [&](const Channels& some, std::int64_t, std::int64_t groups) { forward_some(pass, x, memory, some, groups); });
  }

  /// dx = dy convolved with the turned kernel, dw = dy correlated with x, db = sum of dy
  void backward(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>&, Matrix<T> dy, Matrix<T> dx) const override {
    for_each_group_run(this->held_channels(), geometry_.out_per_group(),
                       [&](const Channels& some, std::int64_t, std::int64_t groups) {
                         backward_weights_some(pass, x, dy, some, groups);
                       });
    if (dx.data == nullptr) return;
    this->await_gradient(pass);
    const std::int64_t columns = this->plan().columns;
    const T* w = columns < 0 ? pass.parameters + weight_ : pass.columns + columns;
    for_each_group_run(held_inputs(), geometry_.in_per_group(),
                       [&](const Channels& some, std::int64_t first_group, std::int64_t groups) {
                         w += backward_data_some(pass, w, dy, dx, some, {first_group, groups});
                       });
  }

  Cost forward_cost(std::int64_t samples) const override {
    return this->share_of_work() * conv2d_cost(geometry_, samples, sizeof(T));
  }
  Cost backward_cost(std::int64_t samples, bool data) const override {
    const double share = double(held_inputs().count) / double(geometry_.in_channels);
    return forward_cost(samples) + (data ? share * conv2d_cost(geometry_, samples, sizeof(T)) : Cost{});
  }

 private:
  // Some channels, which make up `groups` groups or lie in one.

  void forward_some(const Pass<T>& pass, ConstMatrix<T> x, LayerMemory<T>& memory, const Channels& outs,
                    std::int64_t groups) const {
    const Channels ins = inputs_of(outs, groups);
    ConstMatrix<T> w_transposed;
    if (memory.prepared.size() > 0) {
      const std::int64_t stride = transposed_stride(geometry_.out_channels);
      w_transposed = {memory.prepared.data() + outs.first, elements_of_output(), stride - outs.first, stride};
    }
    pass.kernels.conv2d_forward({.geometry = part_of_it(ins, outs, groups),
                                 .x = this->rows_of(x, this->plan().in, ins),
                                 .w = pass.parameters + weight_ + held_index(outs) * elements_of_output(),
                                 .b = bias_ < 0 ? nullptr : pass.parameters + bias_ + held_index(outs),
                                 .y = this->rows_of(memory.y, this->plan().out, outs),
                                 .w_transposed = w_transposed},
                                pass.context);
  }

  void backward_weights_some(const Pass<T>& pass, ConstMatrix<T> x, Matrix<T> dy, const Channels& outs,
                             std::int64_t groups) const {
    const Channels ins = inputs_of(outs, groups);
    pass.kernels.conv2d_backward_weights({.geometry = part_of_it(ins, outs, groups),
                                          .x = this->rows_of(x, this->plan().in, ins),
                                          .dy = this->rows_of(dy, this->plan().out, outs),
                                          .slots = pass.slots,
                                          .dw = pass.gradients + weight_ + held_index(outs) * elements_of_output(),
                                          .db = bias_ < 0 ? nullptr : pass.gradients + bias_ + held_index(outs)},
                                         pass.context);
  }

  /// Of input channels; `w` is the weight of these alone, and the size of it is returned.
  std::int64_t backward_data_some(const Pass<T>& pass, const T* w, Matrix<T> dy, Matrix<T> dx, const Channels& ins,
                                  const Channels& groups) const {
    const Channels outs = {groups.first * geometry_.out_per_group(), groups.count * geometry_.out_per_group()};
    const Conv2dGeometry geometry = part_of_it(ins, outs, groups.count);
    pass.kernels.conv2d_backward_data({.geometry = geometry,
                                       .w = w,
                                       .dy = this->rows_of(dy, this->plan().out, outs),
                                       .dx = this->rows_of(dx, this->plan().in, ins)},
                                      pass.context);
    return outs.count * geometry.in_per_group() * geometry_.kernel_h * geometry_.kernel_w;
  }

  /// The inputs of output channels.
  Channels inputs_of(const Channels& outs, std::int64_t groups) const {
    return {outs.first / geometry_.out_per_group() * geometry_.in_per_group(), groups * geometry_.in_per_group()};
  }
  Conv2dGeometry part_of_it(const Channels& ins, const Channels& outs, std::int64_t groups) const {
    Conv2dGeometry geometry = geometry_;
    geometry.groups = groups;
    geometry.in_channels = ins.count;
    geometry.out_channels = outs.count;
    return geometry;
  }
  /// Where these output channels are among those whose parameters are held.
  std::int64_t held_index(const Channels& outs) const { return outs.first - this->held_channels().first; }
  /// Elements of the weight that belong to one output channel.
  std::int64_t elements_of_output() const { return geometry_.in_per_group() * geometry_.kernel_h * geometry_.kernel_w; }
  /// The input channels whose gradients this member computes.
  Channels held_inputs() const { return this->plan().in_split.part(geometry_.in_channels, this->plan().member); }

  Conv2dGeometry geometry_;
  std::int64_t weight_, bias_ = -1;
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

template <class T>
std::unique_ptr<Layer<T>> Conv2d::make(const LayerPlan& plan) const {
  return std::make_unique<Conv2dLayer<T>>(plan);
}

LOCKSTEP_INSTANTIATE_LAYER(Conv2d);

}  // namespace lockstep
