// Linear, naive: one work-item per output. Tuned: tiles of registers where work-items hold vectors of samples, tiles in
// local memory where they hold one.

#include "lockstep/kernels/device/launch.hpp"

namespace lockstep::device {

namespace {

// One work-item per output.

Shape squares(std::int64_t rows, std::int64_t cols) {
  return {.groups = {divide_up(cols, kSide), divide_up(rows, kSide), 1}, .group_size = {kSide, kSide, 1}};
}

template <class T>
void linear_forward_naive(const LinearForward<T>& a, KernelContext& context) {
  start<T>(context, "linear_forward_naive", squares(a.y.rows, a.y.cols), a.x.data, a.x.stride, a.w.data, a.w.stride,
           a.b, a.y.data, a.y.stride, a.x.rows, a.y.rows, a.y.cols);
}

template <class T>
void linear_backward_data_naive(const LinearBackwardData<T>& a, KernelContext& context) {
  start<T>(context, "linear_backward_data_naive", squares(a.dx.rows, a.dx.cols), a.w.data, a.w.stride, a.dy.data,
           a.dy.stride, a.dx.data, a.dx.stride, a.dx.rows, a.dy.rows, a.dx.cols);
}

template <class T>
void linear_backward_weights_naive(const LinearBackwardWeights<T>& a, KernelContext& context) {
  start<T>(context, "linear_backward_weights_naive", squares(a.dw.rows, a.dw.cols + 1), a.x.data, a.x.stride, a.dy.data,
           a.dy.stride, context.device().constant(a.slots.bounds), a.slots.count(), a.dw.data, a.dw.stride, a.db,
           a.dw.cols, a.dw.rows);
}

/// `workers` by `workers` work-items with `side` by `side` outputs each, as in text/linear_tiled.h.
struct Tile {
  std::string_view kernel;
  std::int64_t workers, side;
};

/// Rows, of which there may be millions, run along the axis that is long on CUDA.
Shape over_blocks(std::int64_t rows, std::int64_t cols, const Tile& tile, std::int64_t chunks = 1) {
  const std::int64_t block = tile.workers * tile.side;
  return {.groups = {divide_up(rows, block), divide_up(cols, block), chunks},
          .group_size = {tile.workers, tile.workers, 1}};
}

/// Whether local memory holds a slice of 16 terms of both factors, as in text/linear_tiled.h.
template <class T>
bool is_held(const Device& device, const Tile& tile) {
  constexpr std::int64_t kSlice = 16, kPadding = 4;
  const std::int64_t bytes = 2 * kSlice * (tile.workers * tile.side + kPadding) * static_cast<std::int64_t>(sizeof(T));
  return device.info().local_bytes == 0 || bytes <= device.info().local_bytes;  // 0: not known
}

/// The first tile, from large to small, of which there are as many as multiprocessors where each is done `times` times:
/// an idle one costs more than a smaller tile. None that is more than twice as large as what there is, or too large for
/// local memory: OpenCL promises 32 KiB.
template <class T, std::size_t kCount>
const Tile& tile_for(const Device& device, const std::array<Tile, kCount>& tiles, std::int64_t rows, std::int64_t cols,
                     std::int64_t times = 1) {
  for (const Tile& tile : tiles) {
    const Shape shape = over_blocks(rows, cols, tile);
    const std::int64_t half = tile.workers * tile.side / 2;
    const bool fits = tile.side <= 4 || (rows > half && cols > half);
    if (fits && is_held<T>(device, tile) && shape.groups[0] * shape.groups[1] * times >= device.info().compute_units)
      return tile;
  }
  return tiles.back();
}

template <class T>
void start_tiled(const LinearProduct<T>& a, KernelContext& context) {
  constexpr std::array<Tile, 5> kTiles = {{{"linear_tiled_8", 16, 8},
                                           {"linear_tiled", 16, 4},
                                           {"linear_tiled_2", 16, 2},
                                           {"linear_tiled_1", 16, 1},
                                           {"linear_tiled_small", 8, 1}}};
  const Tile& tile = tile_for<T>(context.device(), kTiles, a.y.rows, a.y.cols);
  start<T>(context, tile.kernel, over_blocks(a.y.rows, a.y.cols, tile), a.x.data, a.x.stride, a.w, a.row_step, a.k_step,
           a.b, a.y.data, a.y.stride, a.x.rows, a.y.rows, a.y.cols);
}

}  // namespace

template <class T>
void linear_product(const LinearProduct<T>& a, KernelContext& context) {
  const Device& device = context.device();
  if (device.info().lanes<T>() == 1) return start_tiled(a, context);
  start<T>(context, "linear_rows", over_tiles<T>(device, a.y.cols, tiles_of(a.y.rows)), a.x.data, a.x.stride, a.w,
           a.row_step, a.k_step, a.b, a.y.data, a.y.stride, a.x.rows, a.y.rows, a.y.cols);
}

template <class T, Style kStyle>
void linear_forward(const LinearForward<T>& a, KernelContext& context) {
  if constexpr (kStyle == Style::naive) return linear_forward_naive(a, context);
  linear_product<T>({.x = a.x, .w = a.w.data, .row_step = a.w.stride, .k_step = 1, .b = a.b, .y = a.y}, context);
}

template <class T, Style kStyle>
void linear_backward_data(const LinearBackwardData<T>& a, KernelContext& context) {
  if constexpr (kStyle == Style::naive) return linear_backward_data_naive(a, context);
  linear_product<T>({.x = a.dy, .w = a.w.data, .row_step = 1, .k_step = a.w.stride, .y = a.dx}, context);
}

namespace {

/// The sums of chunks of slots lie behind each other like one dw without gaps, each with its db behind it.
template <class T>
void linear_weights_tiled(const LinearBackwardWeights<T>& a, KernelContext& context) {
  Device& device = context.device();
  const std::int64_t in = a.dw.cols, rows = a.dw.rows, weights = rows * in, slots = a.slots.count();
  constexpr std::array<Tile, 3> kTiles = {
      {{"linear_weights_tiled", 16, 4}, {"linear_weights_tiled_2", 16, 2}, {"linear_weights_tiled_1", 16, 1}}};
  const bool may_cut = a.dw.stride == in;  // into chunks of slots
  const Tile& tile = tile_for<T>(device, kTiles, rows, in + 1, may_cut ? slots : 1);
  const Shape whole = over_blocks(rows, in + 1, tile);
  const std::int64_t chunks =
      may_cut ? slot_chunks<T>(device, slots, whole.groups[0] * whole.groups[1], weights + rows) : 1;
  const std::int64_t apart = chunks == 1 ? 0 : chunks * (weights + rows), levels = tree_levels(slots / chunks);
  T* const scratch = context.scratch<T>(apart + chunks * levels * (weights + rows));
  T* const sums = chunks == 1 ? a.dw.data : scratch;
  T* const bias = a.db == nullptr ? nullptr : chunks == 1 ? a.db : sums + weights;
  start<T>(context, tile.kernel, over_blocks(rows, in + 1, tile, chunks), a.x.data, a.x.stride, a.dy.data, a.dy.stride,
           device.constant(a.slots.bounds), slots / chunks, sums, a.dw.stride, bias, weights + rows, scratch + apart,
           weights + rows, levels, in, rows);
  if (chunks == 1) return;
  add_chunks_of_layer<T>(context, sums, chunks, a.dw.data, weights, a.db, rows);
}

}  // namespace

/// Vectors run over the inputs, so that a sum over samples stays one chain: x is transposed first, with a column of
/// ones behind it for the bias.
template <class T, Style kStyle>
void linear_backward_weights(const LinearBackwardWeights<T>& a, KernelContext& context) {
  if constexpr (kStyle == Style::naive) return linear_backward_weights_naive(a, context);
  Device& device = context.device();
  if (device.info().lanes<T>() == 1) return linear_weights_tiled(a, context);
  const std::int64_t tile = 2 * device.info().lanes<T>(), in = a.dw.cols, samples = a.x.cols;
  const std::int64_t stride = divide_up(in + 1, tile) * tile;
  T* const transposed = context.scratch<T>(std::max<std::int64_t>(samples * stride, 1));
  Shape shape = over_matrix(device, Style::tuned, divide_up(stride, 16), samples);
  start<T>(context, "linear_transpose", shape, a.x.data, a.x.stride, transposed, stride, in, samples);
  start<T>(context, "linear_weights", over_tiles<T>(device, stride, tiles_of(a.dw.rows)),
           static_cast<const T*>(transposed), stride, a.dy.data, a.dy.stride, device.constant(a.slots.bounds),
           a.slots.count(), a.dw.data, a.dw.stride, a.db, in, a.dw.rows);
}

template void linear_product(const LinearProduct<float>&, KernelContext&);
template void linear_product(const LinearProduct<double>&, KernelContext&);
LOCKSTEP_DEVICE_INSTANTIATE(linear_forward, LinearForward)
LOCKSTEP_DEVICE_INSTANTIATE(linear_backward_data, LinearBackwardData)
LOCKSTEP_DEVICE_INSTANTIATE(linear_backward_weights, LinearBackwardWeights)

}  // namespace lockstep::device
