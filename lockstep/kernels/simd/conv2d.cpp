// Convolution forward and data gradient (conv2d_walk.hpp says what they share): weights broadcast, vectors of samples.
//
// Tile: 6 destination channels of one pixel x 2 vectors of samples, 12 on 32 registers; where one vector holds all
// samples, of two pixels x 1 vector there. A pixel of its own needs no padding: taps outside
// the image are left out by the bounds of its loops, and pixels with the same taps form a run. Kernel widths 1, 2, 3 and
// 5 are unrolled, and 11 where channels are many. The source rows under a row of pixels stay in L1 or L2 for all
// destination channels; where the samples of a tile lie in wider rows, which crowd into few sets of the caches, they
// are copied together first, as are the weights of a tile in the data gradient. Limit: the fma units, less the 12 stores
// of a tile per (channels * taps * 6) cycles. Measured: see docs/design/0002-simd.md and 0046-few-pixels.md.

#include "lockstep/kernels/conv2d.hpp"

#include "lockstep/kernels/simd/conv2d_walk.hpp"
#include "lockstep/kernels/simd/ops.hpp"
#include "lockstep/kernels/simd/tile.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

/// The steps of one convolution, in elements; w_row and dst_row lead to the next row of a tile.
struct Walk {
  std::int64_t channels, w_channel, src_channel;
  std::int64_t w_y, src_y, w_x, src_x;
  std::int64_t w_row, dst_row;
  std::int64_t src_pixel, dst_pixel;  // along a run
  bool far;                           // the pixels of the next source channel are asked for
};

/// A run of pixels for the channels of a tile.
template <class T>
struct Job {
  const T* w;
  const T* start;  // null: 0
  const T* src;
  T* dst;
  std::int64_t pixels, ny, nx;
};

/// Pixels of a tile. With one vector of samples and 32 registers there are two, so that a broadcast weight serves two
/// fmas, as it does with two vectors of samples.
template <int kVecs, class End>
constexpr int kTilePixels = kVecs == 1 && kRegisters == 32 && !kSlowFma && std::is_same_v<End, Whole> ? 2 : 1;

/// Asks for the pixels of a source channel that a tile with kX taps in each of `ny` rows reads.
template <int kPixels, int kX, class T>
LOCKSTEP_INLINE void prefetch_pixels(const Walk& walk, const T* from, std::int64_t ny) {
  for (std::int64_t y = 0; y < ny; ++y, from += walk.src_y) {
    if constexpr (kPixels > 1) __builtin_prefetch(from + walk.src_pixel);
#pragma GCC unroll 16
    for (int x = 0; x < kX; ++x) __builtin_prefetch(from + x * walk.src_x);
  }
}

/// kPixels pixels from src on, kVecs vectors of samples each. kX: as in run_of_pixels.
template <int kRows, int kVecs, int kPixels, int kX, class T, class End>
LOCKSTEP_INLINE void tile_of_pixels(const Walk& walk, const Job<T>& job, const T* src, T* dst, const End& end) {
  constexpr int kWide = kVecs * kPixels;
  const std::int64_t next = kPixels > 1 ? walk.src_pixel : Vec<T>::kWidth;  // from vector to vector of the tile
  Tile<T, kRows, kWide> tile;
  if (job.start != nullptr)
    fill(tile, job.start);
  else
    clear(tile);
  const T *w_c = job.w, *src_c = src;
  for (std::int64_t c = 0; c < walk.channels; ++c, w_c += walk.w_channel, src_c += walk.src_channel) {
    const T *w = w_c, *from = src_c;
    if constexpr (kX > 0)
      if (walk.far) prefetch_pixels<kPixels, kX>(walk, src_c + walk.src_channel, job.ny);
    for (std::int64_t y = 0; y < job.ny; ++y, w += walk.w_y, from += walk.src_y) {
      if constexpr (kX > 0) {
        const std::int64_t w_x = kX == 2 ? walk.w_x : 1;
#pragma GCC unroll 16
        for (int x = 0; x < kX; ++x) step(tile, w + x * w_x, walk.w_row, from + x * walk.src_x, end, next);
      } else {
        multiply_add(tile, {w, walk.w_row, walk.w_x}, from, walk.src_x, job.nx, end, next);
      }
    }
  }
  store_tile(tile, dst, walk.dst_row, end, kPixels > 1 ? walk.dst_pixel : Vec<T>::kWidth);
}

/// kX: the number of taps in a row where it is known (more than 2 have neighbouring weights); else 0.
template <int kRows, int kVecs, int kX, class T, class End>
LOCKSTEP_NOINLINE void run_of_pixels(const Walk& walk_of_all, const Job<T> job, const End& end) {
  constexpr int kPixels = kTilePixels<kVecs, End>;
  const Walk walk = walk_of_all;
  const T* src = job.src;
  T* dst = job.dst;
  std::int64_t pixel = 0;
  for (; pixel + kPixels <= job.pixels; pixel += kPixels) {
    tile_of_pixels<kRows, kVecs, kPixels, kX>(walk, job, src, dst, end);
    src += kPixels * walk.src_pixel;
    dst += kPixels * walk.dst_pixel;
  }
  if constexpr (kPixels > 1)
    if (pixel < job.pixels) tile_of_pixels<kRows, kVecs, 1, kX>(walk, job, src, dst, end);
}

/// One vector of samples is the usual tile on 32 registers only; elsewhere it is a rest that needs no unrolling.
template <int kVecs>
constexpr bool kUnrolled = !kSlowFma && (kVecs == 2 || kRegisters == 32);
/// Kernels 11 wide are rare and long to compile: only for the tiles that many channels are divided into.
template <int kRows, int kVecs>
[[maybe_unused]] constexpr bool kWidest = 6 * kRows >= 5 * kTileRows<kVecs>;

template <int kRows, int kVecs, class T, class End>
LOCKSTEP_INLINE void run_pixels(const Walk& walk, const Job<T>& job, const End& end) {
  if constexpr (kUnrolled<kVecs> && std::is_same_v<End, Whole>) {
    if (job.nx == 1) return run_of_pixels<kRows, kVecs, 1>(walk, job, end);
    if (job.nx == 2) return run_of_pixels<kRows, kVecs, 2>(walk, job, end);
    if (walk.w_x == 1) {
      if (job.nx == 3) return run_of_pixels<kRows, kVecs, 3>(walk, job, end);
      if (job.nx == 5) return run_of_pixels<kRows, kVecs, 5>(walk, job, end);
      if constexpr (kWidest<kRows, kVecs>)
        if (job.nx == 11) return run_of_pixels<kRows, kVecs, 11>(walk, job, end);
    }
  }
  run_of_pixels<kRows, kVecs, 0>(walk, job, end);
}

/// Whether the weights of a tile lie in pieces far apart, as in the data gradient: one for each source channel.
template <class T>
LOCKSTEP_INLINE bool in_pieces(const Correlation<T>& c, std::int64_t rows) {
  return c.w_src > rows * c.w_dst && c.w_dst == c.kernel_h * c.kernel_w;
}

/// Copies the weights of `rows` channels together: [source channel][row][taps]. Pieces a whole row of weights apart
/// share few sets of the cache, and each has a page of its own.
template <class T>
LOCKSTEP_INLINE void copy_weights(const Correlation<T>& c, const T* w, std::int64_t rows, T* to) {
  constexpr std::int64_t kAhead = 4, kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  const std::int64_t piece = rows * c.w_dst;
  for (std::int64_t channel = 0; channel < c.src_channels; ++channel, w += c.w_src, to += piece) {
    for (std::int64_t i = 0; i < piece; i += kLine) __builtin_prefetch(w + kAhead * c.w_src + i);
    for_vectors<T>(0, piece, [&](std::int64_t i, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      store(to + i, load(w + i, end), end);
    });
  }
}

// A source of this size stays in the level-2 cache beside the weights of a tile. In a larger one the same pixels of the
// next channel lie a plane away, which is further than the hardware looks; it foresees long rows, but not those of the
// data gradient, whose taps walk downwards.
constexpr std::int64_t kNearBytes = 512 * 1024, kNarrow = 16;

/// The samples of one tile: column `col` of the destination, column 0 of `src`.
template <class T>
struct Columns {
  ConstMatrix<T> src;
  std::int64_t col;
};

/// `copied`: room for the weights of a tile.
template <int kVecs, class T, class End>
LOCKSTEP_NOINLINE void correlate(const Correlation<T>& c, const Run* runs, std::int64_t run_count,
                                 const Columns<T>& columns, T* copied, const End& end) {
  const std::int64_t stride = columns.src.stride, src_plane = c.y.source * c.x.source * stride;
  const std::int64_t near_rows =
      kNearBytes / (c.src_channels * c.x.source * stride * static_cast<std::int64_t>(sizeof(T)));
  const bool near = near_rows >= c.y.source;
  Walk walk = {.channels = c.src_channels,
               .w_channel = c.w_src,
               .src_channel = src_plane,
               .w_y = c.y.k_step * c.kernel_w,
               .src_y = c.y.source_step * c.x.source * stride,
               .w_x = c.x.k_step,
               .src_x = c.x.source_step * stride,
               .w_row = c.w_dst,
               .dst_row = c.dst_plane(),
               .src_pixel = c.x.advance * stride,
               .dst_pixel = c.x.period * c.dst.stride,
               .far = !near && (c.x.backward || c.x.size <= kNarrow)};
  // Where the source stays near, the weights of a tile serve all rows of pixels; else a row serves all tiles, or some
  // rows where weights are copied.
  const std::int64_t some_rows = c.x.backward ? most(1, near_rows - c.kernel_h + 1) : 1;
  const std::int64_t together = near ? c.y.size : some_rows;
  for (std::int64_t group = 0; group < c.groups; ++group) {
    const T* group_src = columns.src.data + group * c.src_channels * src_plane;
    for (std::int64_t top = 0; top < c.y.size; top += together)
      for_row_tiles<kTileRows<kVecs>>(c.dst_channels, [&]<int kRows>(std::int64_t row) {
        const std::int64_t channel = group * c.dst_channels + row;
        const T* w = c.group_weights(group) + row * c.w_dst;
        walk.w_channel = c.w_src;
        if (in_pieces(c, kRows)) {
          copy_weights(c, w, kRows, copied);
          w = copied;
          walk.w_channel = kRows * c.w_dst;
        }
        for (std::int64_t y = top; y < least(top + together, c.y.size); ++y) {
          const Taps rows = c.y.taps(y);
          for (std::int64_t r = 0; r < run_count; ++r) {
            const Taps taps = runs[r].taps;
            const std::int64_t pixel = y * c.x.size + runs[r].first;
            run_pixels<kRows, kVecs>(
                walk,
                Job<T>{.w = w + rows.k * c.kernel_w + taps.k,
                       .start = c.start == nullptr ? nullptr : c.start + channel,
                       .src = group_src + (rows.source * c.x.source + taps.source) * stride,
                       .dst = c.dst.data + channel * walk.dst_row + pixel * c.dst.stride + columns.col,
                       .pixels = runs[r].count,
                       .ny = taps.count == 0 ? 0 : rows.count,
                       .nx = taps.count},
                end);
          }
        }
      });
  }
}

/// Columns [col, col + width) of all rows, copied to rows of `width`.
template <class T, class End>
LOCKSTEP_INLINE ConstMatrix<T> copy_columns(ConstMatrix<T> from, std::int64_t col, std::int64_t width, T* to,
                                            const End& end) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth;
  for (std::int64_t r = 0; r < from.rows; ++r) {
    const T* row = from.row(r) + col;
    if (width > kWidth) store(to + r * width, load(row));
    store(to + (r + 1) * width - kWidth, load(row + width - kWidth, end));
  }
  return {to, from.rows, width, width};
}

template <class T>
LOCKSTEP_INLINE void correlate(const Correlation<T>& c, KernelContext& context) {
  constexpr std::int64_t kWidth = Vec<T>::kWidth, kWide = 2 * kWidth;
  // A row that holds the samples of this tile and no others is one cache line, or half of one, as it should be.
  const bool copy = c.src.stride > most(kWide, kLanes);
  const std::int64_t copied = copy ? c.src.rows * kWide : 0;
  const std::int64_t run_room = c.x.size * static_cast<std::int64_t>(sizeof(Run) / sizeof(T));
  const std::int64_t weights = round_up(kTileRows<1> * c.src_channels * c.kernel_h * c.kernel_w, kLanes);
  T* memory = simd_scratch_of<T>(context, copied + weights + run_room);
  Run* runs = reinterpret_cast<Run*>(memory + copied + weights);
  const std::int64_t run_count = c.x.runs(runs);
  const auto some = [&]<int kVecs>(std::int64_t col, const auto& end) {
    const Columns<T> columns = {copy ? copy_columns(c.src, col, kVecs * kWidth, memory, end)
                                     : ConstMatrix<T>{c.src.data + col, c.src.rows, c.src.cols - col, c.src.stride},
                                col};
    correlate<kVecs>(c, runs, run_count, columns, memory + copied, end);
  };
  std::int64_t col = 0;
  for (; col + kWide <= c.dst.cols; col += kWide) some.template operator()<2>(col, Whole{});
  const std::int64_t rest = c.dst.cols - col;
  if (rest > kWidth)
    some.template operator()<2>(col, tail_of<T>(rest - kWidth));
  else if (rest == kWidth)
    some.template operator()<1>(col, Whole{});
  else if (rest > 0)
    some.template operator()<1>(col, tail_of<T>(rest));
}

/// Whether so few samples would leave most lanes empty.
template <class T>
LOCKSTEP_INLINE bool few(const Correlation<T>& c) {
  return 2 * c.dst.cols <= Vec<T>::kWidth && c.dst_channels > 1;
}

}  // namespace

template <class T>
void conv2d_forward(const Conv2dForward<T>& a, KernelContext& context) {
  const Correlation<T> c = correlation_of(a);
  if (few(c))
    correlate_few(c, context);
  else
    correlate(c, context);
}

template <class T>
void conv2d_backward_data(const Conv2dBackwardData<T>& a, KernelContext& context) {
  const Correlation<T> c = correlation_of(a);
  if (few(c))
    correlate_few(c, context);
  else
    correlate(c, context);
}

LOCKSTEP_SIMD_INSTANTIATE(conv2d_forward, Conv2dForward)
LOCKSTEP_SIMD_INSTANTIATE(conv2d_backward_data, Conv2dBackwardData)

}  // namespace lockstep::LOCKSTEP_SIMD
