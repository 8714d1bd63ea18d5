// Convolution for a few samples (one image, predict): lanes over destination channels instead of samples. The weights
// of 2 vectors of channels are transposed to [taps][channels], unless they are given so, and loaded as vectors; source
// pixels are broadcast.
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

// Pixels of a strip. A line longer than that goes piece by piece; so do several whole rows of a narrow image, whose
// results then leave in full vectors. Multiples of the tile's pixels and of the vector's lanes, within L1.
constexpr std::int64_t kStrip = 96, kBand = 192;

/// Steps of the chain, in elements.
struct FewWalk {
  std::int64_t channels, ny, nx;
  std::int64_t w_channel, w_y, w_x;
  std::int64_t src_channel, src_y, src_x, src_pixel;
  std::int64_t to_pixel;  // in the strip
};

/// kRows pixels from src on: to[pixel][kVecs vectors of channels]. w is [taps][channels], start [channels].
template <int kRows, int kVecs, class T>
LOCKSTEP_NOINLINE void few_tile(const FewWalk& walk_of_all, const T* w_c, const T* start, const T* src_c, T* to) {
  const FewWalk walk = walk_of_all;
  Tile<T, kRows, kVecs> tile;
  load_tile(tile, start, 0, Whole{});
  for (std::int64_t c = 0; c < walk.channels; ++c, w_c += walk.w_channel, src_c += walk.src_channel) {
    const T *w = w_c, *src = src_c;
    for (std::int64_t y = 0; y < walk.ny; ++y, w += walk.w_y, src += walk.src_y)
      multiply_add(tile, {src, walk.src_pixel, walk.src_x}, w, walk.w_x, walk.nx, Whole{});
  }
  store_tile(tile, to, walk.to_pixel, Whole{});
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
      if (step == 1) {
        Vec<T> square[kWidth];
#pragma GCC unroll 16
        for (std::int64_t p = 0; p < kWidth; ++p) square[p] = load(from + p * wide);
        transpose(square);
        const Tail<T> end = tail_of<T>(cols);
#pragma GCC unroll 16
        for (std::int64_t c = 0; c < kWidth; ++c) {
          if (c == rows) break;
          if (cols == kWidth)
            store(to + c * plane, square[c]);
          else
            store(to + c * plane, square[c], end);
        }
      } else {
        for (std::int64_t c = 0; c < rows; ++c)
          for (std::int64_t p = 0; p < cols; ++p) to[c * plane + p * step] = from[p * wide + c];
      }
    }
}

/// The weights of `rows` channels from `w` on, as [taps][kWide].
template <class T>
LOCKSTEP_INLINE void transpose_weights(const Correlation<T>& c, const T* w, std::int64_t rows, std::int64_t wide,
                                       T* to) {
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
  const T* weights;
  std::int64_t w_tap;  // from tap to tap of them
  T *start, *strip;
  Run *rows, *columns;  // positions with the same taps along y and along x
  std::int64_t row_runs, column_runs;
};

/// A loop of one turn around a longer one costs as much as its body: the longer one goes inside.
LOCKSTEP_INLINE FewWalk without_short_loops(FewWalk walk) {
  if (walk.nx == 1) {
    walk.nx = walk.ny;
    walk.w_x = walk.w_y;
    walk.src_x = walk.src_y;
    walk.ny = 1;
  }
  if (walk.nx == 1) {
    walk.nx = walk.channels;
    walk.w_x = walk.w_channel;
    walk.src_x = walk.src_channel;
    walk.channels = 1;
  }
  return walk;
}

/// A rectangle of pixels with the same taps, as lines of pixels. A narrow one (the left or right edge of an image with
/// padding) has its lines downwards: a tile of one pixel would wait for its own sums.
template <class T>
struct Rectangle {
  FewWalk walk;
  const T *w, *src;
  std::int64_t lines, pixels;
  std::int64_t src_line;                  // from line to line
  std::int64_t dst, dst_line, dst_pixel;  // positions in the destination image
};

template <int kVecs, class T>
LOCKSTEP_INLINE Rectangle<T> rectangle_of(const Correlation<T>& c, const FewMemory<T>& memory, const T* image,
                                          const Run& down, const Run& along) {
  constexpr std::int64_t kWide = kVecs * Vec<T>::kWidth;
  const std::int64_t stride = c.src.stride, src_row = c.x.source * stride;
  const bool empty = down.taps.count == 0 || along.taps.count == 0;
  const bool downwards = along.count < kTileRows<kVecs> && down.count > along.count;
  const std::int64_t src_down = c.y.advance * src_row, src_along = c.x.advance * stride;
  const std::int64_t dst_down = c.y.period * c.x.size, dst_along = c.x.period;
  return {.walk = without_short_loops({.channels = c.src_channels,
                                       .ny = empty ? 0 : down.taps.count,
                                       .nx = empty ? 0 : along.taps.count,
                                       .w_channel = c.kernel_h * c.kernel_w * memory.w_tap,
                                       .w_y = c.y.k_step * c.kernel_w * memory.w_tap,
                                       .w_x = c.x.k_step * memory.w_tap,
                                       .src_channel = c.src_plane(),
                                       .src_y = c.y.source_step * src_row,
                                       .src_x = c.x.source_step * stride,
                                       .src_pixel = downwards ? src_down : src_along,
                                       .to_pixel = kWide}),
          .w = memory.weights + (down.taps.k * c.kernel_w + along.taps.k) * memory.w_tap,
          .src = image + down.taps.source * src_row + along.taps.source * stride,
          .lines = downwards ? along.count : down.count,
          .pixels = downwards ? down.count : along.count,
          .src_line = downwards ? src_along : src_down,
          .dst = down.first * c.x.size + along.first,
          .dst_line = downwards ? dst_along : dst_down,
          .dst_pixel = downwards ? dst_down : dst_along};
}

/// `count` pixels of a line from src on.
template <int kVecs, class T>
LOCKSTEP_INLINE void few_pixels(const Rectangle<T>& r, const T* start, const T* src, std::int64_t count, T* to) {
  for_row_tiles<kTileRows<kVecs>>(count, [&]<int kRows>(std::int64_t first) {
    few_tile<kRows, kVecs>(r.walk, r.w, start, src + first * r.walk.src_pixel, to + first * r.walk.to_pixel);
  });
}

/// One sample of `rows` channels from `dst` on. Each line goes to the destination by itself.
template <int kVecs, class T>
LOCKSTEP_INLINE void few_lines(const Correlation<T>& c, const FewMemory<T>& memory, const T* image, std::int64_t rows,
                               T* dst) {
  constexpr std::int64_t kWide = kVecs * Vec<T>::kWidth;
  for (std::int64_t i = 0; i < memory.row_runs; ++i)
    for (std::int64_t j = 0; j < memory.column_runs; ++j) {
      const Rectangle<T> r = rectangle_of<kVecs>(c, memory, image, memory.rows[i], memory.columns[j]);
      for (std::int64_t line = 0; line < r.lines; ++line)
        for (std::int64_t first = 0; first < r.pixels; first += kStrip) {
          const std::int64_t pixels = least(kStrip, r.pixels - first);
          few_pixels<kVecs>(r, memory.start, r.src + line * r.src_line + first * r.walk.src_pixel, pixels,
                            memory.strip);
          unload_strip(memory.strip, kWide, pixels, rows,
                       dst + (r.dst + line * r.dst_line + first * r.dst_pixel) * c.dst.stride, c.dst_plane(),
                       r.dst_pixel * c.dst.stride);
        }
    }
}

/// The same for an image of narrow rows: bands of them are put together in the strip.
template <int kVecs, class T>
LOCKSTEP_INLINE void few_bands(const Correlation<T>& c, const FewMemory<T>& memory, const T* image, std::int64_t rows,
                               T* dst) {
  constexpr std::int64_t kWide = kVecs * Vec<T>::kWidth;
  const std::int64_t width = c.x.size, height = kBand / width;
  for (std::int64_t top = 0; top < c.y.size; top += height) {
    const std::int64_t bottom = least(top + height, c.y.size);
    for (std::int64_t i = 0; i < memory.row_runs; ++i) {
      Run down = memory.rows[i];
      const std::int64_t skipped = most(top - down.first, 0);
      down.count = least(down.first + down.count, bottom) - (down.first + skipped);
      down.first += skipped;
      down.taps.source += skipped * c.y.advance;
      if (down.count <= 0) continue;
      for (std::int64_t j = 0; j < memory.column_runs; ++j) {
        Rectangle<T> r = rectangle_of<kVecs>(c, memory, image, down, memory.columns[j]);
        r.walk.to_pixel = r.dst_pixel * kWide;
        for (std::int64_t line = 0; line < r.lines; ++line)
          few_pixels<kVecs>(r, memory.start, r.src + line * r.src_line, r.pixels,
                            memory.strip + (r.dst + line * r.dst_line - top * width) * kWide);
      }
    }
    unload_strip(memory.strip, kWide, (bottom - top) * width, rows, dst + top * width, c.dst_plane(), 1);
  }
}

/// `rows` destination channels from `row` on of a group, kVecs vectors of them, one sample.
template <int kVecs, class T>
LOCKSTEP_INLINE void few_channels(const Correlation<T>& c, const FewMemory<T>& memory, std::int64_t group,
                                  std::int64_t row, std::int64_t rows, std::int64_t sample) {
  const T* image = c.group_source(group) + sample;
  T* dst = c.dst.data + (group * c.dst_channels + row) * c.dst_plane() + sample;
  const bool dense = c.dst.stride == 1 && c.x.period == 1 && c.y.period == 1;
  if (dense && 2 * c.x.size <= kBand)
    few_bands<kVecs>(c, memory, image, rows, dst);
  else
    few_lines<kVecs>(c, memory, image, rows, dst);
}

}  // namespace

template <class T>
void correlate_few(const Correlation<T>& c, KernelContext& context) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth, kWide = 2 * kWidth;
  const std::int64_t taps = c.src_channels * c.kernel_h * c.kernel_w;
  const std::int64_t run_room = (c.x.size + c.y.size) * static_cast<std::int64_t>(sizeof(Run) / sizeof(T));
  T* memory = simd_scratch_of<T>(context, (taps + 1 + kBand) * kWide + run_room);
  Run* runs = reinterpret_cast<Run*>(memory + (taps + 1 + kBand) * kWide);
  FewMemory<T> m = {.weights = nullptr,
                    .w_tap = 0,
                    .start = memory + taps * kWide,
                    .strip = memory + (taps + 1) * kWide,
                    .rows = runs,
                    .columns = runs + c.y.size,
                    .row_runs = c.y.runs(runs),
                    .column_runs = c.x.runs(runs + c.y.size)};
  for (std::int64_t group = 0; group < c.groups; ++group)
    for (std::int64_t row = 0; row < c.dst_channels; row += kWide) {
      const std::int64_t rows = least(kWide, c.dst_channels - row), wide = rows > kWidth ? kWide : kWidth;
      if (c.groups == 1 && row + wide <= c.w_transposed.cols) {
        m.weights = c.w_transposed.data + row;
        m.w_tap = c.w_transposed.stride;
      } else {
        transpose_weights(c, c.group_weights(group) + row * c.w_dst, rows, wide, memory);
        m.weights = memory;
        m.w_tap = wide;
      }
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
