// Convolution for devices whose work-items hold one sample. One kernel serves forward and the gradient by the data, as
// in linear.h: y(row, pixel, s) = b(row) + the chain over (depth, ky, kx) of w * x(depth, pixel + tap, s).
//
// A group of 32 samples by `ITEMS(1)` by `ITEMS(2)` work-items computes, for pixels of one line of the image,
// 8 rows (channels) by 4 pixels per work-item: 32 sums in registers. What they share lies in local memory, a slice at a
// time: lines of x with their halo, all samples of a pixel side by side, and the weights of these lines, the rows of a
// tap side by side. The 32 work-items of a warp differ in their sample only: x is read from consecutive places, global
// and local, and a weight is one broadcast. Per tap 4 numbers of x and 8 weights (two loads of 16 bytes) feed 32 fma,
// so that arithmetic is the limit and not local memory.
//
// Lines outside of the image are not visited, and pixels at its edge are asked tap by tap; the others need no question.
//
// An axis of the image, the same words for both directions (the host fills them in, conv2d_tiled.cpp): outputs o = phase
// + phases * q share the taps first, first + tap_step, ..., where first is the first tap t for which phases divides
// phase + offset - t * dilation; the quotient is the source of q = 0, and the source moves by pixel_step with q and by
// `step` with the tap.
#if LANES == 1
#define CONV_AXIS(a) \
  I64 a##_phases, I64 a##_offset, I64 a##_dilation, I64 a##_taps, I64 a##_tap_step, I64 a##_pixel_step, I64 a##_step

#define CONV_ROWS 8     /* of a work-item */
#define CONV_SAMPLES 32 /* of a group */
#if REAL_IS_DOUBLE
#define CONV_PIXELS 2   /* of a work-item */
#define CONV_COLUMNS 64 /* pixels of all lines of a slice */
#else
#define CONV_PIXELS 4
#define CONV_COLUMNS 96
#endif
#define FETCHES 4       /* that are under way at a time */
#define CONV_TAPS 40    /* of all lines of a slice */
#define CONV_STRIDE 36  /* at most 32 rows; four more spread the stores over the banks and keep 16 bytes together */

DEVICE int first_tap_of(int at, int dilation, int phases, int taps) {
  int tap = 0;
  while (tap < taps && (at - tap * dilation) % phases != 0) ++tap;
  return tap;
}

// Launch: one axis, because the others are short on CUDA: tiles of samples innermost, then tiles of pixels, lines of the
// output, tiles of rows of all groups.
KERNEL_OF(256, 2) conv2d_tiled(IN(REAL, x), I64 x_stride, I64 depth, I64 height, I64 width, IN(REAL, w), I64 row_step,
                    I64 depth_step, I64 group_step, IN(REAL, b), OUT(REAL, y), I64 y_stride, I64 rows, I64 out_height,
                    I64 out_width, I64 samples, I64 row_tiles, I64 pixel_tiles, CONV_AXIS(v), CONV_AXIS(h)) {
  USE_IN(REAL, x);
  USE_IN(REAL, w);
  USE_OUT(REAL, y);
  GLOBAL const REAL *b = b_base ? b_base + USE_AT(b) : 0;
  LOCAL REAL x_tile[CONV_COLUMNS][CONV_SAMPLES];
  LOCAL ALIGNED_16 REAL w_tile[CONV_TAPS][CONV_STRIDE];

  // Where this group and this work-item are.
  const int lane = ITEM(0), warps = ITEMS(1) * ITEMS(2), warp = ITEM(2) * ITEMS(1) + ITEM(1);
  const int sample_tiles = (int)((samples + CONV_SAMPLES - 1) / CONV_SAMPLES);
  const int group = (int)GROUP(0) / sample_tiles, s = ((int)GROUP(0) - group * sample_tiles) * CONV_SAMPLES + lane;
  const int line_of = group / (int)pixel_tiles, pixel_tile = group - line_of * (int)pixel_tiles;
  const int row_tile = line_of / (int)out_height, oy = line_of - row_tile * (int)out_height;
  const int tile_pixels = ITEMS(1) * CONV_PIXELS, group_rows = ITEMS(2) * CONV_ROWS;
  const int group_of = row_tile / (int)row_tiles;
  const int first_row = (row_tile - group_of * (int)row_tiles) * group_rows, my_row = first_row + ITEM(2) * CONV_ROWS;
  const int phase_v = oy % (int)v_phases, phase_h = pixel_tile % (int)h_phases;
  const int first_q = pixel_tile / (int)h_phases * tile_pixels, my_q = first_q + ITEM(1) * CONV_PIXELS;
  const int pixels_left = ((int)out_width - phase_h + (int)h_phases - 1) / (int)h_phases - my_q;

  // The taps of this line of outputs, and which of them are inside of the image.
  const int tap_v = first_tap_of(phase_v + (int)v_offset, (int)v_dilation, (int)v_phases, (int)v_taps);
  const int taps_v = ((int)v_taps - tap_v + (int)v_tap_step - 1) / (int)v_tap_step;
  const int source_v =
      (phase_v + (int)v_offset - tap_v * (int)v_dilation) / (int)v_phases + oy / (int)v_phases * (int)v_pixel_step;
#define LINE_INSIDE(j) (source_v + (j) * (int)v_step >= 0 && source_v + (j) * (int)v_step < (int)height)
  int from_v = 0;
  while (from_v < taps_v && !LINE_INSIDE(from_v)) ++from_v;
  int to_v = from_v;
  while (to_v < taps_v && LINE_INSIDE(to_v)) ++to_v;
  const int lines_each = to_v - from_v;  // of a channel

  // The taps along the line, and the part of it that this group reads.
  const int tap_h = first_tap_of(phase_h + (int)h_offset, (int)h_dilation, (int)h_phases, (int)h_taps);
  const int taps_h = ((int)h_taps - tap_h + (int)h_tap_step - 1) / (int)h_tap_step;
  const int step_h = (int)h_step, pixel_step = (int)h_pixel_step, reach = (taps_h - 1) * step_h;
  const int source_h = (phase_h + (int)h_offset - tap_h * (int)h_dilation) / (int)h_phases + first_q * pixel_step;
  const int patch_first = source_h + (reach < 0 ? reach : 0);
  const int patch = (tile_pixels - 1) * pixel_step + (reach < 0 ? -reach : reach) + 1;
  const int mine = source_h + ITEM(1) * CONV_PIXELS * pixel_step;  // the source of my first pixel under the first tap
  const int careful = pixels_left < CONV_PIXELS || mine + (reach < 0 ? reach : 0) < 0 ||
                      mine + (reach < 0 ? 0 : reach) + (CONV_PIXELS - 1) * pixel_step >= (int)width;

  const int lines_all = taps_h > 0 ? (int)depth * lines_each : 0;
  int lines_most = taps_h > 0 ? CONV_TAPS / taps_h : 0;
  if (CONV_COLUMNS / patch < lines_most) lines_most = CONV_COLUMNS / patch;

  REAL sums[CONV_ROWS][CONV_PIXELS];
  for (int r = 0; r < CONV_ROWS; ++r)
    for (int p = 0; p < CONV_PIXELS; ++p)
      sums[r][p] = b && my_row + r < rows ? b[group_of * rows + my_row + r] : R(0);

  GLOBAL const REAL *image = x + group_of * depth * height * width * x_stride + s;
  GLOBAL const REAL *factors_of = w + group_of * group_step + first_row * row_step;
  int channel = 0, tap_line = 0;  // of the first line of the slice; tap_line counts from from_v
  for (int first_line = 0; first_line < lines_all; first_line += lines_most) {
    const int lines = lines_all - first_line < lines_most ? lines_all - first_line : lines_most;
    {  // A warp fetches one pixel of 32 samples at a time, four of them before it stores the first; places outside of the
       // image are never used.
      int line = 0, column = warp, c = channel, j = tap_line;
      while (line < lines) {
        REAL fetched[FETCHES];
        int place[FETCHES];
#pragma unroll
        for (int e = 0; e < FETCHES; ++e) {
          for (; column >= patch; column -= patch) {
            ++line;
            if (++j == lines_each) {
              j = 0;
              ++c;
            }
          }
          const int ix = patch_first + column;
          place[e] = line < lines ? line * patch + column : -1;
          fetched[e] =
              place[e] >= 0 && ix >= 0 && ix < (int)width && s < samples
                  ? image[((I64)(c * (int)height + source_v + (from_v + j) * (int)v_step) * width + ix) * x_stride]
                  : R(0);
          column += warps;
        }
#pragma unroll
        for (int e = 0; e < FETCHES; ++e)
          if (place[e] >= 0) x_tile[place[e]][lane] = fetched[e];
      }
    }
    // Consecutive work-items fetch consecutive taps of one row.
    for (int k = lane; k < lines * taps_h; k += CONV_SAMPLES) {
      const int line = tap_line + k / taps_h, j = k % taps_h;
      const I64 at = (channel + line / lines_each) * depth_step +
                     (tap_v + (from_v + line % lines_each) * (int)v_tap_step) * (int)h_taps + tap_h +
                     j * (int)h_tap_step;
      for (int r = warp; r < group_rows; r += warps)
        w_tile[k][r] = first_row + r < rows ? factors_of[r * row_step + at] : R(0);
    }
    BARRIER();
    // Where a line ends in the midst of the group, the work-items behind it only fetch.
    for (int line = 0; line < (pixels_left > 0 ? lines : 0); ++line)
      for (int j = 0; j < taps_h; ++j) {
        REAL factors[CONV_ROWS], values[CONV_PIXELS];
        const int column = line * patch + mine - patch_first + j * step_h;
        for (int r = 0; r < CONV_ROWS; ++r) factors[r] = w_tile[line * taps_h + j][ITEM(2) * CONV_ROWS + r];
        for (int p = 0; p < CONV_PIXELS; ++p) values[p] = x_tile[column + p * pixel_step][lane];
        if (!careful) {
          for (int r = 0; r < CONV_ROWS; ++r)
            for (int p = 0; p < CONV_PIXELS; ++p) sums[r][p] = fma(factors[r], values[p], sums[r][p]);
        } else {
          for (int p = 0; p < CONV_PIXELS; ++p) {
            const int ix = mine + j * step_h + p * pixel_step;
            if (ix >= 0 && ix < (int)width)
              for (int r = 0; r < CONV_ROWS; ++r) sums[r][p] = fma(factors[r], values[p], sums[r][p]);
          }
        }
      }
    BARRIER();
    for (tap_line += lines; tap_line >= lines_each; tap_line -= lines_each) ++channel;
  }
  if (s >= samples) return;
  for (int r = 0; r < CONV_ROWS; ++r)
    for (int p = 0; p < CONV_PIXELS; ++p)
      if (my_row + r < rows && p < pixels_left)
        y[(((group_of * rows + my_row + r) * out_height + oy) * out_width + phase_h + (my_q + p) * h_phases) * y_stride +
          s] = sums[r][p];
}
#endif
