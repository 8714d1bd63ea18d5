// Convolution by oneDNN. Our activations are [C][H][W][samples]; the library's fast kernels want samples outermost and
// channels in blocks, so each call reorders its operands into the layout the library chooses and its result back. The
// algorithm is the direct one: sums of products in another order, no Winograd transform. The samples of a chunk are one
// call, whatever its slots.

#include "lockstep/kernels/conv2d.hpp"

#include <algorithm>
#include <array>

#include "lockstep/kernels/library/onednn.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep::onednn {

namespace {

using Dims2 = std::array<dnnl_dim_t, 2>;

dnnl_memory_desc_t any_layout(const dnnl_memory_desc_t& desc) { return tagged(desc, dnnl_format_tag_any); }

/// A convolution in the words of the library.
struct Problem {
  explicit Problem(const Conv2dGeometry& geometry)
      : g(geometry),
        stride{g.stride_h, g.stride_w},
        dilation{g.dilation_h - 1, g.dilation_w - 1},
        pad{g.pad_h, g.pad_w} {}

  /// A matrix [channels*height*width, samples] as samples x channels x height x width.
  template <class T>
  static dnnl_memory_desc_t image(const MatrixView<T>& m, std::int64_t channels, std::int64_t height,
                                  std::int64_t width) {
    const dnnl_dim_t dims[] = {m.cols, channels, height, width};
    const dnnl_dim_t strides[] = {1, height * width * m.stride, width * m.stride, m.stride};
    return strided(dims, strides);
  }
  template <class T>
  dnnl_memory_desc_t input(const MatrixView<T>& x) const {
    return image(x, g.in_channels, g.in_height, g.in_width);
  }
  template <class T>
  dnnl_memory_desc_t output(const MatrixView<T>& y) const {
    return image(y, g.out_channels, g.out_height(), g.out_width());
  }
  dnnl_memory_desc_t weights() const {
    const dnnl_dim_t dims[] = {g.groups, g.out_per_group(), g.in_per_group(), g.kernel_h, g.kernel_w};
    return dense(g.groups == 1 ? std::span(dims).subspan(1) : std::span(dims));
  }
  dnnl_memory_desc_t bias() const {
    const dnnl_dim_t dims[] = {g.out_channels};
    return dense(dims);
  }
  std::int64_t weight_count() const { return g.out_channels * g.in_per_group() * g.kernel_h * g.kernel_w; }

  Conv2dGeometry g;
  Dims2 stride, dilation, pad;
};

Worker::Key key_of(Operation operation, const Conv2dGeometry& g, std::int64_t samples, std::int64_t in_stride,
                   std::int64_t out_stride, bool bias) {
  return {operation,    g.in_channels, g.in_height, g.in_width, g.out_channels, g.kernel_h,
          g.kernel_w,   g.stride_h,    g.stride_w,  g.pad_h,    g.pad_w,        g.dilation_h,
          g.dilation_w, g.groups,      samples,     in_stride,  out_stride,     bias};
}

/// Forward, which backward primitives want as a hint. `b`: null without a bias.
PrimitiveDesc describe_forward(const Plan& plan, const Problem& problem, const dnnl_memory_desc_t& x,
                               const dnnl_memory_desc_t& w, const dnnl_memory_desc_t* b, const dnnl_memory_desc_t& y) {
  dnnl_convolution_desc_t op;
  check(library().dilated_convolution_forward_desc_init(&op, dnnl_forward_training, dnnl_convolution_direct, &x, &w, b,
                                                        &y, problem.stride.data(), problem.dilation.data(),
                                                        problem.pad.data(), problem.pad.data()),
        "conv2d_forward");
  return plan.describe(&op);
}

void run_forward(const Conv2dForward<float>& a, KernelContext& context) {
  if (a.y.empty()) return;
  run_plan(
      context, key_of(conv2d_forward, a.geometry, a.y.cols, a.x.stride, a.y.stride, a.b != nullptr),
      {a.x.data, a.w, a.b, a.y.data}, [&](Plan& made) {
        const Problem problem(a.geometry);
        const Tensor x = made.operand(problem.input(a.x)), w = made.operand(problem.weights());
        const Tensor b = made.operand(problem.bias(), a.b != nullptr), y = made.operand(problem.output(a.y));
        const dnnl_memory_desc_t x_any = any_layout(x.desc), w_any = any_layout(w.desc), y_any = any_layout(y.desc);
        const PrimitiveDesc desc =
            describe_forward(made, problem, x_any, w_any, a.b != nullptr ? &b.desc : nullptr, y_any);
        const Tensor source = made.reordered(x, layout_of(desc, dnnl_query_src_md));
        const Tensor weights = made.reordered(w, layout_of(desc, dnnl_query_weights_md));
        const Tensor result = made.place_for(y, layout_of(desc, dnnl_query_dst_md));
        made.add(desc,
                 {{DNNL_ARG_SRC, source}, {DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_BIAS, b}, {DNNL_ARG_DST, result}});
        made.deliver(result, y);
      });
}

void run_backward_data(const Conv2dBackwardData<float>& a, KernelContext& context) {
  if (a.dx.empty()) return;
  run_plan(context, key_of(conv2d_backward_data, a.geometry, a.dx.cols, a.dx.stride, a.dy.stride, false),
           {a.w, a.dy.data, a.dx.data}, [&](Plan& made) {
             const Problem problem(a.geometry);
             const Tensor w = made.operand(problem.weights()), dy = made.operand(problem.output(a.dy));
             const Tensor dx = made.operand(problem.input(a.dx));
             const dnnl_memory_desc_t x_any = any_layout(dx.desc), w_any = any_layout(w.desc),
                                      y_any = any_layout(dy.desc);
             dnnl_convolution_desc_t op;
             check(library().dilated_convolution_backward_data_desc_init(
                       &op, dnnl_convolution_direct, &x_any, &w_any, &y_any, problem.stride.data(),
                       problem.dilation.data(), problem.pad.data(), problem.pad.data()),
                   "conv2d_backward_data");
             const PrimitiveDesc desc =
                 made.describe(&op, describe_forward(made, problem, x_any, w_any, nullptr, y_any).get());
             const Tensor weights = made.reordered(w, layout_of(desc, dnnl_query_weights_md));
             const Tensor gradient = made.reordered(dy, layout_of(desc, dnnl_query_diff_dst_md));
             const Tensor result = made.place_for(dx, layout_of(desc, dnnl_query_diff_src_md));
             made.add(desc, {{DNNL_ARG_WEIGHTS, weights}, {DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, result}});
             made.deliver(result, dx);
           });
}

void run_backward_weights(const Conv2dBackwardWeights<float>& a, KernelContext& context) {
  const Problem all(a.geometry);
  if (a.x.cols == 0) {
    std::fill_n(a.dw, all.weight_count(), 0.0F);
    if (a.db != nullptr) std::fill_n(a.db, a.geometry.out_channels, 0.0F);
    return;
  }
  run_plan(context, key_of(conv2d_backward_weights, a.geometry, a.x.cols, a.x.stride, a.dy.stride, a.db != nullptr),
           {a.x.data, a.dy.data, a.dw, a.db}, [&](Plan& made) {
             const Problem& problem = all;
             const Tensor x = made.operand(problem.input(a.x)), dy = made.operand(problem.output(a.dy));
             const Tensor dw = made.operand(problem.weights()), db = made.operand(problem.bias(), a.db != nullptr);
             const dnnl_memory_desc_t x_any = any_layout(x.desc), w_any = any_layout(dw.desc),
                                      y_any = any_layout(dy.desc);
             dnnl_convolution_desc_t op;
             check(library().dilated_convolution_backward_weights_desc_init(
                       &op, dnnl_convolution_direct, &x_any, &w_any, a.db != nullptr ? &db.desc : nullptr, &y_any,
                       problem.stride.data(), problem.dilation.data(), problem.pad.data(), problem.pad.data()),
                   "conv2d_backward_weights");
             const PrimitiveDesc desc =
                 made.describe(&op, describe_forward(made, problem, x_any, w_any, nullptr, y_any).get());
             const Tensor source = made.reordered(x, layout_of(desc, dnnl_query_src_md));
             const Tensor gradient = made.reordered(dy, layout_of(desc, dnnl_query_diff_dst_md));
             const Tensor result = made.place_for(dw, layout_of(desc, dnnl_query_diff_weights_md));
             made.add(desc, {{DNNL_ARG_SRC, source},
                             {DNNL_ARG_DIFF_DST, gradient},
                             {DNNL_ARG_DIFF_WEIGHTS, result},
                             {DNNL_ARG_DIFF_BIAS, db}});
             made.deliver(result, dw);
           });
}

}  // namespace

void add_conv2d(KernelTable<float>& table) {
  table.conv2d_forward = {"onednn", &run_forward};
  table.conv2d_backward_data = {"onednn", &run_backward_data};
  table.conv2d_backward_weights = {"onednn", &run_backward_weights};
}

}  // namespace lockstep::onednn
