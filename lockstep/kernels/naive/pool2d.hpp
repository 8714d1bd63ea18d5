#pragma once
#include "lockstep/kernels/naive/variant.hpp"
#include "lockstep/kernels/pool2d.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

/// Calls visit(input row) for the taps of window (oy, ox) that lie in the image, (ky, kx) ascending.
template <class Visit>
void for_each_tap(const Pool2dGeometry& g, std::int64_t channel, std::int64_t oy, std::int64_t ox, const Visit& visit) {
  for (std::int64_t ky = 0; ky < g.window_h; ++ky)
    for (std::int64_t kx = 0; kx < g.window_w; ++kx) {
      const std::int64_t iy = oy * g.stride_h + ky - g.pad_h, ix = ox * g.stride_w + kx - g.pad_w;
      if (iy < 0 || iy >= g.in_height || ix < 0 || ix >= g.in_width) continue;
      visit((channel * g.in_height + iy) * g.in_width + ix);
    }
}

/// Calls visit(channel, oy, ox, output row) for every window, ascending.
template <class Visit>
void for_each_window(const Pool2dGeometry& g, const Visit& visit) {
  for (std::int64_t channel = 0; channel < g.channels; ++channel)
    for (std::int64_t oy = 0; oy < g.out_height(); ++oy)
      for (std::int64_t ox = 0; ox < g.out_width(); ++ox)
        visit(channel, oy, ox, (channel * g.out_height() + oy) * g.out_width() + ox);
}

template <class T>
void max_pool2d_forward(const MaxPool2dForward<T>& a) {
  for_each_window(a.geometry, [&](std::int64_t channel, std::int64_t oy, std::int64_t ox, std::int64_t out) {
    for (std::int64_t s = 0; s < a.y.cols; ++s) {
      bool first = true;
      T best = T(0);
      for_each_tap(a.geometry, channel, oy, ox, [&](std::int64_t in) {
        if (first || a.x(in, s) > best) best = a.x(in, s);
        first = false;
      });
      a.y(out, s) = best;
    }
  });
}

template <class T>
void max_pool2d_backward(const MaxPool2dBackward<T>& a) {
  for (std::int64_t in = 0; in < a.dx.rows; ++in)
    for (std::int64_t s = 0; s < a.dx.cols; ++s) a.dx(in, s) = T(0);
  for_each_window(a.geometry, [&](std::int64_t channel, std::int64_t oy, std::int64_t ox, std::int64_t out) {
    for (std::int64_t s = 0; s < a.dx.cols; ++s) {
      bool given = false;
      for_each_tap(a.geometry, channel, oy, ox, [&](std::int64_t in) {
        if (given || a.x(in, s) != a.y(out, s)) return;
        a.dx(in, s) = a.dx(in, s) + a.dy(out, s);
        given = true;
      });
    }
  });
}

template <class T>
void avg_pool2d_forward(const AvgPool2dForward<T>& a) {
  const T share = T(1) / T(a.geometry.window_h * a.geometry.window_w);
  for_each_window(a.geometry, [&](std::int64_t channel, std::int64_t oy, std::int64_t ox, std::int64_t out) {
    for (std::int64_t s = 0; s < a.y.cols; ++s) {
      T sum = T(0);
      for_each_tap(a.geometry, channel, oy, ox, [&](std::int64_t in) { sum = sum + a.x(in, s); });
      a.y(out, s) = sum * share;
    }
  });
}

template <class T>
void avg_pool2d_backward(const AvgPool2dBackward<T>& a) {
  const T share = T(1) / T(a.geometry.window_h * a.geometry.window_w);
  for (std::int64_t in = 0; in < a.dx.rows; ++in)
    for (std::int64_t s = 0; s < a.dx.cols; ++s) a.dx(in, s) = T(0);
  for_each_window(a.geometry, [&](std::int64_t channel, std::int64_t oy, std::int64_t ox, std::int64_t out) {
    for (std::int64_t s = 0; s < a.dx.cols; ++s)
      for_each_tap(a.geometry, channel, oy, ox, [&](std::int64_t in) { a.dx(in, s) = a.dx(in, s) + a.dy(out, s); });
  });
  for (std::int64_t in = 0; in < a.dx.rows; ++in)
    for (std::int64_t s = 0; s < a.dx.cols; ++s) a.dx(in, s) = a.dx(in, s) * share;
}

}  // namespace lockstep::LOCKSTEP_NAIVE
