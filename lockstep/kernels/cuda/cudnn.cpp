// Convolution, pooling and batch normalisation by cuDNN: what to compare with, to a tolerance. What cuDNN says it does
// not support, what is too large for its int, and shapes with nothing in them are done by our own kernels.

#include <limits>

#include "lockstep/kernels/cuda/cuda.hpp"
#include "lockstep/kernels/cuda/plugin.hpp"
#include "lockstep/kernels/device/launch.hpp"

namespace lockstep {

namespace {

template <class T>
std::uint64_t device_address(const T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}
std::int32_t narrow(std::int64_t size) { return static_cast<std::int32_t>(size); }

/// Whether cuDNN, whose sizes and strides are int, can have these matrices; an empty one it cannot.
template <class... Matrices>
bool suits_cudnn(const Matrices&... matrices) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return (... && (!matrices.empty() && matrices.rows <= kMost / matrices.stride));
}

/// x and y stand for dx and dy in backward.
template <class T, class X, class Y>
bool convolve(KernelContext& context, CudaConvolutionShape::Operation operation, const Conv2dGeometry& g, const X& x,
              const T* w, const T* b, const Y& y) {
  if (!suits_cudnn(x, y)) return false;
  return cudnn_convolve(context, {.shape = {.operation = operation,
                                            .is_double = sizeof(T) == sizeof(double),
                                            .samples = narrow(x.cols),
                                            .in_channels = narrow(g.in_channels),
                                            .in_height = narrow(g.in_height),
                                            .in_width = narrow(g.in_width),
                                            .out_channels = narrow(g.out_channels),
                                            .out_height = narrow(g.out_height()),
                                            .out_width = narrow(g.out_width()),
                                            .kernel_h = narrow(g.kernel_h),
                                            .kernel_w = narrow(g.kernel_w),
                                            .stride_h = narrow(g.stride_h),
                                            .stride_w = narrow(g.stride_w),
                                            .pad_h = narrow(g.pad_h),
                                            .pad_w = narrow(g.pad_w),
                                            .dilation_h = narrow(g.dilation_h),
                                            .dilation_w = narrow(g.dilation_w),
                                            .groups = narrow(g.groups)},
                                  .x_stride = narrow(x.stride),
                                  .y_stride = narrow(y.stride),
                                  .x = device_address(x.data),
                                  .w = device_address(w),
                                  .b = device_address(b),
                                  .y = device_address(y.data),
                                  .scratch = 0});
}

template <class T>
void conv2d_forward(const Conv2dForward<T>& a, KernelContext& context) {
  if (!convolve(context, CudaConvolutionShape::forward, a.geometry, a.x, a.w, a.b, a.y))
    own_cuda_kernels<T>().conv2d_forward(a, context);
}

template <class T>
void conv2d_backward_data(const Conv2dBackwardData<T>& a, KernelContext& context) {
  const T* const no_bias = nullptr;
  if (!convolve(context, CudaConvolutionShape::backward_data, a.geometry, a.dx, a.w, no_bias, a.dy))
    own_cuda_kernels<T>().conv2d_backward_data(a, context);
}

/// All samples at once, whatever their slots.
template <class T>
void conv2d_backward_weights(const Conv2dBackwardWeights<T>& a, KernelContext& context) {
  const T *const dw = a.dw, *const db = a.db;
  if (!convolve(context, CudaConvolutionShape::backward_weights, a.geometry, a.x, dw, db, a.dy))
    own_cuda_kernels<T>().conv2d_backward_weights(a, context);
}

template <class M>
CudaImages images(std::int64_t height, std::int64_t width, const M& m) {
  return {
      .height = narrow(height), .width = narrow(width), .stride = narrow(m.stride), .address = device_address(m.data)};
}

/// For average pooling backward, which needs neither x nor y, dx and dy stand in their places.
template <class T>
bool pool(KernelContext& context, const Pool2dGeometry& g, bool average, ConstMatrix<T> x, ConstMatrix<T> y,
          ConstMatrix<T> dy, ConstMatrix<T> dx) {
  if (!suits_cudnn(x, y) || (dx.data != nullptr && !suits_cudnn(dy, dx))) return false;
  return cudnn_pool(context.device(), {.is_double = sizeof(T) == sizeof(double),
                                       .average = average,
                                       .channels = narrow(g.channels),
                                       .samples = narrow(x.cols),
                                       .window_h = narrow(g.window_h),
                                       .window_w = narrow(g.window_w),
                                       .stride_h = narrow(g.stride_h),
                                       .stride_w = narrow(g.stride_w),
                                       .pad_h = narrow(g.pad_h),
                                       .pad_w = narrow(g.pad_w),
                                       .x = images(g.in_height, g.in_width, x),
                                       .y = images(g.out_height(), g.out_width(), y),
                                       .dy = images(g.out_height(), g.out_width(), dy),
                                       .dx = images(g.in_height, g.in_width, dx)});
}

template <class T>
void max_pool2d_forward(const MaxPool2dForward<T>& a, KernelContext& context) {
  if (!pool<T>(context, a.geometry, false, a.x, a.y, {}, {})) own_cuda_kernels<T>().max_pool2d_forward(a, context);
}
template <class T>
void max_pool2d_backward(const MaxPool2dBackward<T>& a, KernelContext& context) {
  if (!pool<T>(context, a.geometry, false, a.x, a.y, a.dy, a.dx)) own_cuda_kernels<T>().max_pool2d_backward(a, context);
}
template <class T>
void avg_pool2d_forward(const AvgPool2dForward<T>& a, KernelContext& context) {
  if (!pool<T>(context, a.geometry, true, a.x, a.y, {}, {})) own_cuda_kernels<T>().avg_pool2d_forward(a, context);
}
template <class T>
void avg_pool2d_backward(const AvgPool2dBackward<T>& a, KernelContext& context) {
  if (!pool<T>(context, a.geometry, true, a.dx, a.dy, a.dy, a.dx))
    own_cuda_kernels<T>().avg_pool2d_backward(a, context);
}

/// What the three operations of batch normalisation share.
template <class T, class Args>
CudaNormalisation normalisation(CudaNormalisation::Operation operation, const Args& a) {
  return {.operation = operation,
          .is_double = sizeof(T) == sizeof(double),
          .channels = narrow(a.channels),
          .pixels = narrow(a.pixels),
          .samples = narrow(a.x.cols),
          .x_stride = narrow(a.x.stride),
          .x = device_address(a.x.data),
          .gamma = device_address(a.gamma)};
}

/// Whether every slot is empty or has a variance (of one number cuDNN would give none).
bool slots_suit_cudnn(const Slots& slots, std::int64_t pixels) {
  for (std::int64_t slot = 0; slot < slots.count(); ++slot)
    if (slots.size(slot) > 0 && slots.size(slot) * pixels < 2) return false;
  return true;
}

/// Calls run(slot) for the slots with samples; false as soon as cuDNN does not support one.
template <class Run>
bool for_each_slot(const Slots& slots, const Run& run) {
  for (std::int64_t slot = 0; slot < slots.count(); ++slot)
    if (slots.size(slot) > 0 && !run(slot)) return false;
  return true;
}

/// A call per slot: each has statistics of its own.
template <class T>
bool normalise_by_slots(const BatchNormForward<T>& a, KernelContext& context) {
  if (!suits_cudnn(a.x, a.y) || a.x.data == a.y.data || !slots_suit_cudnn(a.slots, a.pixels)) return false;
  Device& device = context.device();
  const std::int64_t slots = a.slots.count(), each = a.channels * slots;
  const auto bytes = each * static_cast<std::int64_t>(sizeof(T));
  T* const sums = context.scratch<T>(2 * each);
  // cuDNN adds to averages that begin as 0; an empty slot has no statistics.
  device.zero(sums, 2 * bytes);
  device.zero(a.mean, bytes);
  device.zero(a.inv_std, bytes);
  const bool done = for_each_slot(a.slots, [&](std::int64_t slot) {
    const std::int64_t begin = a.slots.begin(slot), at = slot * a.channels;
    CudaNormalisation n = normalisation<T>(CudaNormalisation::training, a);
    n.eps = double(a.eps);
    n.samples = narrow(a.slots.size(slot));
    n.y_stride = narrow(a.y.stride);
    n.x = device_address(a.x.data + begin);
    n.y = device_address(a.y.data + begin);
    n.beta = device_address(a.beta);
    n.mean = device_address(a.mean + at);
    n.inv_std = device_address(a.inv_std + at);
    n.running_mean = device_address(sums + at);
    n.running_var = device_address(sums + each + at);
    if (!cudnn_normalise(device, n)) return false;
    const T count = T(a.pixels * a.slots.size(slot));
    for (T* const sum : {sums + at, sums + each + at})
      own_cuda_kernels<T>().scale_gradient({.count = a.channels, .factor = count, .g = sum}, context);
    return true;
  });
  if (done) device::add_slots<T>(context, a.channels, slots, sums, a.sum_mean, a.sum_var);
  return done;
}

template <class T>
void batch_norm_forward(const BatchNormForward<T>& a, KernelContext& context) {
  if (!normalise_by_slots(a, context)) own_cuda_kernels<T>().batch_norm_forward(a, context);
}

template <class T>
bool normalise_back_by_slots(const BatchNormBackward<T>& a, KernelContext& context) {
  if (!suits_cudnn(a.x, a.dy, a.dx) || !slots_suit_cudnn(a.slots, a.pixels)) return false;
  Device& device = context.device();
  const std::int64_t slots = a.slots.count(), each = a.channels * slots;
  const std::int64_t scalar = sizeof(T), extent = (a.dy.rows - 1) * a.dy.stride + a.dy.cols;
  // cuDNN is not said to work in place, so dy steps aside where dx is written over it.
  const bool aside = a.dy.data == a.dx.data;
  T* const sums = context.scratch<T>(2 * each + (aside ? extent : 0));
  const T* dy = a.dy.data;
  if (aside) {
    device.copy_within(reinterpret_cast<std::byte*>(sums + 2 * each), reinterpret_cast<const std::byte*>(dy),
                       extent * scalar);
    dy = sums + 2 * each;
  }
  device.zero(sums, 2 * each * scalar);
  const bool done = for_each_slot(a.slots, [&](std::int64_t slot) {
    const std::int64_t begin = a.slots.begin(slot), at = slot * a.channels;
    CudaNormalisation n = normalisation<T>(CudaNormalisation::backward, a);
    n.samples = narrow(a.slots.size(slot));
    n.y_stride = narrow(a.dy.stride);
    n.dx_stride = narrow(a.dx.stride);
    n.x = device_address(a.x.data + begin);
    n.y = device_address(dy + begin);
    n.dx = device_address(a.dx.data + begin);
    n.mean = device_address(a.mean + at);
    n.inv_std = device_address(a.inv_std + at);
    n.dbeta = device_address(sums + at);
    n.dgamma = device_address(sums + each + at);
    return cudnn_normalise(device, n);
  });
  if (done)
    device::add_slots<T>(context, a.channels, slots, sums, a.dbeta, a.dgamma);
  else if (aside)  // earlier slots may have written over it
    device.copy_within(reinterpret_cast<std::byte*>(a.dx.data), reinterpret_cast<const std::byte*>(dy),
                       extent * scalar);
  return done;
}

/// Without dx, which cuDNN insists on, our own kernel does it.
template <class T>
void batch_norm_backward(const BatchNormBackward<T>& a, KernelContext& context) {
  if (!normalise_back_by_slots(a, context)) own_cuda_kernels<T>().batch_norm_backward(a, context);
}

template <class T>
void batch_norm_inference(const BatchNormInference<T>& a, KernelContext& context) {
  CudaNormalisation n = normalisation<T>(CudaNormalisation::inference, a);
  n.eps = double(a.eps);
  n.y_stride = narrow(a.y.stride);
  n.y = device_address(a.y.data);
  n.beta = device_address(a.beta);
  n.running_mean = device_address(a.running_mean);
  n.running_var = device_address(a.running_var);
  if (!suits_cudnn(a.x, a.y) || a.x.data == a.y.data || !cudnn_normalise(context.device(), n))
    own_cuda_kernels<T>().batch_norm_inference(a, context);
}

}  // namespace

template <class T>
void add_cudnn_kernels(KernelTable<T>& table) {
  table.conv2d_forward = {"cudnn", &conv2d_forward<T>};
  table.conv2d_backward_data = {"cudnn", &conv2d_backward_data<T>};
  table.conv2d_backward_weights = {"cudnn", &conv2d_backward_weights<T>};
  table.max_pool2d_forward = {"cudnn", &max_pool2d_forward<T>};
  table.max_pool2d_backward = {"cudnn", &max_pool2d_backward<T>};
  table.avg_pool2d_forward = {"cudnn", &avg_pool2d_forward<T>};
  table.avg_pool2d_backward = {"cudnn", &avg_pool2d_backward<T>};
  table.batch_norm_forward = {"cudnn", &batch_norm_forward<T>};
  table.batch_norm_backward = {"cudnn", &batch_norm_backward<T>};
  table.batch_norm_inference = {"cudnn", &batch_norm_inference<T>};
}

template void add_cudnn_kernels<float>(KernelTable<float>&);
template void add_cudnn_kernels<double>(KernelTable<double>&);

}  // namespace lockstep
