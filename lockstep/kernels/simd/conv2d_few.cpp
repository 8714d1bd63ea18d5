// Convolution for a few samples (one image, predict): lanes over destination channels instead of samples. The weights
// of 2 vectors of channels are transposed to [taps][channels] and loaded as vectors; source pixels are broadcast.
//
// Tile: 6 pixels of a run x 2 vectors of channels, sample after sample. Results wait in a strip of pixels and are
// transposed on their way out. Each sum is the same chain as with lanes over samples, so the bits are the same.
// Limit: the fma units, less the transposition of the weights once per call and of the results. Measured: see
// docs/design/0002-simd.md.

#include "lockstep/kernels/simd/conv2d_walk.hpp"
#include "lockstep/kernels/simd/tile.hpp"
#include "lockstep/kernels/simd/transpose.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

constexpr std::int64_t kStrip = 48;  // pixels: a multiple of the tile's and of the vector's

/// Steps of the chain, in elements.
struct FewWalk {
  std::int64_t channels, ny, nx;
  std::int64_t w_channel, w_y, w_x;
  std::int64_t src_channel, src_y, src_x, src_pixel;
};

/// kRows pixels from src on: to[pixel][kVecs vectors of channels]. w is [taps][channels], start [channels].
template <int kRows, int kVecs, class T>
LOCKSTEP_NOINLINE void few_tile(const FewWalk& walk_of_all, const T* w_c, const T* start, const T* src_c, T* to) {
  constexpr std::int64_t kWide = kVecs * Vec<T>::kWidth;
  const FewWalk walk = walk_of_all;
  Tile<T, kRows, kVecs> tile;
  load_tile(tile, start, 0, Whole{});
  for (std::int64_t c = 0; c < walk.channels; ++c, w_c += walk.w_channel, src_c += walk.src_channel) {
    const T *w = w_c, *src = src_c;
    for (std::int64_t y = 0; y < walk.ny; ++y, w += walk.w_y, src += walk.src_y)
      multiply_add(tile, {src, walk.src_pixel, walk.src_x}, w, walk.w_x, walk.nx, Whole{});
  }
  store_tile(tile, to, kWide, Whole{});
}

/// dst[channel * plane + pixel * step] = strip[pixel * wide + channel].
template <class T>
LOCKSTEP_INLINE void unload_strip(const T* strip, std::int64_t wide, std::int64_t pixels, std::int64_t channels, T* dst,
                                  std::int64_t plane, std::int64_t step) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  for (std::int64_t channel = 0; channel < channels; channel += kWidth)
    for (std::int64_t pixel = 0; pixel < pixels; pixel += kWidth) {
      const T* from = strip + pixel * wide + channel;
      T* to = dst + channel * plane + pixel * step;
      const std::int64_t rows = least(kWidth, channels - channel), cols = least(kWidth, pixels - pixel);
      if (step == 1 && rows == kWidth && cols == kWidth) {
        Vec<T> square[kWidth];
#pragma GCC unroll 16
        for (std::int64_t p = 0; p < kWidth; ++p) square[p] = load(from + p * wide);
        transpose(square);
#pragma GCC unroll 16
        for (std::int64_t c = 0; c < kWidth; ++c) store(to + c * plane, square[c]);
      } else {
        for (std::int64_t c = 0; c < rows; ++c)
          for (std::int64_t p = 0; p < cols; ++p) to[c * plane + p * step] = from[p * wide + c];
      }
    }
}

/// The weights of `rows` channels from `w` on, as [taps][kWide].
template <class T>
LOCKSTEP_INLINE void transpose_weights(const Correlation<T>& c, const T* w, std::int64_t rows, std::int64_t wide, T* to) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  const std::int64_t kernel = c.kernel_h * c.kernel_w;
  const bool together = c.w_src == kernel;  // the taps of all source channels follow each other
  const std::int64_t strips = together ? 1 : c.src_channels, taps = together ? kernel * c.src_channels : kernel;
  for (std::int64_t i = 0; i < strips; ++i)
    for (std::int64_t first = 0; first < wide; first += kWidth)
      transpose_strip(w + i * c.w_src + first * c.w_dst, c.w_dst, most(0, least(kWidth, rows - first)), taps,
                      to + i * taps * wide + first, wide);
}

/// Memory for one tile of channels.
template <class T>
struct FewMemory {
  T *weights, *start, *strip;
  Run* runs;
  std::int64_t run_count;
};

/// `rows` destination channels from `row` on of a group, kVecs vectors of them, one sample.
template <int kVecs, class T>
LOCKSTEP_INLINE void few_channels(const Correlation<T>& c, const FewMemory<T>& memory, std::int64_t group,
                                  std::int64_t row, std::int64_t rows, std::int64_t sample) {
  constexpr std::int64_t kWide = kVecs * Vec<T>::kWidth;
  const std::int64_t stride = c.src.stride, dst_step = c.x.period * c.dst.stride;
  FewWalk walk = {.channels = c.src_channels,
                  .ny = 0,
                  .nx = 0,
                  .w_channel = c.kernel_h * c.kernel_w * kWide,
                  .w_y = c.y.k_step * c.kernel_w * kWide,
                  .w_x = c.x.k_step * kWide,
                  .src_channel = c.src_plane(),
                  .src_y = c.y.source_step * c.x.source * stride,
                  .src_x = c.x.source_step * stride,
                  .src_pixel = c.x.advance * stride};
  for (std::int64_t y = 0; y < c.y.size; ++y) {
    const Taps taps_y = c.y.taps(y);
    for (std::int64_t r = 0; r < memory.run_count; ++r) {
      const Run& run = memory.runs[r];
      walk.ny = run.taps.count == 0 ? 0 : taps_y.count;
      walk.nx = run.taps.count;
      const T* w = memory.weights + (taps_y.k * c.kernel_w + run.taps.k) * kWide;
      const T* src = c.group_source(group) + (taps_y.source * c.x.source + run.taps.source) * stride + sample;
      T* dst = c.dst.data + (group * c.dst_channels + row) * c.dst_plane() +
               (y * c.x.size + run.first) * c.dst.stride + sample;
      for (std::int64_t p = 0; p < run.count; p += kStrip) {
        const std::int64_t pixels = least(kStrip, run.count - p);
        for_row_tiles<kTileRows<kVecs>>(pixels, [&]<int kRows>(std::int64_t first) {
          few_tile<kRows, kVecs>(walk, w, memory.start, src + (p + first) * walk.src_pixel,
                                 memory.strip + first * kWide);
        });
        unload_strip(memory.strip, kWide, pixels, rows, dst + p * dst_step, c.dst_plane(), dst_step);
      }
    }
  }
}

}  // namespace

template <class T>
void correlate_few(const Correlation<T>& c, KernelContext& context) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth, kWide = 2 * kWidth;
  const std::int64_t taps = c.src_channels * c.kernel_h * c.kernel_w;
  const std::int64_t run_room = c.x.size * static_cast<std::int64_t>(sizeof(Run) / sizeof(T));
  T* memory = simd_scratch_of<T>(context, (taps + 1 + kStrip) * kWide + run_room);
  FewMemory<T> m = {memory, memory + taps * kWide, memory + (taps + 1) * kWide,
                    reinterpret_cast<Run*>(memory + (taps + 1 + kStrip) * kWide), 0};
  m.run_count = c.x.runs(m.runs);
  for (std::int64_t group = 0; group < c.groups; ++group)
    for (std::int64_t row = 0; row < c.dst_channels; row += kWide) {
      const std::int64_t rows = least(kWide, c.dst_channels - row), wide = rows > kWidth ? kWide : kWidth;
      transpose_weights(c, c.group_weights(group) + row * c.w_dst, rows, wide, m.weights);
      for (std::int64_t i = 0; i < wide; ++i)
        m.start[i] = c.start != nullptr && i < rows ? c.start[group * c.dst_channels + row + i] : T(0);
      for (std::int64_t sample = 0; sample < c.dst.cols; ++sample)
        if (rows > kWidth)
          few_channels<2>(c, m, group, row, rows, sample);
        else
          few_channels<1>(c, m, group, row, rows, sample);
    }
}

template void correlate_few<float>(const Correlation<float>&, KernelContext&);
template void correlate_few<double>(const Correlation<double>&, KernelContext&);

}  // namespace lockstep::LOCKSTEP_SIMD
