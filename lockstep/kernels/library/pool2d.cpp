// Pooling by oneDNN. It treats channels and samples alike, so the samples of a matrix without gaps between its rows can
// be the library's innermost channels and our channels its samples: [C][H][W][samples] is its nhwc, and nothing is
// reordered. A matrix with gaps is copied into one without. Backward of max pooling needs the places of the largest
// taps, which the library's forward writes and our contract does not carry: it runs forward again.

#include "lockstep/kernels/pool2d.hpp"

#include "lockstep/kernels/library/onednn.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep::onednn {

namespace {

struct Problem {
  explicit Problem(const Pool2dGeometry& geometry)
      : g(geometry), window{g.window_h, g.window_w}, stride{g.stride_h, g.stride_w}, pad{g.pad_h, g.pad_w} {}

  /// [channels*height*width, samples], rows `step` apart, as channels x samples x height x width.
  dnnl_memory_desc_t image(std::int64_t samples, std::int64_t height, std::int64_t width, std::int64_t step) const {
    const dnnl_dim_t dims[] = {g.channels, samples, height, width};
    const dnnl_dim_t strides[] = {height * width * step, 1, width * step, step};
    return strided(dims, strides);
  }
  dnnl_memory_desc_t input(std::int64_t samples, std::int64_t step) const {
    return image(samples, g.in_height, g.in_width, step);
  }
  dnnl_memory_desc_t output(std::int64_t samples, std::int64_t step) const {
    return image(samples, g.out_height(), g.out_width(), step);
  }

  /// Training: max pooling also records the places of the largest taps.
  PrimitiveDesc forward(const Plan& plan, dnnl_prop_kind_t purpose, dnnl_alg_kind_t algorithm,
                        std::int64_t samples) const {
    const dnnl_memory_desc_t x = input(samples, samples), y = output(samples, samples);
    dnnl_pooling_desc_t op;
    check(library().pooling_forward_desc_init(&op, purpose, algorithm, &x, &y, stride, window, pad, pad),
          "pooling forward");
    return plan.describe(&op);
  }
  PrimitiveDesc backward(const Plan& plan, dnnl_alg_kind_t algorithm, std::int64_t samples,
                         const PrimitiveDesc& hint) const {
    const dnnl_memory_desc_t x = input(samples, samples), y = output(samples, samples);
    dnnl_pooling_desc_t op;
    check(library().pooling_backward_desc_init(&op, algorithm, &x, &y, stride, window, pad, pad), "pooling backward");
    return plan.describe(&op, hint.get());
  }

  Pool2dGeometry g;
  dnnl_dim_t window[2], stride[2], pad[2];
};

Worker::Key key_of(Operation operation, const Pool2dGeometry& g, std::int64_t samples,
                   std::initializer_list<std::int64_t> strides) {
  Worker::Key key = {operation,  g.channels, g.in_height, g.in_width, g.window_h, g.window_w,
                     g.stride_h, g.stride_w, g.pad_h,     g.pad_w,    samples};
  key.insert(key.end(), strides);
  return key;
}

/// y from x, for max and average.
template <class Forward>
void run_forward(Operation operation, dnnl_alg_kind_t algorithm, const Forward& a, KernelContext& context) {
  if (a.y.empty()) return;
  const std::int64_t samples = a.y.cols;
  run_plan(context, key_of(operation, a.geometry, samples, {a.x.stride, a.y.stride}), {a.x.data, a.y.data},
           [&](Plan& made) {
             const Problem problem(a.geometry);
             const Tensor x = made.operand(problem.input(samples, a.x.stride));
             const Tensor y = made.operand(problem.output(samples, a.y.stride));
             const PrimitiveDesc desc = problem.forward(made, dnnl_forward_inference, algorithm, samples);
             const Tensor source = made.reordered(x, problem.input(samples, samples));
             const Tensor result = made.place_for(y, problem.output(samples, samples));
             made.add(desc, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, result}});
             made.deliver(result, y);
           });
}

void run_max_forward(const MaxPool2dForward<float>& a, KernelContext& context) {
  run_forward(max_pool2d_forward, dnnl_pooling_max, a, context);
}

void run_avg_forward(const AvgPool2dForward<float>& a, KernelContext& context) {
  run_forward(avg_pool2d_forward, dnnl_pooling_avg_include_padding, a, context);
}

void run_max_backward(const MaxPool2dBackward<float>& a, KernelContext& context) {
  if (a.dx.empty()) return;
  const std::int64_t samples = a.dx.cols;
  const Worker::Key key = key_of(max_pool2d_backward, a.geometry, samples, {a.x.stride, a.dy.stride, a.dx.stride});
  run_plan(context, key, {a.x.data, a.dy.data, a.dx.data}, [&](Plan& made) {
    const Problem problem(a.geometry);
    const dnnl_memory_desc_t input = problem.input(samples, samples), output = problem.output(samples, samples);
    const Tensor x = made.operand(problem.input(samples, a.x.stride));
    const Tensor dy = made.operand(problem.output(samples, a.dy.stride));
    const Tensor dx = made.operand(problem.input(samples, a.dx.stride));
    const PrimitiveDesc forward = problem.forward(made, dnnl_forward_training, dnnl_pooling_max, samples);
    const PrimitiveDesc backward = problem.backward(made, dnnl_pooling_max, samples, forward);
    const Tensor places = made.temporary(layout_of(forward, dnnl_query_workspace_md));
    const Tensor source = made.reordered(x, input), y = made.temporary(output);
    made.add(forward, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, y}, {DNNL_ARG_WORKSPACE, places}});
    const Tensor gradient = made.reordered(dy, output), result = made.place_for(dx, input);
    made.add(backward, {{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_WORKSPACE, places}, {DNNL_ARG_DIFF_SRC, result}});
    made.deliver(result, dx);
  });
}

void run_avg_backward(const AvgPool2dBackward<float>& a, KernelContext& context) {
  if (a.dx.empty()) return;
  const std::int64_t samples = a.dx.cols;
  const Worker::Key key = key_of(avg_pool2d_backward, a.geometry, samples, {a.dy.stride, a.dx.stride});
  run_plan(context, key, {a.dy.data, a.dx.data}, [&](Plan& made) {
    const Problem problem(a.geometry);
    constexpr dnnl_alg_kind_t kAverage = dnnl_pooling_avg_include_padding;
    const Tensor dy = made.operand(problem.output(samples, a.dy.stride));
    const Tensor dx = made.operand(problem.input(samples, a.dx.stride));
    const PrimitiveDesc forward = problem.forward(made, dnnl_forward_training, kAverage, samples);
    const PrimitiveDesc backward = problem.backward(made, kAverage, samples, forward);
    const Tensor gradient = made.reordered(dy, problem.output(samples, samples));
    const Tensor result = made.place_for(dx, problem.input(samples, samples));
    made.add(backward, {{DNNL_ARG_DIFF_DST, gradient}, {DNNL_ARG_DIFF_SRC, result}});
    made.deliver(result, dx);
  });
}

}  // namespace

void add_pool2d(KernelTable<float>& table) {
  table.max_pool2d_forward = {"onednn", &run_max_forward};
  table.max_pool2d_backward = {"onednn", &run_max_backward};
  table.avg_pool2d_forward = {"onednn", &run_avg_forward};
  table.avg_pool2d_backward = {"onednn", &run_avg_backward};
}

}  // namespace lockstep::onednn
