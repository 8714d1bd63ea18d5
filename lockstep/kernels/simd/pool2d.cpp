// Pooling: lanes over samples, window by window, the taps of a window in registers; the window of 2 x 2 has its taps
// unrolled. Where windows do not overlap, backward writes each dx once, without reading it. Forward on a single sample
// has lanes over the outputs of a row instead; the order of the taps is the same. Limit: the memory.

#include "lockstep/kernels/pool2d.hpp"

#include "lockstep/kernels/simd/ops.hpp"
#include "lockstep/kernels/simd/pool2d_row.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

/// The taps of one window that lie in the image: rows first + y * pitch + x of the input matrix.
struct Taps {
  std::int64_t first, pitch, height, width;
};
/// The same with a size known to the compiler.
template <std::int64_t kHeight, std::int64_t kWidth>
struct FixedTaps {
  std::int64_t first, pitch;
  static constexpr std::int64_t height = kHeight, width = kWidth;  // NOLINT(readability-identifier-naming): as Taps
};

/// visit(input row), (ky, kx) ascending.
template <class Window, class Visit>
LOCKSTEP_INLINE void for_taps(const Window& window, const Visit& visit) {
#pragma GCC unroll 2
  for (std::int64_t y = 0; y < window.height; ++y)
#pragma GCC unroll 2
    for (std::int64_t x = 0; x < window.width; ++x) visit(window.first + y * window.pitch + x);
}

LOCKSTEP_INLINE bool two_by_two(const Pool2dGeometry& g) {
  return g.window_h == 2 && g.window_w == 2 && g.stride_h == 2 && g.stride_w == 2 && g.pad_h == 0 && g.pad_w == 0;
}

/// visit(taps, output row) for the windows of one channel, ascending.
template <class Visit>
LOCKSTEP_INLINE void for_windows(const Pool2dGeometry& g, std::int64_t channel, const Visit& visit) {
  const std::int64_t out_height = g.out_height(), out_width = g.out_width(), pitch = g.in_width;
  const std::int64_t image = channel * g.in_height * g.in_width;
  std::int64_t out = channel * out_height * out_width;
  if (two_by_two(g)) {
    for (std::int64_t oy = 0; oy < out_height; ++oy)
      for (std::int64_t ox = 0; ox < out_width; ++ox, ++out)
        visit(FixedTaps<2, 2>{image + 2 * oy * pitch + 2 * ox, pitch}, out);
    return;
  }
  for (std::int64_t oy = 0; oy < out_height; ++oy) {
    const std::int64_t top = oy * g.stride_h - g.pad_h, y = most(top, 0);
    const std::int64_t height = least(top + g.window_h, g.in_height) - y;
    for (std::int64_t ox = 0; ox < out_width; ++ox, ++out) {
      const std::int64_t left = ox * g.stride_w - g.pad_w, x = most(left, 0);
      visit(Taps{image + y * pitch + x, pitch, height, least(left + g.window_w, g.in_width) - x}, out);
    }
  }
}

/// What becomes of the taps of a window: start(first tap), then take each of them, then finish.
template <class T>
struct Largest {
  LOCKSTEP_INLINE Vec<T> start(Vec<T> first) const { return first; }
  LOCKSTEP_INLINE Vec<T> take(Vec<T> best, Vec<T> tap) const { return larger(tap, best); }
  LOCKSTEP_INLINE Vec<T> finish(Vec<T> best) const { return best; }
};
template <class T>
struct Mean {
  Vec<T> share;
  LOCKSTEP_INLINE Vec<T> start(Vec<T>) const { return zero<T>(); }
  LOCKSTEP_INLINE Vec<T> take(Vec<T> sum, Vec<T> tap) const { return sum + tap; }
  LOCKSTEP_INLINE Vec<T> finish(Vec<T> sum) const { return sum * share; }
};

/// The outputs [out, out + count), whose windows are kStep pixels apart; the first one is `window`.
template <int kStep, class T, class Window, class Pool>
LOCKSTEP_INLINE void pool_outputs(const T* x, const Window& window, std::int64_t count, T* y, const Pool& pool) {
  for_vectors<T>(0, count, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const T* from = x + c * kStep;
    Vec<T> result = pool.start(load_spread<kStep>(from + window.first, end));
    for_taps(window, [&](std::int64_t in)
                         LOCKSTEP_INLINE_LAMBDA { result = pool.take(result, load_spread<kStep>(from + in, end)); });
    store(y + c, pool.finish(result), end);
  });
}

/// One sample, windows kStep pixels apart. Windows that reach into the padding left or right go one by one.
template <int kStep, class T, class Pool>
LOCKSTEP_NOINLINE void pool_rows(const Pool2dGeometry& g, const T* x, T* y, const Pool& pool) {
  const std::int64_t out_height = g.out_height(), out_width = g.out_width(), pitch = g.in_width;
  const std::int64_t inside = least((g.pad_w + kStep - 1) / kStep, out_width);
  const std::int64_t end_inside = most(inside, least((g.in_width + g.pad_w - g.window_w) / kStep + 1, out_width));
  for (std::int64_t channel = 0; channel < g.channels; ++channel, x += g.in_height * g.in_width)
    for (std::int64_t oy = 0; oy < out_height; ++oy, y += out_width) {
      const std::int64_t top = oy * g.stride_h - g.pad_h, first_y = most(top, 0);
      const std::int64_t height = least(top + g.window_h, g.in_height) - first_y;
      const auto one_by_one = [&](std::int64_t begin, std::int64_t end) LOCKSTEP_INLINE_LAMBDA {
        for (std::int64_t ox = begin; ox < end; ++ox) {
          const std::int64_t left = ox * kStep - g.pad_w, first_x = most(left, 0);
          pool_outputs<kStep>(
              x, Taps{first_y * pitch + first_x, pitch, height, least(left + g.window_w, g.in_width) - first_x}, 1,
              y + ox, pool);
        }
      };
      one_by_one(0, inside);
      const std::int64_t first = first_y * pitch + inside * kStep - g.pad_w, count = end_inside - inside;
      if (two_by_two(g))
        pool_outputs<kStep>(x, FixedTaps<2, 2>{first, pitch}, count, y, pool);
      else
        pool_outputs<kStep>(x, Taps{first, pitch, height, g.window_w}, count, y + inside, pool);
      one_by_one(end_inside, out_width);
    }
}

template <class T, class Pool>
LOCKSTEP_INLINE void pool_forward(const Pool2dGeometry& g, ConstMatrix<T> x, Matrix<T> y, const Pool& pool) {
  if (y.cols == 1 && x.stride == 1 && y.stride == 1) {
    if (g.stride_w == 1) return pool_rows<1>(g, x.data, y.data, pool);
    if (g.stride_w == 2) return pool_rows<2>(g, x.data, y.data, pool);
  }
  for (std::int64_t channel = 0; channel < g.channels; ++channel)
    for_windows(g, channel, [&](const auto& window, std::int64_t out) LOCKSTEP_INLINE_LAMBDA {
      for_vectors<T>(0, y.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
        Vec<T> result = pool.start(load(x.row(window.first) + c, end));
        for_taps(window,
                 [&](std::int64_t in) LOCKSTEP_INLINE_LAMBDA { result = pool.take(result, load(x.row(in) + c, end)); });
        store(y.row(out) + c, pool.finish(result), end);
      });
    });
}

template <class T>
LOCKSTEP_INLINE Vec<T> share_of_window(const Pool2dGeometry& g) {
  return broadcast(T(1) / T(g.window_h * g.window_w));
}

/// No input lies in two windows.
LOCKSTEP_INLINE bool disjoint(const Pool2dGeometry& g) { return g.stride_h >= g.window_h && g.stride_w >= g.window_w; }

/// Every input lies in a window.
LOCKSTEP_INLINE bool covering(const Pool2dGeometry& g) {
  return g.stride_h <= g.window_h && g.stride_w <= g.window_w &&
         (g.out_height() - 1) * g.stride_h + g.window_h - g.pad_h >= g.in_height &&
         (g.out_width() - 1) * g.stride_w + g.window_w - g.pad_w >= g.in_width;
}

/// The input rows of one channel.
template <class T>
LOCKSTEP_INLINE Matrix<T> image_of(const Pool2dGeometry& g, const Matrix<T>& x, std::int64_t channel) {
  return x.rows_from(channel * g.in_height * g.in_width, g.in_height * g.in_width);
}

/// How backward writes: `give` adds to what is there, or is the only one to write.
template <class T>
struct AddTo {
  template <class End>
  LOCKSTEP_INLINE void operator()(T* to, Vec<T> gift, const End& end) const {
    store(to, load(to, end) + gift, end);
  }
};
template <class T>
struct WriteOnce {
  template <class End>
  LOCKSTEP_INLINE void operator()(T* to, Vec<T> gift, const End& end) const {
    store(to, zero<T>() + gift, end);
  }
};

/// The first tap that equals y gets dy, the others +0: a sum that began at +0 is never -0, so adding +0 keeps it.
template <class T, class Give>
LOCKSTEP_INLINE void give_to_largest(const MaxPool2dBackward<T>& a, std::int64_t channel, const Give& give) {
  for_windows(a.geometry, channel, [&](const auto& window, std::int64_t out) LOCKSTEP_INLINE_LAMBDA {
    for_vectors<T>(0, a.dx.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
      const Vec<T> y = load(a.y.row(out) + c, end);
      Vec<T> gift = load(a.dy.row(out) + c, end);
      for_taps(window, [&](std::int64_t in) LOCKSTEP_INLINE_LAMBDA {
        const Mask<T> equal = load(a.x.row(in) + c, end) == y;
        give(a.dx.row(in) + c, keep(equal, gift), end);
        gift = keep(~equal, gift);
      });
    });
  });
}

}  // namespace

template <class T>
void max_pool2d_forward(const MaxPool2dForward<T>& a, KernelContext&) {
  pool_forward(a.geometry, a.x, a.y, Largest<T>{});
}

template <class T>
void max_pool2d_backward(const MaxPool2dBackward<T>& a, KernelContext&) {
  const bool once = disjoint(a.geometry), clear = !once || !covering(a.geometry);
  for (std::int64_t channel = 0; channel < a.geometry.channels; ++channel) {
    if (clear) map(image_of(a.geometry, a.dx, channel), []() LOCKSTEP_INLINE_LAMBDA { return zero<T>(); });
    if (once)
      give_to_largest(a, channel, WriteOnce<T>{});
    else
      give_to_largest(a, channel, AddTo<T>{});
  }
}

template <class T>
void avg_pool2d_forward(const AvgPool2dForward<T>& a, KernelContext&) {
  pool_forward(a.geometry, a.x, a.y, Mean<T>{share_of_window<T>(a.geometry)});
}

template <class T>
void avg_pool2d_backward(const AvgPool2dBackward<T>& a, KernelContext&) {
  const Vec<T> share = share_of_window<T>(a.geometry), none = zero<T>();
  const bool once = disjoint(a.geometry), clear = !once || !covering(a.geometry);
  for (std::int64_t channel = 0; channel < a.geometry.channels; ++channel) {
    const Matrix<T> image = image_of(a.geometry, a.dx, channel);
    if (clear) map(image, []() LOCKSTEP_INLINE_LAMBDA { return zero<T>(); });
    for_windows(a.geometry, channel, [&](const auto& window, std::int64_t out) LOCKSTEP_INLINE_LAMBDA {
      for_vectors<T>(0, a.dx.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
        const Vec<T> dy = load(a.dy.row(out) + c, end), gift = (none + dy) * share;
        for_taps(window, [&](std::int64_t in) LOCKSTEP_INLINE_LAMBDA {
          T* dx = a.dx.row(in) + c;
          store(dx, once ? gift : load(dx, end) + dy, end);
        });
      });
    });
    if (!once)
      map(
          image, [=](Vec<T> sum) LOCKSTEP_INLINE_LAMBDA { return sum * share; }, image);
  }
}

LOCKSTEP_SIMD_INSTANTIATE(max_pool2d_forward, MaxPool2dForward)
LOCKSTEP_SIMD_INSTANTIATE(max_pool2d_backward, MaxPool2dBackward)
LOCKSTEP_SIMD_INSTANTIATE(avg_pool2d_forward, AvgPool2dForward)
LOCKSTEP_SIMD_INSTANTIATE(avg_pool2d_backward, AvgPool2dBackward)

}  // namespace lockstep::LOCKSTEP_SIMD
