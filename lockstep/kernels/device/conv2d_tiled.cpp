#include "lockstep/kernels/device/conv2d_tiled.hpp"

#include <numeric>

namespace lockstep::device {

namespace {

// As in text/conv2d_tiled.h.
constexpr std::int64_t kRows = 8, kSamples = 32, kTaps = 40, kMostRowGroups = 4, kMostWarps = 8;
template <class T>
constexpr std::int64_t kPixels = sizeof(T) == 4 ? 4 : 2;
template <class T>
constexpr std::int64_t kColumns = sizeof(T) == 4 ? 96 : 64;

/// How outputs along one axis find their sources: see the head of text/conv2d_tiled.h.
struct Axis {
  std::int64_t phases = 1, offset = 0, dilation = 1, taps = 1, tap_step = 1, pixel_step = 1, step = 1;

  std::int64_t most_taps() const { return divide_up(taps, tap_step); }
  /// How many places of the source `outputs` neighbours of one phase read.
  std::int64_t patch(std::int64_t outputs) const {
    return (outputs - 1) * pixel_step + (most_taps() - 1) * std::abs(step) + 1;
  }
};

Axis forward_axis(std::int64_t taps, std::int64_t stride, std::int64_t pad, std::int64_t dilation) {
  return {.offset = -pad, .dilation = dilation, .taps = taps, .pixel_step = stride, .step = dilation};
}

/// Input i lies under output (i + pad - t * dilation) / stride wherever that is whole.
Axis gradient_axis(std::int64_t taps, std::int64_t stride, std::int64_t pad, std::int64_t dilation) {
  const std::int64_t common = std::gcd(stride, dilation);
  return {.phases = stride,
          .offset = pad,
          .dilation = dilation,
          .taps = taps,
          .tap_step = stride / common,
          .step = -(dilation / common)};
}

/// Weights of a group: `rows` channels of outputs by `depth` channels that are summed over.
template <class T>
struct Weights {
  const T* data;
  std::int64_t row_step, depth_step, group_step, groups;
  const T* bias;
};
struct Image {
  std::int64_t channels, height, width;  // channels of one group
};

template <class T>
bool convolve(KernelContext& context, ConstMatrix<T> x, const Image& from, const Weights<T>& w, Matrix<T> y,
              const Image& to, const Axis& v, const Axis& h) {
  std::int64_t row_groups = std::min(power_of_two(divide_up(to.channels, kRows)), kMostRowGroups);
  const std::int64_t width = divide_up(to.width, h.phases);
  std::int64_t pixel_groups = std::min(power_of_two(divide_up(width, kPixels<T>)), kMostWarps / row_groups);
  while (pixel_groups > 0 && h.patch(pixel_groups * kPixels<T>) > kColumns<T>) pixel_groups /= 2;
  // Smaller groups where there would be fewer than multiprocessors; two warps at least.
  const auto groups_of = [&](std::int64_t pixels, std::int64_t rows) {
    return divide_up(y.cols, kSamples) * h.phases * divide_up(width, std::max<std::int64_t>(pixels, 1) * kPixels<T>) *
           to.height * divide_up(to.channels, rows * kRows) * w.groups;
  };
  while (pixel_groups * row_groups > 2 && groups_of(pixel_groups, row_groups) < context.device().info().compute_units)
    (pixel_groups > 1 ? pixel_groups : row_groups) /= 2;
  if (pixel_groups == 0 || h.most_taps() > kTaps || context.device().info().max_group < kSamples * kMostWarps)
    return false;
  const std::int64_t row_tiles = divide_up(to.channels, row_groups * kRows);
  const std::int64_t pixel_tiles = h.phases * divide_up(width, pixel_groups * kPixels<T>);
  const std::int64_t groups = divide_up(y.cols, kSamples) * pixel_tiles * to.height * row_tiles * w.groups;
  if (groups > kMostInX) return false;
  const Shape shape{.groups = {groups, 1, 1}, .group_size = {kSamples, pixel_groups, row_groups}};
  start<T>(context, "conv2d_tiled", shape, x.data, x.stride, from.channels, from.height, from.width, w.data, w.row_step,
           w.depth_step, w.group_step, w.bias, y.data, y.stride, to.channels, to.height, to.width, y.cols, row_tiles,
           pixel_tiles, v.phases, v.offset, v.dilation, v.taps, v.tap_step, v.pixel_step, v.step, h.phases, h.offset,
           h.dilation, h.taps, h.tap_step, h.pixel_step, h.step);
  return true;
}

}  // namespace

template <class T>
bool conv2d_forward_tiled(const Conv2dForward<T>& a, KernelContext& context) {
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t taps = g.kernel_h * g.kernel_w, row = g.in_per_group() * taps;
  return convolve<T>(context, a.x, {g.in_per_group(), g.in_height, g.in_width},
                     {a.w, row, taps, g.out_per_group() * row, g.groups, a.b}, a.y,
                     {g.out_per_group(), g.out_height(), g.out_width()},
                     forward_axis(g.kernel_h, g.stride_h, g.pad_h, g.dilation_h),
                     forward_axis(g.kernel_w, g.stride_w, g.pad_w, g.dilation_w));
}

template <class T>
bool conv2d_backward_data_tiled(const Conv2dBackwardData<T>& a, KernelContext& context) {
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t taps = g.kernel_h * g.kernel_w, row = g.in_per_group() * taps;
  return convolve<T>(context, a.dy, {g.out_per_group(), g.out_height(), g.out_width()},
                     {a.w, taps, row, g.out_per_group() * row, g.groups, nullptr}, a.dx,
                     {g.in_per_group(), g.in_height, g.in_width},
                     gradient_axis(g.kernel_h, g.stride_h, g.pad_h, g.dilation_h),
                     gradient_axis(g.kernel_w, g.stride_w, g.pad_w, g.dilation_w));
}

template bool conv2d_forward_tiled(const Conv2dForward<float>&, KernelContext&);
template bool conv2d_forward_tiled(const Conv2dForward<double>&, KernelContext&);
template bool conv2d_backward_data_tiled(const Conv2dBackwardData<float>&, KernelContext&);
template bool conv2d_backward_data_tiled(const Conv2dBackwardData<double>&, KernelContext&);

namespace {

// As in text/conv2d_weights_tiled.h.
constexpr std::int64_t kItemRows = 4, kVirtualLanes = 16, kMostItems = 4;
template <class T>
constexpr std::int64_t kItemTaps = sizeof(T) == 4 ? 8 : 4;
template <class T>
constexpr std::int64_t kLineColumns = sizeof(T) == 4 ? 272 : 136;
template <class T>
constexpr std::int64_t kMostPixels = sizeof(T) == 4 ? 8 : 4;

/// What a group of work-items takes at a time; no pixels: it does not fit.
struct Piece {
  std::int64_t tap_groups = 0, pixels = 0;
};

template <class T>
Piece piece_of(const Conv2dGeometry& g, std::int64_t all_taps) {
  std::int64_t groups = std::min(power_of_two(divide_up(all_taps, kItemTaps<T>)), kMostItems);
  for (; groups > 0; groups /= 2) {
    const std::int64_t lines = (groups * kItemTaps<T> + g.kernel_w - 2) / g.kernel_w + 1;  // at most, and one of ones
    for (std::int64_t pixels = kMostPixels<T>; pixels > 0; pixels /= 2) {
      const std::int64_t patch = (pixels - 1) * g.stride_w + (g.kernel_w - 1) * g.dilation_w + 1;
      if ((lines + 1) * patch <= kLineColumns<T>) return {groups, pixels};
    }
  }
  return {};
}

}  // namespace

template <class T>
bool conv2d_backward_weights_tiled(const Conv2dBackwardWeights<T>& a, KernelContext& context) {
  Device& device = context.device();
  const Conv2dGeometry& g = a.geometry;
  const std::int64_t taps = g.in_per_group() * g.kernel_h * g.kernel_w, all_taps = taps + (a.db == nullptr ? 0 : 1);
  std::int64_t row_groups = std::min(power_of_two(divide_up(g.out_per_group(), kItemRows)), kMostItems);
  Piece piece = piece_of<T>(g, all_taps);
  // Smaller groups where there would be fewer than multiprocessors, with a chunk for every slot; one warp at least.
  const auto groups_of = [&](std::int64_t tap_groups, std::int64_t rows) {
    return divide_up(all_taps, tap_groups * kItemTaps<T>) * divide_up(g.out_per_group(), rows * kItemRows) * g.groups *
           a.slots.count();
  };
  while (piece.tap_groups * row_groups > 2 && groups_of(piece.tap_groups, row_groups) < device.info().compute_units)
    (piece.tap_groups > 1 ? piece.tap_groups : row_groups) /= 2;
  if (piece.pixels == 0 || device.info().max_group < kVirtualLanes * kMostItems * kMostItems) return false;
  const std::int64_t row_tiles = divide_up(g.out_per_group(), row_groups * kItemRows);
  const std::int64_t tap_tiles = divide_up(all_taps, piece.tap_groups * kItemTaps<T>);
  const std::int64_t weights = g.out_channels * taps, slots = a.slots.count();
  const std::int64_t chunks = slot_chunks<T>(device, slots, tap_tiles * row_tiles * g.groups, weights + g.out_channels);
  const std::int64_t each = weights + g.out_channels, apart = chunks == 1 ? 0 : chunks * each;
  const std::int64_t levels = tree_levels(slots / chunks);
  T* const scratch = context.scratch<T>(apart + chunks * levels * each);
  T* const sums = chunks == 1 ? a.dw : scratch;
  T* const bias = a.db == nullptr ? nullptr : chunks == 1 ? a.db : sums + weights;
  const Shape shape{.groups = {tap_tiles * row_tiles * g.groups, 1, chunks},
                    .group_size = {kVirtualLanes, row_groups, piece.tap_groups}};
  start_conv<T>(context, "conv2d_weights_tiled", shape, g, a.x.data, a.x.stride, a.dy.data, a.dy.stride,
                device.constant(a.slots.bounds), slots / chunks, sums, bias, each, scratch + apart, levels, row_tiles,
                tap_tiles, piece.pixels);
  if (chunks == 1) return true;
  add_chunks_of_layer<T>(context, sums, chunks, a.dw, weights, a.db, g.out_channels);
  return true;
}

template bool conv2d_backward_weights_tiled(const Conv2dBackwardWeights<float>&, KernelContext&);
template bool conv2d_backward_weights_tiled(const Conv2dBackwardWeights<double>&, KernelContext&);

}  // namespace lockstep::device
