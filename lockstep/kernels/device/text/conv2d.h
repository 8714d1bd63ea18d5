// Convolution in tiles of registers (tile.h), where work-items hold vectors of samples: rows are output channels
// (forward) or input channels (gradient by the data). Devices with one sample per work-item use conv2d_tiled.h.
// Launch: x walks tiles of samples, y is the tile of channels of a group, z the row of the image.

#if LANES > 1
#define START_FORWARD(j)                                        \
  LANE a##j = SET(b ? b[oc + j] : R(0)), c##j = a##j;           \
  GLOBAL const REAL *w##j = w + (oc + j) * taps;
#define STEP_FORWARD(j) FMA_ROW(j, w##j[tap])
#define GIVE_FORWARD(j) GIVE_ROW(j, y + (((oc + j) * out_height + oy) * out_width + ox) * y_stride + col, n)

// Taps outside of the image are never visited: the first and last of each axis are worked out before.
#define FORWARD_TILE(NAME, ROWS, FETCH)                                                                            \
  DEVICE void NAME(GLOBAL const REAL *x, I64 x_stride, GLOBAL const REAL *w, GLOBAL const REAL *b, GLOBAL REAL *y, \
                   I64 y_stride, I64 in_per_group, I64 in_height, I64 in_width, I64 out_height, I64 out_width,     \
                   I64 kernel_h, I64 kernel_w, I64 dilation_h, I64 dilation_w, I64 ky_first, I64 ky_last,          \
                   I64 kx_first, I64 kx_last, I64 iy0, I64 ix0, I64 oc, I64 oy, I64 ox, I64 col, I64 n) {          \
    const I64 taps = in_per_group * kernel_h * kernel_w;                                                           \
    ROWS(START_FORWARD)                                                                                            \
    for (I64 ic = 0; ic < in_per_group; ++ic)                                                                      \
      for (I64 ky = ky_first; ky < ky_last; ++ky) {                                                                \
        I64 tap = (ic * kernel_h + ky) * kernel_w + kx_first;                                                      \
        GLOBAL const REAL *p =                                                                                     \
            x + ((ic * in_height + iy0 + ky * dilation_h) * in_width + ix0 + kx_first * dilation_w) * x_stride + col; \
        for (I64 kx = kx_first; kx < kx_last; ++kx) {                                                              \
          FETCH(v0, v1, p, n)                                                                                      \
          ROWS(STEP_FORWARD)                                                                                       \
          p += dilation_w * x_stride;                                                                              \
          ++tap;                                                                                                   \
        }                                                                                                          \
      }                                                                                                            \
    ROWS(GIVE_FORWARD)                                                                                             \
  }
FORWARD_TILE(forward_tile_6, ROWS_6, FETCH_ALL)
FORWARD_TILE(forward_tile_4, ROWS_4, FETCH_ALL)
FORWARD_TILE(forward_tile_1, ROWS_1, FETCH_ALL)
FORWARD_TILE(forward_part_1, ROWS_1, FETCH_PART)

// The first tap t with start + t * dilation >= 0, and the first behind it that leaves an image of `size`.
#define TAP_FIRST(start, dilation) ((start) >= 0 ? 0 : (-(start) + (dilation)-1) / (dilation))
#define TAP_LAST(start, dilation, size, taps) \
  ((size) <= (start) ? 0 : ((size) - (start)-1) / (dilation) + 1 < (taps) ? ((size) - (start)-1) / (dilation) + 1 : (taps))

KERNEL conv2d_forward(CONV_SHAPE, IN(REAL, x), I64 x_stride, IN(REAL, w), IN(REAL, b), OUT(REAL, y), I64 y_stride,
                      I64 tiles_per_group, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, w);
  USE_OUT(REAL, y);
  GLOBAL const REAL *b = b_base ? b_base + USE_AT(b) : 0;
  const I64 in_per_group = in_channels / groups, out_per_group = out_channels / groups;
  const I64 group_of = GLOBAL_ITEM(1) / tiles_per_group, tile = GLOBAL_ITEM(1) % tiles_per_group;
  const I64 oc = group_of * out_per_group + tile_first(out_per_group, tile);
  const int count = tile_rows(out_per_group, tile);
  GLOBAL const REAL *image = x + group_of * in_per_group * in_height * in_width * x_stride;
  const I64 oy = GLOBAL_ITEM(2), iy0 = oy * stride_h - pad_h;
  const I64 ky_first = TAP_FIRST(iy0, dilation_h), ky_last = TAP_LAST(iy0, dilation_h, in_height, kernel_h);
  for (I64 col = GLOBAL_ITEM(0) * TILE_COLS; col < samples; col += GLOBAL_ITEMS(0) * TILE_COLS) {
    const I64 n = samples - col;
    for (I64 ox = 0; ox < out_width; ++ox) {
      const I64 ix0 = ox * stride_w - pad_w;
      const I64 kx_first = TAP_FIRST(ix0, dilation_w), kx_last = TAP_LAST(ix0, dilation_w, in_width, kernel_w);
#define FORWARD_ARGUMENTS(channel)                                                                                    \
  image, x_stride, w, b, y, y_stride, in_per_group, in_height, in_width, out_height, out_width, kernel_h, kernel_w,   \
      dilation_h, dilation_w, ky_first, ky_last, kx_first, kx_last, iy0, ix0, channel, oy, ox, col, n
      if (n < TILE_COLS) {
        for (int j = 0; j < count; ++j) forward_part_1(FORWARD_ARGUMENTS(oc + j));
      } else if (count == 6) {
        forward_tile_6(FORWARD_ARGUMENTS(oc));
      } else if (count == 4) {
        forward_tile_4(FORWARD_ARGUMENTS(oc));
      } else {
        forward_tile_1(FORWARD_ARGUMENTS(oc));
      }
    }
  }
}

#define START_DATA(j) \
  LANE a##j = SET(0), c##j = SET(0);
#define STEP_DATA(j) FMA_ROW(j, w[((oc * in_per_group + ic + j) * kernel_h + ky) * kernel_w + kx])
#define GIVE_DATA(j) \
  GIVE_ROW(j, dx + (((first_channel + ic + j) * in_height + iy) * in_width + ix) * dx_stride + col, n)

#define DATA_TILE(NAME, ROWS, FETCH)                                                                                 \
  DEVICE void NAME(GLOBAL const REAL *w, GLOBAL const REAL *dy, I64 dy_stride, GLOBAL REAL *dx, I64 dx_stride,       \
                   I64 in_per_group, I64 first_channel, I64 oc_first, I64 oc_last, I64 in_height, I64 in_width,      \
                   I64 out_height, I64 out_width, I64 kernel_h, I64 kernel_w, I64 stride_h, I64 stride_w, I64 pad_h, \
                   I64 pad_w, I64 dilation_h, I64 dilation_w, I64 ic, I64 iy, I64 ix, I64 col, I64 n) {              \
    ROWS(START_DATA)                                                                                                 \
    for (I64 oc = oc_first; oc < oc_last; ++oc)                                                                      \
      for (I64 ky = 0; ky < kernel_h; ++ky) {                                                                        \
        const I64 at_y = iy + pad_h - ky * dilation_h;                                                               \
        const I64 oy = stride_h == 1 ? at_y : at_y / stride_h;                                                       \
        if (at_y < 0 || oy * stride_h != at_y || oy >= out_height) continue;                                         \
        for (I64 kx = 0; kx < kernel_w; ++kx) {                                                                      \
          const I64 at_x = ix + pad_w - kx * dilation_w;                                                             \
          const I64 ox = stride_w == 1 ? at_x : at_x / stride_w;                                                     \
          if (at_x < 0 || ox * stride_w != at_x || ox >= out_width) continue;                                        \
          FETCH(v0, v1, dy + ((oc * out_height + oy) * out_width + ox) * dy_stride + col, n)                         \
          ROWS(STEP_DATA)                                                                                            \
        }                                                                                                            \
      }                                                                                                              \
    ROWS(GIVE_DATA)                                                                                                  \
  }
DATA_TILE(data_tile_6, ROWS_6, FETCH_ALL)
DATA_TILE(data_tile_4, ROWS_4, FETCH_ALL)
DATA_TILE(data_tile_1, ROWS_1, FETCH_ALL)
DATA_TILE(data_part_1, ROWS_1, FETCH_PART)

KERNEL conv2d_backward_data(CONV_SHAPE, IN(REAL, w), IN(REAL, dy), I64 dy_stride, OUT(REAL, dx), I64 dx_stride,
                            I64 tiles_per_group, I64 samples) {
  USE_IN(REAL, w);
  USE_IN(REAL, dy);
  USE_OUT(REAL, dx);
  const I64 in_per_group = in_channels / groups, out_per_group = out_channels / groups;
  const I64 group_of = GLOBAL_ITEM(1) / tiles_per_group, tile = GLOBAL_ITEM(1) % tiles_per_group;
  const I64 ic = tile_first(in_per_group, tile), iy = GLOBAL_ITEM(2);
  const int count = tile_rows(in_per_group, tile);
  for (I64 col = GLOBAL_ITEM(0) * TILE_COLS; col < samples; col += GLOBAL_ITEMS(0) * TILE_COLS) {
    const I64 n = samples - col;
    for (I64 ix = 0; ix < in_width; ++ix) {
#define DATA_ARGUMENTS(channel)                                                                                     \
  w, dy, dy_stride, dx, dx_stride, in_per_group, group_of *in_per_group, group_of *out_per_group,                   \
      (group_of + 1) * out_per_group, in_height, in_width, out_height, out_width, kernel_h, kernel_w, stride_h,     \
      stride_w, pad_h, pad_w, dilation_h, dilation_w, channel, iy, ix, col, n
      if (n < TILE_COLS) {
        for (int j = 0; j < count; ++j) data_part_1(DATA_ARGUMENTS(ic + j));
      } else if (count == 6) {
        data_tile_6(DATA_ARGUMENTS(ic));
      } else if (count == 4) {
        data_tile_4(DATA_ARGUMENTS(ic));
      } else {
        data_tile_1(DATA_ARGUMENTS(ic));
      }
    }
  }
}
#endif
