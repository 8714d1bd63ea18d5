// Linear, one work-item per output, in groups of 16 by 16: x is the column, y the row.

KERNEL linear_forward_naive(IN(REAL, x), I64 x_stride, IN(REAL, w), I64 w_stride, IN(REAL, b), OUT(REAL, y),
                            I64 y_stride, I64 in, I64 out, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, w);
  USE_IN(REAL, b);
  USE_OUT(REAL, y);
  const I64 s = GLOBAL_ITEM(0), o = GLOBAL_ITEM(1);
  if (s >= samples || o >= out) return;
  REAL sum = b_base ? b[o] : R(0);
  for (I64 i = 0; i < in; ++i) sum = fma(w[o * w_stride + i], x[i * x_stride + s], sum);
  y[o * y_stride + s] = sum;
}

KERNEL linear_backward_data_naive(IN(REAL, w), I64 w_stride, IN(REAL, dy), I64 dy_stride, OUT(REAL, dx), I64 dx_stride,
                                  I64 in, I64 out, I64 samples) {
  USE_IN(REAL, w);
  USE_IN(REAL, dy);
  USE_OUT(REAL, dx);
  const I64 s = GLOBAL_ITEM(0), i = GLOBAL_ITEM(1);
  if (s >= samples || i >= in) return;
  REAL sum = R(0);
  for (I64 o = 0; o < out; ++o) sum = fma(w[o * w_stride + i], dy[o * dy_stride + s], sum);
  dx[i * dx_stride + s] = sum;
}

// Column `in` of the launch is the bias.
KERNEL linear_backward_weights_naive(IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride, IN(I64, bounds), I64 slots,
                                     OUT(REAL, dw), I64 dw_stride, OUT(REAL, db), I64 in, I64 out) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(I64, bounds);
  USE_OUT(REAL, dw);
  USE_OUT(REAL, db);
  const I64 i = GLOBAL_ITEM(0), o = GLOBAL_ITEM(1);
  if (i > in || o >= out || (i == in && !db_base)) return;
  REAL stack[SLOT_LEVELS];
  REAL root = R(0);
  for (I64 slot = 0; slot < slots; ++slot) {
    REAL sum = R(0);
    for (I64 s = bounds[slot]; s < bounds[slot + 1]; ++s)
      sum = i < in ? fma(dy[o * dy_stride + s], x[i * x_stride + s], sum) : sum + dy[o * dy_stride + s];
    root = push_slot(stack, slot, sum);
  }
  if (i < in)
    dw[o * dw_stride + i] = root;
  else
    db[o] = root;
}
