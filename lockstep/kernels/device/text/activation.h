// Activations, addition and dropout. Work-items walk rows and blocks of LANES samples in steps of the launch's size, so
// that any shape of launch does all the work.

DEVICE LANE gelu_tanh(LANE x) {
  const LANE u = SET(R(0.7978845608028654)) * fma(SET(R(0.044715)) * (x * x), x, x);
  return real_tanh(u);
}

DEVICE LANE activate(int kind, REAL slope, LANE x) {
  const LANE zero = SET(0);
  if (kind == RELU) return x > zero ? x : zero;
  if (kind == LEAKY_RELU) return x > zero ? x : SET(slope) * x;
  if (kind == SIGMOID) return real_sigmoid(SET(slope) * x);
  if (kind == GELU) return (SET(R(0.5)) * x) * (SET(1) + gelu_tanh(x));
  const LANE t = real_tanh(x);
  if (kind == ABS_TANH) return t < zero ? -t : t;
  return t;
}

DEVICE LANE activation_gradient(int kind, REAL slope, LANE x, LANE y, LANE dy) {
  const LANE zero = SET(0);
  if (kind == RELU) return x > zero ? dy : zero;
  if (kind == LEAKY_RELU) return x > zero ? dy : SET(slope) * dy;
  if (kind == SIGMOID) return (SET(slope) * dy) * (y * (SET(1) - y));
  if (kind == GELU) {
    const LANE t = gelu_tanh(x);
    const LANE slope_of_u = SET(R(0.7978845608028654)) * fma(SET(R(0.134145)) * x, x, SET(1));
    const LANE slope_of_t = fma(-t, t, SET(1)) * slope_of_u;
    return dy * (SET(R(0.5)) * fma(x, slope_of_t, SET(1) + t));
  }
  const LANE d = dy * fma(-y, y, SET(1));
  if (kind == ABS_TANH) return x < zero ? -d : d;
  return d;
}

#define FOR_EACH_BLOCK(rows, cols)                                        \
  for (I64 row = GLOBAL_ITEM(1); row < (rows); row += GLOBAL_ITEMS(1))    \
    for (I64 col = GLOBAL_ITEM(0) * LANES; col < (cols); col += GLOBAL_ITEMS(0) * LANES)

KERNEL activation_forward(int kind, REAL slope, IN(REAL, x), I64 x_stride, OUT(REAL, y), I64 y_stride, I64 rows,
                          I64 cols) {
  USE_IN(REAL, x);
  USE_OUT(REAL, y);
  FOR_EACH_BLOCK(rows, cols) {
    const LANE value = take(x + row * x_stride + col, cols - col, R(0));
    give(activate(kind, slope, value), y + row * y_stride + col, cols - col);
  }
}

KERNEL activation_backward(int kind, REAL slope, IN(REAL, x), I64 x_stride, IN(REAL, y), I64 y_stride, IN(REAL, dy),
                           I64 dy_stride, OUT(REAL, dx), I64 dx_stride, I64 rows, I64 cols) {
  USE_IN(REAL, x);
  USE_IN(REAL, y);
  USE_IN(REAL, dy);
  USE_OUT(REAL, dx);
  FOR_EACH_BLOCK(rows, cols) {
    const I64 n = cols - col;
    const LANE d = activation_gradient(kind, slope, take(x + row * x_stride + col, n, R(0)),
                                       take(y + row * y_stride + col, n, R(0)), take(dy + row * dy_stride + col, n, R(0)));
    give(d, dx + row * dx_stride + col, n);
  }
}

KERNEL add_matrices(IN(REAL, a), I64 a_stride, IN(REAL, b), I64 b_stride, OUT(REAL, y), I64 y_stride, I64 rows,
                    I64 cols) {
  USE_IN(REAL, a);
  USE_IN(REAL, b);
  USE_OUT(REAL, y);
  FOR_EACH_BLOCK(rows, cols)
  give(take(a + row * a_stride + col, cols - col, R(0)) + take(b + row * b_stride + col, cols - col, R(0)),
       y + row * y_stride + col, cols - col);
}

// Philox4x32-10 of core/philox.hpp; a work-item takes four rows of a column, which share one block of random words.
#define PHILOX_HIGH(a, b) ((U32)(((U64)(a) * (U64)(b)) >> 32))

KERNEL dropout(U32 key0, U32 key1, U32 purpose, U32 epoch, U32 layer, I64 first_row, U32 threshold, REAL scale,
               IN(I64, ids), IN(REAL, x), I64 x_stride, OUT(REAL, y), I64 y_stride, I64 rows, I64 cols) {
  USE_IN(I64, ids);
  USE_IN(REAL, x);
  USE_OUT(REAL, y);
  const I64 quads = (rows + DROPOUT_ROWS - 1) / DROPOUT_ROWS;
  for (I64 quad = GLOBAL_ITEM(1); quad < quads; quad += GLOBAL_ITEMS(1))
    for (I64 col = GLOBAL_ITEM(0); col < cols; col += GLOBAL_ITEMS(0)) {
      const U64 block = (U64)(first_row / DROPOUT_ROWS + quad);
      const U64 sample = (U64)ids[col];
      U32 c[4];
      c[0] = (U32)block;
      c[1] = (U32)sample;
      c[2] = (epoch << 8) | ((U32)(sample >> 32) & 0xFFU);
      c[3] = (purpose << 24) | ((layer & 0xFFFFU) << 8) | ((U32)(block >> 32) & 0xFFU);
      U32 k0 = key0, k1 = key1;
      for (int round_of = 0; round_of < 10; ++round_of) {
        const U32 high0 = PHILOX_HIGH(0xD2511F53U, c[0]), low0 = 0xD2511F53U * c[0];
        const U32 high1 = PHILOX_HIGH(0xCD9E8D57U, c[2]), low1 = 0xCD9E8D57U * c[2];
        c[0] = high1 ^ c[1] ^ k0;
        c[1] = low1;
        c[2] = high0 ^ c[3] ^ k1;
        c[3] = low0;
        k0 += 0x9E3779B9U;
        k1 += 0xBB67AE85U;
      }
      for (int j = 0; j < DROPOUT_ROWS; ++j) {
        const I64 row = quad * DROPOUT_ROWS + j;
        if (row < rows)
          y[row * y_stride + col] = c[j] >= threshold ? x[row * x_stride + col] * scale : R(0);
      }
    }
}
