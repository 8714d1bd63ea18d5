// Convolution, one work-item per output: x is the sample, y the output's row of the matrix.

KERNEL conv2d_forward_naive(CONV_SHAPE, IN(REAL, x), I64 x_stride, IN(REAL, w), IN(REAL, b), OUT(REAL, y),
                            I64 y_stride, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, w);
  USE_IN(REAL, b);
  USE_OUT(REAL, y);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= samples) return;
  const I64 in_per_group = in_channels / groups, out_per_group = out_channels / groups;
  const I64 rows = out_channels * out_height * out_width;
  for (I64 row = GLOBAL_ITEM(1); row < rows; row += GLOBAL_ITEMS(1)) {
    const I64 ox = row % out_width, oy = row / out_width % out_height, oc = row / (out_width * out_height);
    const I64 first_channel = oc / out_per_group * in_per_group;
    REAL sum = b_base ? b[oc] : R(0);
    for (I64 ic = 0; ic < in_per_group; ++ic)
      for (I64 ky = 0; ky < kernel_h; ++ky) {
        const I64 iy = oy * stride_h + ky * dilation_h - pad_h;
        if (iy < 0 || iy >= in_height) continue;
        for (I64 kx = 0; kx < kernel_w; ++kx) {
          const I64 ix = ox * stride_w + kx * dilation_w - pad_w;
          if (ix < 0 || ix >= in_width) continue;
          sum = fma(w[((oc * in_per_group + ic) * kernel_h + ky) * kernel_w + kx],
                    x[(((first_channel + ic) * in_height + iy) * in_width + ix) * x_stride + s], sum);
        }
      }
    y[row * y_stride + s] = sum;
  }
}

KERNEL conv2d_backward_data_naive(CONV_SHAPE, IN(REAL, w), IN(REAL, dy), I64 dy_stride, OUT(REAL, dx), I64 dx_stride,
                                  I64 samples) {
  USE_IN(REAL, w);
  USE_IN(REAL, dy);
  USE_OUT(REAL, dx);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= samples) return;
  const I64 in_per_group = in_channels / groups, out_per_group = out_channels / groups;
  const I64 rows = in_channels * in_height * in_width;
  for (I64 row = GLOBAL_ITEM(1); row < rows; row += GLOBAL_ITEMS(1)) {
    const I64 ix = row % in_width, iy = row / in_width % in_height, channel = row / (in_width * in_height);
    const I64 group_of = channel / in_per_group, ic = channel % in_per_group;
    REAL sum = R(0);
    for (I64 oc = group_of * out_per_group; oc < (group_of + 1) * out_per_group; ++oc)
      for (I64 ky = 0; ky < kernel_h; ++ky) {
        const I64 at_y = iy + pad_h - ky * dilation_h, oy = at_y / stride_h;
        if (at_y < 0 || oy * stride_h != at_y || oy >= out_height) continue;
        for (I64 kx = 0; kx < kernel_w; ++kx) {
          const I64 at_x = ix + pad_w - kx * dilation_w, ox = at_x / stride_w;
          if (at_x < 0 || ox * stride_w != at_x || ox >= out_width) continue;
          sum = fma(w[((oc * in_per_group + ic) * kernel_h + ky) * kernel_w + kx],
                    dy[((oc * out_height + oy) * out_width + ox) * dy_stride + s], sum);
        }
      }
    dx[row * dx_stride + s] = sum;
  }
}

// One work-item per weight; behind the weights, one per bias.
KERNEL conv2d_backward_weights_naive(CONV_SHAPE, IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride,
                                     IN(I64, bounds), I64 slots, OUT(REAL, dw), OUT(REAL, db)) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(I64, bounds);
  USE_OUT(REAL, dw);
  USE_OUT(REAL, db);
  const I64 in_per_group = in_channels / groups, out_per_group = out_channels / groups;
  const I64 weights = out_channels * in_per_group * kernel_h * kernel_w;
  const I64 item = GLOBAL_ITEM(0);
  if (item >= weights + (db_base ? out_channels : 0)) return;
  const int is_bias = item >= weights;
  const I64 kx = item % kernel_w, ky = item / kernel_w % kernel_h, ic = item / (kernel_w * kernel_h) % in_per_group;
  const I64 oc = is_bias ? item - weights : item / (kernel_w * kernel_h * in_per_group);
  const I64 channel = oc / out_per_group * in_per_group + ic;
  REAL stack[SLOT_LEVELS], lanes[VIRTUAL_LANES];
  REAL root = R(0);
  for (I64 slot = 0; slot < slots; ++slot) {
    for (int l = 0; l < VIRTUAL_LANES; ++l) lanes[l] = R(0);
    for (I64 block = bounds[slot]; block < bounds[slot + 1]; block += VIRTUAL_LANES) {
      const I64 left = bounds[slot + 1] - block;
      for (I64 oy = 0; oy < out_height; ++oy)
        for (I64 ox = 0; ox < out_width; ++ox) {
          const I64 iy = oy * stride_h + ky * dilation_h - pad_h, ix = ox * stride_w + kx * dilation_w - pad_w;
          const int outside = iy < 0 || iy >= in_height || ix < 0 || ix >= in_width;
          if (!is_bias && outside) continue;
          GLOBAL const REAL *dy_row = dy + ((oc * out_height + oy) * out_width + ox) * dy_stride + block;
          GLOBAL const REAL *x_row = x + (is_bias ? 0 : ((channel * in_height + iy) * in_width + ix) * x_stride + block);
          for (int l = 0; l < VIRTUAL_LANES && l < left; ++l)
            lanes[l] = is_bias ? lanes[l] + dy_row[l] : fma(dy_row[l], x_row[l], lanes[l]);
        }
    }
    root = push_slot(stack, slot, lane_tree(lanes));
  }
  if (is_bias)
    db[oc] = root;
  else
    dw[item] = root;
}
