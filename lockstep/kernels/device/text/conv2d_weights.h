// Gradients of a convolution's weights where a work-item holds vectors of samples: WEIGHT_ROWS output channels by four
// taps (ic, ky, kx) stay in registers while the pixels pass. A vector holds the 16 virtual lanes, or half of them.
// Where some samples of a block of 16 are missing, -0 stands in for dy and 0 for x: their product changes no sum.
// Devices with one sample per work-item use conv2d_weights_tiled.h.

#if LANES > 1
#if LANES == 16
#define HALVES 1
#define WEIGHT_ROWS 4
#define FOR_ROWS(X) X(0) X(1) X(2) X(3)
#else
#define HALVES 2
#define WEIGHT_ROWS 2
#define FOR_ROWS(X) X(0) X(1)
#endif
// The fixed tree over the virtual lanes, where they are one vector or where two were added to one already. Halves come
// from memory and not as .lo and .hi: compilers make the same of both, and simulators follow only this.
DEVICE REAL tree_of(LANE v) {
  REAL lanes[LANES];
  STORE(v, lanes);
#if LANES == 16
  vstore8(vload8(0, lanes) + vload8(1, lanes), 0, lanes);
#endif
  vstore4(vload4(0, lanes) + vload4(1, lanes), 0, lanes);
  vstore2(vload2(0, lanes) + vload2(1, lanes), 0, lanes);
  return lanes[0] + lanes[1];
}

#define FOR_TAPS(X) X(0) X(1) X(2) X(3)
#define DESCRIBE_TAP(t)                                                                                             \
  const I64 tap##t = first_tap + t < taps ? first_tap + t : taps - 1;                                               \
  const I64 dy##t = tap##t / kernel_w % kernel_h * dilation_h - pad_h, dx##t = tap##t % kernel_w * dilation_w - pad_w; \
  GLOBAL const REAL *x##t =                                                                                         \
      x + ((channel + tap##t / (kernel_w * kernel_h)) * in_height + dy##t) * in_width * x_stride + dx##t * x_stride; \
  const I64 oy_first##t = dy##t >= 0 ? 0 : (-dy##t + stride_h - 1) / stride_h;                                      \
  const I64 oy_last##t = in_height <= dy##t ? 0 : (in_height - dy##t - 1) / stride_h + 1;                           \
  const I64 ox_first##t = dx##t >= 0 ? 0 : (-dx##t + stride_w - 1) / stride_w;                                      \
  const I64 ox_last##t = in_width <= dx##t ? 0 : (in_width - dx##t - 1) / stride_w + 1;                             \
  rows_from = oy_first##t > rows_from ? oy_first##t : rows_from;                                                    \
  rows_to = oy_last##t < rows_to ? oy_last##t : rows_to;                                                            \
  cols_from = ox_first##t > cols_from ? ox_first##t : cols_from;                                                    \
  cols_to = ox_last##t < cols_to ? ox_last##t : cols_to;
#define DECLARE_SUMS(j) LANE s##j##0 = SET(0), s##j##1 = SET(0), s##j##2 = SET(0), s##j##3 = SET(0);
#define DESCRIBE_ROW(j) GLOBAL const REAL *g##j = dy + (oc + (j < rows ? j : 0)) * out_height * out_width * dy_stride;

// Every tap is inside: no questions.
#define LOAD_TAP(t) const LANE v##t = LOAD(x##t + at_x);
#define ADD_ROW(j)                              \
  {                                             \
    const LANE g = LOAD(g##j + at_dy);          \
    s##j##0 = fma(g, v0, s##j##0);              \
    s##j##1 = fma(g, v1, s##j##1);              \
    s##j##2 = fma(g, v2, s##j##2);              \
    s##j##3 = fma(g, v3, s##j##3);              \
  }
// Near the border, or with samples missing.
#define INSIDE(t) (oy >= oy_first##t && oy < oy_last##t && ox >= ox_first##t && ox < ox_last##t)
#define ADD_ROW_CAREFULLY(j)                                                     \
  {                                                                              \
    const LANE g = take(g##j + at_dy, n, R(-0.0));                               \
    if (INSIDE(0)) s##j##0 = fma(g, take(x0 + at_x, n, R(0)), s##j##0);          \
    if (INSIDE(1)) s##j##1 = fma(g, take(x1 + at_x, n, R(0)), s##j##1);          \
    if (INSIDE(2)) s##j##2 = fma(g, take(x2 + at_x, n, R(0)), s##j##2);          \
    if (INSIDE(3)) s##j##3 = fma(g, take(x3 + at_x, n, R(0)), s##j##3);          \
  }
#define AT_PIXEL                                                                              \
  const I64 at_dy = (oy * out_width + ox) * dy_stride + from;                                 \
  const I64 at_x = (oy * stride_h * in_width + ox * stride_w) * x_stride + from;
#if HALVES == 1
#define SLOT_SUM(j, t) tree_of(s##j##t)
#else
#define SLOT_SUM(j, t) tree_of(first_half[j][t] + s##j##t)
#define KEEP_HALF(j)           \
  first_half[j][0] = s##j##0;  \
  first_half[j][1] = s##j##1;  \
  first_half[j][2] = s##j##2;  \
  first_half[j][3] = s##j##3;
#endif
#define PUSH_ROW(j)                                                 \
  root[j][0] = push_slot(stack[j][0], slot, SLOT_SUM(j, 0));        \
  root[j][1] = push_slot(stack[j][1], slot, SLOT_SUM(j, 1));        \
  root[j][2] = push_slot(stack[j][2], slot, SLOT_SUM(j, 2));        \
  root[j][3] = push_slot(stack[j][3], slot, SLOT_SUM(j, 3));

// Launch: x is the tile of taps, y the tile of output channels of a group.
KERNEL conv2d_weights(CONV_SHAPE, IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride, IN(I64, bounds), I64 slots,
                      OUT(REAL, dw), I64 tiles_per_group) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(I64, bounds);
  USE_OUT(REAL, dw);
  const I64 in_per_group = in_channels / groups, out_per_group = out_channels / groups;
  const I64 group_of = GLOBAL_ITEM(1) / tiles_per_group, first_row = GLOBAL_ITEM(1) % tiles_per_group * WEIGHT_ROWS;
  const int rows = out_per_group - first_row < WEIGHT_ROWS ? (int)(out_per_group - first_row) : WEIGHT_ROWS;
  const I64 oc = group_of * out_per_group + first_row, channel = group_of * in_per_group;
  const I64 taps = in_per_group * kernel_h * kernel_w, first_tap = GLOBAL_ITEM(0) * 4;
  I64 rows_from = 0, rows_to = out_height, cols_from = 0, cols_to = out_width;
  FOR_TAPS(DESCRIBE_TAP)
  FOR_ROWS(DESCRIBE_ROW)
  REAL stack[WEIGHT_ROWS][4][SLOT_LEVELS], root[WEIGHT_ROWS][4];
  for (I64 slot = 0; slot < slots; ++slot) {
#if HALVES == 2
    LANE first_half[WEIGHT_ROWS][4];
#endif
    for (int half_of = 0; half_of < HALVES; ++half_of) {
      FOR_ROWS(DECLARE_SUMS)
      for (I64 from = bounds[slot] + half_of * LANES; from < bounds[slot + 1]; from += VIRTUAL_LANES) {
        const I64 n = bounds[slot + 1] - from;
        for (I64 oy = 0; oy < out_height; ++oy) {
          const int inner = n >= LANES && oy >= rows_from && oy < rows_to && cols_from < cols_to;
          I64 ox = 0;
          for (; ox < (inner ? cols_from : out_width); ++ox) {
            AT_PIXEL
            FOR_ROWS(ADD_ROW_CAREFULLY)
          }
          if (inner)
            for (; ox < cols_to; ++ox) {
              AT_PIXEL
              FOR_TAPS(LOAD_TAP)
              FOR_ROWS(ADD_ROW)
            }
          for (; ox < out_width; ++ox) {
            AT_PIXEL
            FOR_ROWS(ADD_ROW_CAREFULLY)
          }
        }
      }
#if HALVES == 2
      if (half_of == 0) {
        FOR_ROWS(KEEP_HALF)
        continue;
      }
#endif
      FOR_ROWS(PUSH_ROW)
    }
  }
  for (int j = 0; j < rows; ++j)
    for (int t = 0; t < 4; ++t)
      if (first_tap + t < taps) dw[(oc + j) * taps + first_tap + t] = root[j][t];
}

// One work-item per output channel.
KERNEL conv2d_bias(I64 out_channels, I64 pixels, IN(REAL, dy), I64 dy_stride, IN(I64, bounds), I64 slots,
                   OUT(REAL, db)) {
  USE_IN(REAL, dy);
  USE_IN(I64, bounds);
  USE_OUT(REAL, db);
  const I64 oc = GLOBAL_ITEM(0);
  if (oc >= out_channels) return;
  GLOBAL const REAL *mine = dy + oc * pixels * dy_stride;
  REAL stack[SLOT_LEVELS], root = R(0);
  for (I64 slot = 0; slot < slots; ++slot) {
    LANE low = SET(0), high = SET(0);
    for (I64 from = bounds[slot]; from < bounds[slot + 1]; from += VIRTUAL_LANES) {
      const I64 n = bounds[slot + 1] - from;
      for (I64 pixel = 0; pixel < pixels; ++pixel) {
        low = low + take(mine + pixel * dy_stride + from, n, R(-0.0));
#if HALVES == 2
        high = high + take(mine + pixel * dy_stride + from + LANES, n - LANES, R(-0.0));
#endif
      }
    }
#if HALVES == 2
    root = push_slot(stack, slot, tree_of(low + high));
#else
    root = push_slot(stack, slot, tree_of(low));
#endif
  }
  db[oc] = root;
}
#endif
