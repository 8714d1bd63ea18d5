// Pooling. Work-items walk outputs (forward) or inputs (backward) in blocks of LANES samples; backward gathers from the
// windows that cover an input, in the order in which they would give.

#define POOL_GEOMETRY                                                                                              \
  I64 channels, I64 in_height, I64 in_width, I64 out_height, I64 out_width, I64 window_h, I64 window_w, I64 stride_h, \
      I64 stride_w, I64 pad_h, I64 pad_w

#define FOR_EACH_POOLED(rows, cols)                                    \
  for (I64 row = GLOBAL_ITEM(1); row < (rows); row += GLOBAL_ITEMS(1)) \
    for (I64 col = GLOBAL_ITEM(0) * LANES; col < (cols); col += GLOBAL_ITEMS(0) * LANES)

// The first output whose window covers input `at` (shifted by the padding), and the first that does not any more.
#define FIRST_OVER(at, window, stride) ((at) < (window) ? 0 : ((at) - (window)) / (stride) + 1)
#define LAST_OVER(at, stride, outputs) ((at) / (stride) + 1 < (outputs) ? (at) / (stride) + 1 : (outputs))

KERNEL max_pool2d_forward(POOL_GEOMETRY, IN(REAL, x), I64 x_stride, OUT(REAL, y), I64 y_stride, I64 samples) {
  USE_IN(REAL, x);
  USE_OUT(REAL, y);
  FOR_EACH_POOLED(channels * out_height * out_width, samples) {
    const I64 ox = row % out_width, oy = row / out_width % out_height, channel = row / (out_width * out_height);
    int first = 1;
    LANE best = SET(0);
    for (I64 ky = 0; ky < window_h; ++ky) {
      const I64 iy = oy * stride_h + ky - pad_h;
      if (iy < 0 || iy >= in_height) continue;
      for (I64 kx = 0; kx < window_w; ++kx) {
        const I64 ix = ox * stride_w + kx - pad_w;
        if (ix < 0 || ix >= in_width) continue;
        const LANE tap = take(x + ((channel * in_height + iy) * in_width + ix) * x_stride + col, samples - col, R(0));
        best = first ? tap : (tap > best ? tap : best);
        first = 0;
      }
    }
    give(best, y + row * y_stride + col, samples - col);
  }
}

KERNEL max_pool2d_backward(POOL_GEOMETRY, IN(REAL, x), I64 x_stride, IN(REAL, y), I64 y_stride, IN(REAL, dy),
                           I64 dy_stride, OUT(REAL, dx), I64 dx_stride, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, y);
  USE_IN(REAL, dy);
  USE_OUT(REAL, dx);
  FOR_EACH_POOLED(channels * in_height * in_width, samples) {
    const I64 n = samples - col;
    const I64 ix = row % in_width, iy = row / in_width % in_height, channel = row / (in_width * in_height);
    const LANE mine = take(x + row * x_stride + col, n, R(0));
    LANE sum = SET(0);
    for (I64 oy = FIRST_OVER(iy + pad_h, window_h, stride_h); oy < LAST_OVER(iy + pad_h, stride_h, out_height); ++oy)
      for (I64 ox = FIRST_OVER(ix + pad_w, window_w, stride_w); ox < LAST_OVER(ix + pad_w, stride_w, out_width); ++ox) {
        const I64 out = (channel * out_height + oy) * out_width + ox;
        const LANE largest = take(y + out * y_stride + col, n, R(0)), given = take(dy + out * dy_stride + col, n, R(0));
        // Mine if it equals the largest and no earlier tap of the window does.
        LANE share = mine == largest ? SET(1) : SET(0);
        for (I64 ty = oy * stride_h - pad_h; ty <= iy; ++ty) {
          if (ty < 0) continue;
          for (I64 tx = ox * stride_w - pad_w; tx < (ty == iy ? ix : ox * stride_w - pad_w + window_w); ++tx) {
            if (tx < 0 || tx >= in_width) continue;
            const LANE tap = take(x + ((channel * in_height + ty) * in_width + tx) * x_stride + col, n, R(0));
            share = tap == largest ? SET(0) : share;
          }
        }
        sum = share > SET(0) ? sum + given : sum;
      }
    give(sum, dx + row * dx_stride + col, n);
  }
}

KERNEL avg_pool2d_forward(POOL_GEOMETRY, REAL share, IN(REAL, x), I64 x_stride, OUT(REAL, y), I64 y_stride,
                          I64 samples) {
  USE_IN(REAL, x);
  USE_OUT(REAL, y);
  FOR_EACH_POOLED(channels * out_height * out_width, samples) {
    const I64 ox = row % out_width, oy = row / out_width % out_height, channel = row / (out_width * out_height);
    LANE sum = SET(0);
    for (I64 ky = 0; ky < window_h; ++ky) {
      const I64 iy = oy * stride_h + ky - pad_h;
      if (iy < 0 || iy >= in_height) continue;
      for (I64 kx = 0; kx < window_w; ++kx) {
        const I64 ix = ox * stride_w + kx - pad_w;
        if (ix < 0 || ix >= in_width) continue;
        sum = sum + take(x + ((channel * in_height + iy) * in_width + ix) * x_stride + col, samples - col, R(0));
      }
    }
    give(sum * SET(share), y + row * y_stride + col, samples - col);
  }
}

KERNEL avg_pool2d_backward(POOL_GEOMETRY, REAL share, IN(REAL, dy), I64 dy_stride, OUT(REAL, dx), I64 dx_stride,
                           I64 samples) {
  USE_IN(REAL, dy);
  USE_OUT(REAL, dx);
  FOR_EACH_POOLED(channels * in_height * in_width, samples) {
    const I64 ix = row % in_width, iy = row / in_width % in_height, channel = row / (in_width * in_height);
    LANE sum = SET(0);
    for (I64 oy = FIRST_OVER(iy + pad_h, window_h, stride_h); oy < LAST_OVER(iy + pad_h, stride_h, out_height); ++oy)
      for (I64 ox = FIRST_OVER(ix + pad_w, window_w, stride_w); ox < LAST_OVER(ix + pad_w, stride_w, out_width); ++ox)
        sum = sum + take(dy + ((channel * out_height + oy) * out_width + ox) * dy_stride + col, samples - col, R(0));
    give(sum * SET(share), dx + row * dx_stride + col, samples - col);
  }
}

// The same where windows do not overlap: a work-item takes a window and the inputs up to the next one.
KERNEL max_pool2d_backward_apart(POOL_GEOMETRY, IN(REAL, x), I64 x_stride, IN(REAL, y), I64 y_stride, IN(REAL, dy),
                                 I64 dy_stride, OUT(REAL, dx), I64 dx_stride, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, y);
  USE_IN(REAL, dy);
  USE_OUT(REAL, dx);
  for (I64 row = GLOBAL_ITEM(1); row < channels * out_height * out_width; row += GLOBAL_ITEMS(1)) {
    const I64 ox = row % out_width, oy = row / out_width % out_height, channel = row / (out_width * out_height);
    const I64 y0 = oy * stride_h - pad_h, x0 = ox * stride_w - pad_w;
    const I64 y_first = oy == 0 ? 0 : y0, y_last = oy == out_height - 1 ? in_height : y0 + stride_h;
    const I64 x_first = ox == 0 ? 0 : x0, x_last = ox == out_width - 1 ? in_width : x0 + stride_w;
    for (I64 col = GLOBAL_ITEM(0) * LANES; col < samples; col += GLOBAL_ITEMS(0) * LANES) {
      const I64 n = samples - col;
      const LANE largest = take(y + row * y_stride + col, n, R(0));
      LANE given = SET(0) + take(dy + row * dy_stride + col, n, R(0));
      for (I64 iy = y_first; iy < y_last; ++iy)
        for (I64 ix = x_first; ix < x_last; ++ix) {
          const I64 in = (channel * in_height + iy) * in_width + ix;
          LANE gets = SET(0);
          if (iy < y0 + window_h && ix < x0 + window_w) {
            const LANE tap = take(x + in * x_stride + col, n, R(0));
            gets = tap == largest ? given : SET(0);
            given = tap == largest ? SET(0) : given;
          }
          give(gets, dx + in * dx_stride + col, n);
        }
    }
  }
}
