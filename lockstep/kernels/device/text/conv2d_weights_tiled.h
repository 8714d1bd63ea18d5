// Gradients of a convolution's weights for devices whose work-items hold one sample. The 16 virtual lanes of a sum are 16
// work-items side by side, each with 4 rows (output channels) by 8 taps (ic, ky, kx) in registers; a group has up to 4 by
// 4 of them. Pixels pass in pieces of a line: dy of the group's rows and the lines of x under its taps, with their halo,
// lie in local memory, 16 samples of a pixel side by side, so that a tap of one pixel and the next tap of the pixel
// before it are one load. Per pixel 4 numbers of dy and 8 of x feed 32 fma.
//
// Behind the last tap comes the bias, whose x is 1 everywhere: fma(dy, 1, sum) is sum + dy. Samples that are missing get
// -0 for dy and 0 (or 1) for x: their product is -0, which changes no sum. Taps in the padding are skipped.
//
// When a slot is through, the lanes of every sum meet in local memory, one work-item adds them up in their tree and
// pushes the result onto its binary counter of slots, which lies in `stack`, memory of the device: [level][stack_step] for
// each chunk. `slots_each` slots, an aligned power of two, belong to one group; what the groups of several chunks leave is
// added by add_slots.
#if LANES == 1
#define WEIGHT_TILE_ROWS 4 /* of a work-item */
#define WEIGHT_FETCHES 4   /* that are under way at a time */
#if REAL_IS_DOUBLE
#define WEIGHT_TILE_TAPS 4 /* of a work-item */
#define WEIGHT_COLUMNS 136 /* pixels of all lines of x; 33 lines of 4 where kernels are 1 wide */
#define WEIGHT_PIXELS 4    /* at most, of a piece */
#else
#define WEIGHT_TILE_TAPS 8
#define WEIGHT_COLUMNS 272
#define WEIGHT_PIXELS 8
#endif
#define DY_STEP (WEIGHT_PIXELS + 1) /* odd: the two rows that a warp reads at a time lie in different banks */
#define DY_AT (WEIGHT_COLUMNS * VIRTUAL_LANES)
#define LANES_STEP (VIRTUAL_LANES + 1) /* odd, for the same reason */

// Launch: x is the tile of taps, innermost, and the tile of rows of a group of channels; z the chunk of slots.
KERNEL_OF(256, 2) conv2d_weights_tiled(CONV_SHAPE, IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride, IN(I64, bounds),
                            I64 slots_each, OUT(REAL, dw), OUT(REAL, db), I64 chunk_step, OUT(REAL, stack), I64 levels,
                            I64 row_tiles, I64 tap_tiles, I64 pixels) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(I64, bounds);
  USE_OUT(REAL, dw);
  USE_OUT(REAL, db);
  USE_OUT(REAL, stack);
  LOCAL REAL tile[DY_AT + 4 * WEIGHT_TILE_ROWS * DY_STEP * VIRTUAL_LANES];  // x, then dy; the lanes of sums in their place
  LOCAL int inside[WEIGHT_COLUMNS];

  // Where this group and this work-item are.
  const int lane = ITEM(0), row_groups = ITEMS(1), items = row_groups * ITEMS(2), item = ITEM(2) * row_groups + ITEM(1);
  const int in_per_group = (int)(in_channels / groups), out_per_group = (int)(out_channels / groups);
  const int row_tile = (int)(GROUP(0) / tap_tiles), tap_tile = (int)(GROUP(0) % tap_tiles);
  const int group_of = row_tile / (int)row_tiles, group_rows = row_groups * WEIGHT_TILE_ROWS;
  const int first_row = (row_tile - group_of * (int)row_tiles) * group_rows;
  const int taps = in_per_group * (int)(kernel_h * kernel_w), all_taps = taps + (db_base ? 1 : 0);
  const int group_taps = ITEMS(2) * WEIGHT_TILE_TAPS, first_tap = tap_tile * group_taps;
  const int my_tap = first_tap + ITEM(2) * WEIGHT_TILE_TAPS;
  const int last_tap = first_tap + group_taps < all_taps ? first_tap + group_taps : all_taps;
  const int last_real = last_tap < taps ? last_tap : taps;

  // The lines (ic, ky) under the taps of this group, and behind them the line of ones.
  const int first_line = first_tap / (int)kernel_w;
  const int lines = last_real > first_tap ? (last_real - 1) / (int)kernel_w - first_line + 1 : 0;
  const int patch = ((int)pixels - 1) * (int)stride_w + ((int)kernel_w - 1) * (int)dilation_w + 1;

  // Where my taps lie in a line, and how far they reach: between the limits all of them are inside.
  int at[WEIGHT_TILE_TAPS];
  int low_v = 0, high_v = 0, low_h = 0, high_h = 0, real_taps = 0;
  for (int t = 0; t < WEIGHT_TILE_TAPS; ++t) {
    const int tap = my_tap + t < last_tap ? my_tap + t : last_tap - 1;
    at[t] = lines * patch;
    if (tap < taps) {
      const int kx = tap % (int)kernel_w, ky = tap / (int)kernel_w % (int)kernel_h;
      const int off_v = ky * (int)dilation_h - (int)pad_h, off_h = kx * (int)dilation_w - (int)pad_w;
      at[t] = (tap / (int)kernel_w - first_line) * patch + kx * (int)dilation_w;
      low_v = real_taps == 0 || off_v < low_v ? off_v : low_v;
      high_v = real_taps == 0 || off_v > high_v ? off_v : high_v;
      low_h = real_taps == 0 || off_h < low_h ? off_h : low_h;
      high_h = real_taps == 0 || off_h > high_h ? off_h : high_h;
      real_taps = 1;
    }
  }

  // The sums that this work-item adds up over lanes and slots: tap o / items of the pair (rows, taps) o % items.
  const int owner = item * VIRTUAL_LANES + lane, pair = owner % items;
  const int own_tap = first_tap + pair / row_groups * WEIGHT_TILE_TAPS + owner / items;
  const int owns = owner < WEIGHT_TILE_TAPS * items && own_tap < all_taps;
#define OWN_ROW(r) (first_row + pair % row_groups + (r) * row_groups)
#define OWN_PLACE(r) /* in dw, or behind it in db */                          \
  (own_tap == taps ? out_channels * taps + group_of * out_per_group + OWN_ROW(r) \
                   : (I64)(group_of * out_per_group + OWN_ROW(r)) * taps + own_tap)

  REAL roots[WEIGHT_TILE_ROWS];
  const I64 first_slot = GROUP(2) * slots_each;
  for (I64 slot = 0; slot < slots_each; ++slot) {
    REAL sums[WEIGHT_TILE_ROWS][WEIGHT_TILE_TAPS];
    for (int r = 0; r < WEIGHT_TILE_ROWS; ++r)
      for (int t = 0; t < WEIGHT_TILE_TAPS; ++t) sums[r][t] = R(0);
    for (I64 block = bounds[first_slot + slot]; block < bounds[first_slot + slot + 1]; block += VIRTUAL_LANES) {
      const I64 s = block + lane;
      const int there = s < bounds[first_slot + slot + 1];
      GLOBAL const REAL *image = x + group_of * in_per_group * in_height * in_width * x_stride + s;
      GLOBAL const REAL *slopes = dy + (group_of * out_per_group + first_row) * out_height * out_width * dy_stride + s;
      for (int oy = 0; oy < (int)out_height; ++oy)
        for (int ox = 0; ox < (int)out_width; ox += (int)pixels) {
          const int count = (int)out_width - ox < (int)pixels ? (int)out_width - ox : (int)pixels;
          {
            int line = 0, column = item, c = first_line / (int)kernel_h, ky = first_line % (int)kernel_h;
            while (line < lines) {  // four loads before the first store
              REAL fetched[WEIGHT_FETCHES];
              int place[WEIGHT_FETCHES], is_inside[WEIGHT_FETCHES];
#pragma unroll
              for (int e = 0; e < WEIGHT_FETCHES; ++e) {
                for (; column >= patch; column -= patch) {
                  ++line;
                  if (++ky == (int)kernel_h) {
                    ky = 0;
                    ++c;
                  }
                }
                const int iy = oy * (int)stride_h + ky * (int)dilation_h - (int)pad_h;
                const int ix = ox * (int)stride_w + column - (int)pad_w;
                place[e] = line < lines ? line * patch + column : -1;
                is_inside[e] = place[e] >= 0 && iy >= 0 && iy < (int)in_height && ix >= 0 && ix < (int)in_width;
                fetched[e] = is_inside[e] && there ? image[((I64)(c * (int)in_height + iy) * in_width + ix) * x_stride]
                                                   : R(0);
                column += items;
              }
#pragma unroll
              for (int e = 0; e < WEIGHT_FETCHES; ++e)
                if (place[e] >= 0) {
                  tile[place[e] * VIRTUAL_LANES + lane] = fetched[e];
                  if (lane == 0) inside[place[e]] = is_inside[e];
                }
            }
          }
          if (last_tap > taps)
            for (int column = item; column < patch; column += items) {
              tile[(lines * patch + column) * VIRTUAL_LANES + lane] = R(1);
              if (lane == 0) inside[lines * patch + column] = 1;
            }
          for (int row = item; row < group_rows; row += items)
            for (int p = 0; p < count; ++p)
              tile[DY_AT + (row * DY_STEP + p) * VIRTUAL_LANES + lane] =
                  there && first_row + row < out_per_group
                      ? slopes[((I64)(row * (int)out_height + oy) * out_width + ox + p) * dy_stride]
                      : R(-0.0);
          BARRIER();
          const int all_v = oy * (int)stride_h + low_v >= 0 && oy * (int)stride_h + high_v < (int)in_height;
          for (int p = 0; p < (my_tap < last_tap ? count : 0); ++p) {
            REAL slope[WEIGHT_TILE_ROWS];
            for (int r = 0; r < WEIGHT_TILE_ROWS; ++r)
              slope[r] = tile[DY_AT + ((ITEM(1) + r * row_groups) * DY_STEP + p) * VIRTUAL_LANES + lane];
            const int start = p * (int)stride_w, ix = ox * (int)stride_w + start;
            if (real_taps == 0 || (all_v && ix + low_h >= 0 && ix + high_h < (int)in_width)) {
              for (int t = 0; t < WEIGHT_TILE_TAPS; ++t) {
                const REAL value = tile[(at[t] + start) * VIRTUAL_LANES + lane];
                for (int r = 0; r < WEIGHT_TILE_ROWS; ++r) sums[r][t] = fma(slope[r], value, sums[r][t]);
              }
            } else {
              for (int t = 0; t < WEIGHT_TILE_TAPS; ++t)
                if (inside[at[t] + start]) {
                  const REAL value = tile[(at[t] + start) * VIRTUAL_LANES + lane];
                  for (int r = 0; r < WEIGHT_TILE_ROWS; ++r) sums[r][t] = fma(slope[r], value, sums[r][t]);
                }
            }
          }
          BARRIER();
        }
    }
    for (int r = 0; r < WEIGHT_TILE_ROWS; ++r) {
      for (int t = 0; t < WEIGHT_TILE_TAPS; ++t) tile[(t * items + item) * LANES_STEP + lane] = sums[r][t];
      BARRIER();
      if (owns && OWN_ROW(r) < out_per_group) {
        REAL lanes[VIRTUAL_LANES];
        for (int l = 0; l < VIRTUAL_LANES; ++l) lanes[l] = tile[owner * LANES_STEP + l];
        REAL sum = lane_tree(lanes);
        I64 level = GROUP(2) * levels;
        for (I64 left = slot; left & 1; left >>= 1, ++level) sum = stack[level * chunk_step + OWN_PLACE(r)] + sum;
        if (slot + 1 < slots_each) stack[level * chunk_step + OWN_PLACE(r)] = sum;
        roots[r] = sum;
      }
      BARRIER();
    }
  }
  if (!owns) return;
  for (int r = 0; r < WEIGHT_TILE_ROWS; ++r) {
    if (OWN_ROW(r) >= out_per_group) continue;
    const I64 oc = group_of * out_per_group + OWN_ROW(r);
    if (own_tap == taps)
      db[GROUP(2) * chunk_step + oc] = roots[r];
    else
      dw[GROUP(2) * chunk_step + oc * taps + own_tap] = roots[r];
  }
}
#endif
