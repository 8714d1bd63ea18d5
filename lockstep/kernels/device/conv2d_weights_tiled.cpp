#include "lockstep/kernels/device/chunks.hpp"
#include "lockstep/kernels/device/conv2d_arguments.hpp"
#include "lockstep/kernels/device/conv2d_tiled.hpp"

namespace lockstep::device {

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
  const std::int64_t row_groups = std::min(power_of_two(divide_up(g.out_per_group(), kItemRows)), kMostItems);
  const Piece piece = piece_of<T>(g, all_taps);
  if (piece.pixels == 0 || device.info().max_group < kVirtualLanes * kMostItems * kMostItems) return false;
  const std::int64_t row_tiles = divide_up(g.out_per_group(), row_groups * kItemRows);
  const std::int64_t tap_tiles = divide_up(all_taps, piece.tap_groups * kItemTaps<T>);
  const std::int64_t weights = g.out_channels * taps, slots = a.slots.count();
  const std::int64_t chunks = slot_chunks<T>(device, slots, tap_tiles * row_tiles * g.groups, weights + g.out_channels);
  T* const sums = chunks == 1 ? a.dw : context.scratch<T>(chunks * (weights + g.out_channels));
  T* const bias = a.db == nullptr ? nullptr : chunks == 1 ? a.db : sums + weights;
  const Shape shape{.groups = {tap_tiles, row_tiles * g.groups, chunks},
                    .group_size = {kVirtualLanes, row_groups, piece.tap_groups}};
  start_conv<T>(context, "conv2d_weights_tiled", shape, g, a.x.data, a.x.stride, a.dy.data, a.dy.stride,
                device.constant(a.slots.bounds), slots / chunks, sums, bias, weights + g.out_channels, row_tiles,
                piece.pixels);
  if (chunks == 1) return true;
  add_chunks<T>(context, sums, weights + g.out_channels, chunks, a.dw, weights);
  if (a.db != nullptr) add_chunks<T>(context, bias, weights + g.out_channels, chunks, a.db, g.out_channels);
  return true;
}

template bool conv2d_backward_weights_tiled(const Conv2dBackwardWeights<float>&, KernelContext&);
template bool conv2d_backward_weights_tiled(const Conv2dBackwardWeights<double>&, KernelContext&);

}  // namespace lockstep::device
