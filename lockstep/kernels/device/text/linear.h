// Linear in tiles of registers (tile.h), where work-items hold vectors of samples; others use linear_tiled.h. One kernel serves forward and the gradient by the data: y(r, s) = b(r) + the chain over k of
// w[r * row_step + k * k_step] * x(k, s).

#if LANES > 1
#define START_LINEAR(j)                                       \
  LANE a##j = SET(b ? b[row + j] : R(0)), c##j = a##j;        \
  GLOBAL const REAL *w##j = w + (row + j) * row_step;
#define STEP_LINEAR(j) FMA_ROW(j, w##j[k * k_step])
#define GIVE_LINEAR(j) GIVE_ROW(j, y + (row + j) * y_stride + col, n)

#define LINEAR_TILE(NAME, ROWS, FETCH)                                                                               \
  DEVICE void NAME(GLOBAL const REAL *x, I64 x_stride, GLOBAL const REAL *w, I64 row_step, I64 k_step,               \
                   GLOBAL const REAL *b, GLOBAL REAL *y, I64 y_stride, I64 depth, I64 row, I64 col, I64 n) {         \
    ROWS(START_LINEAR)                                                                                               \
    for (I64 k = 0; k < depth; ++k) {                                                                                \
      FETCH(v0, v1, x + k * x_stride + col, n)                                                                       \
      ROWS(STEP_LINEAR)                                                                                              \
    }                                                                                                                \
    ROWS(GIVE_LINEAR)                                                                                                \
  }
LINEAR_TILE(linear_tile_6, ROWS_6, FETCH_ALL)
LINEAR_TILE(linear_tile_4, ROWS_4, FETCH_ALL)
LINEAR_TILE(linear_tile_1, ROWS_1, FETCH_ALL)
LINEAR_TILE(linear_part_1, ROWS_1, FETCH_PART)

KERNEL linear_rows(IN(REAL, x), I64 x_stride, IN(REAL, w), I64 row_step, I64 k_step, IN(REAL, b), OUT(REAL, y),
                   I64 y_stride, I64 depth, I64 rows, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, w);
  USE_OUT(REAL, y);
  GLOBAL const REAL *b = b_base ? b_base + USE_AT(b) : 0;
  const I64 row = tile_first(rows, GLOBAL_ITEM(1)), count = tile_rows(rows, GLOBAL_ITEM(1));
  for (I64 col = GLOBAL_ITEM(0) * TILE_COLS; col < samples; col += GLOBAL_ITEMS(0) * TILE_COLS) {
    const I64 n = samples - col;
    if (n < TILE_COLS) {
      for (I64 r = row; r < row + count; ++r)
        linear_part_1(x, x_stride, w, row_step, k_step, b, y, y_stride, depth, r, col, n);
    } else if (count == 6) {
      linear_tile_6(x, x_stride, w, row_step, k_step, b, y, y_stride, depth, row, col, n);
    } else if (count == 4) {
      linear_tile_4(x, x_stride, w, row_step, k_step, b, y, y_stride, depth, row, col, n);
    } else {
      linear_tile_1(x, x_stride, w, row_step, k_step, b, y, y_stride, depth, row, col, n);
    }
  }
}

// t [samples][t_stride] = x transposed, a column of ones behind it (dy * 1 adds up the bias) and zeros to the end.
KERNEL linear_transpose(IN(REAL, x), I64 x_stride, OUT(REAL, t), I64 t_stride, I64 in, I64 samples) {
  USE_IN(REAL, x);
  USE_OUT(REAL, t);
  for (I64 block = GLOBAL_ITEM(1) * 16; block < t_stride; block += GLOBAL_ITEMS(1) * 16)
    for (I64 s = GLOBAL_ITEM(0); s < samples; s += GLOBAL_ITEMS(0)) {
      GLOBAL REAL *to = t + s * t_stride + block;
      const I64 last = t_stride - block < 16 ? t_stride - block : 16;
      if (block + last <= in) {
        GLOBAL const REAL *from = x + block * x_stride + s;
        for (int i = 0; i < last; ++i) to[i] = from[i * x_stride];
      } else {
        for (int i = 0; i < last; ++i)
          to[i] = block + i < in ? x[(block + i) * x_stride + s] : block + i == in ? R(1) : R(0);
      }
    }
}

#define START_WEIGHTS(j) \
  LANE a##j = SET(0), c##j = SET(0);
#define STEP_WEIGHTS(j) FMA_ROW(j, dy[(row + j) * dy_stride + s])
#define JOIN_WEIGHTS(j)                            \
  a##j = stack[level][2 * j] + a##j;               \
  c##j = stack[level][2 * j + 1] + c##j;
#define KEEP_WEIGHTS(j)          \
  stack[level][2 * j] = a##j;    \
  stack[level][2 * j + 1] = c##j;
#define GIVE_WEIGHTS(j)                                              \
  GIVE_ROW(j, dw + (row + j) * dw_stride + col, in - col)            \
  if (db && in - col < LANES && in >= col) {                         \
    REAL part[LANES];                                                \
    STORE(a##j, part);                                               \
    db[row + j] = part[in - col];                                    \
  } else if (db && in - col < TILE_COLS && in >= col) {              \
    REAL part[LANES];                                                \
    STORE(c##j, part);                                               \
    db[row + j] = part[in - col - LANES];                            \
  }

#define WEIGHTS_TILE(NAME, ROWS)                                                                                      \
  DEVICE void NAME(GLOBAL const REAL *t, I64 t_stride, GLOBAL const REAL *dy, I64 dy_stride, GLOBAL const I64 *bounds, \
                   I64 slots, GLOBAL REAL *dw, I64 dw_stride, GLOBAL REAL *db, I64 in, I64 row, I64 col) {            \
    LANE stack[SLOT_LEVELS][2 * TILE_ROWS];                                                                           \
    for (I64 slot = 0; slot < slots; ++slot) {                                                                        \
      ROWS(START_WEIGHTS)                                                                                             \
      for (I64 s = bounds[slot]; s < bounds[slot + 1]; ++s) {                                                         \
        FETCH_ALL(v0, v1, t + s * t_stride + col, TILE_COLS)                                                          \
        ROWS(STEP_WEIGHTS)                                                                                            \
      }                                                                                                               \
      int level = 0;                                                                                                  \
      for (I64 left = slot; left & 1; left >>= 1) {                                                                   \
        ROWS(JOIN_WEIGHTS)                                                                                            \
        ++level;                                                                                                      \
      }                                                                                                               \
      if (slot + 1 < slots) {                                                                                         \
        ROWS(KEEP_WEIGHTS)                                                                                            \
      } else {                                                                                                        \
        ROWS(GIVE_WEIGHTS)                                                                                            \
      }                                                                                                               \
    }                                                                                                                 \
  }
WEIGHTS_TILE(weights_tile_6, ROWS_6)
WEIGHTS_TILE(weights_tile_4, ROWS_4)
WEIGHTS_TILE(weights_tile_1, ROWS_1)

KERNEL linear_weights(IN(REAL, t), I64 t_stride, IN(REAL, dy), I64 dy_stride, IN(I64, bounds), I64 slots, OUT(REAL, dw),
                      I64 dw_stride, OUT(REAL, db), I64 in, I64 rows) {
  USE_IN(REAL, t);
  USE_IN(REAL, dy);
  USE_IN(I64, bounds);
  USE_OUT(REAL, dw);
  GLOBAL REAL *db = db_base ? db_base + USE_AT(db) : 0;
  const I64 row = tile_first(rows, GLOBAL_ITEM(1)), count = tile_rows(rows, GLOBAL_ITEM(1));
  for (I64 col = GLOBAL_ITEM(0) * TILE_COLS; col < t_stride; col += GLOBAL_ITEMS(0) * TILE_COLS) {
    if (count == 6)
      weights_tile_6(t, t_stride, dy, dy_stride, bounds, slots, dw, dw_stride, db, in, row, col);
    else if (count == 4)
      weights_tile_4(t, t_stride, dy, dy_stride, bounds, slots, dw, dw_stride, db, in, row, col);
    else
      weights_tile_1(t, t_stride, dy, dy_stride, bounds, slots, dw, dw_stride, db, in, row, col);
  }
}
#endif
