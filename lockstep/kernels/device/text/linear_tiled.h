// Linear with tiles in local memory, for devices whose work-items hold one sample: groups of 16 by 16 work-items compute
// 64 by 64 outputs, four by four each, from slices of 16 terms that all of them read. Forward and the gradient by the
// data are one kernel: y(r, s) = b(r) + the chain over k of w[r * row_step + k * k_step] * x(k, s).
#if LANES == 1
#define SLICE 16
#define BLOCK 64
KERNEL linear_tiled(IN(REAL, x), I64 x_stride, IN(REAL, w), I64 row_step, I64 k_step, IN(REAL, b), OUT(REAL, y),
                    I64 y_stride, I64 depth, I64 rows, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, w);
  USE_OUT(REAL, y);
  GLOBAL const REAL *b = b_base ? b_base + USE_AT(b) : 0;
  LOCAL REAL w_tile[SLICE][BLOCK + 1];
  LOCAL REAL x_tile[SLICE][BLOCK];
  const int column = ITEM(0), line = ITEM(1), item = line * 16 + column;
  const I64 first_row = GROUP(1) * BLOCK, first_col = GROUP(0) * BLOCK;
  REAL sums[4][4];
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) {
      const I64 row = first_row + line + 16 * r;
      sums[r][s] = b && row < rows ? b[row] : R(0);
    }
  for (I64 k0 = 0; k0 < depth; k0 += SLICE) {
    // Consecutive work-items read consecutive numbers of whichever axis of w is contiguous.
    for (int e = item; e < SLICE * BLOCK; e += 256) {
      const int k = k_step == 1 ? e % SLICE : e / BLOCK, r = k_step == 1 ? e / SLICE : e % BLOCK;
      const I64 row = first_row + r;
      w_tile[k][r] = k0 + k < depth && row < rows ? w[row * row_step + (k0 + k) * k_step] : R(0);
    }
    for (int e = item; e < SLICE * BLOCK; e += 256) {
      const int k = e / BLOCK, s = e % BLOCK;
      x_tile[k][s] = k0 + k < depth && first_col + s < samples ? x[(k0 + k) * x_stride + first_col + s] : R(0);
    }
    BARRIER();
    const int last = depth - k0 < SLICE ? (int)(depth - k0) : SLICE;
    for (int k = 0; k < last; ++k) {
      REAL factors[4], values[4];
      for (int r = 0; r < 4; ++r) factors[r] = w_tile[k][line + 16 * r];
      for (int s = 0; s < 4; ++s) values[s] = x_tile[k][column + 16 * s];
      for (int r = 0; r < 4; ++r)
        for (int s = 0; s < 4; ++s) sums[r][s] = fma(factors[r], values[s], sums[r][s]);
    }
    BARRIER();
  }
  for (int r = 0; r < 4; ++r)
    for (int s = 0; s < 4; ++s) {
      const I64 row = first_row + line + 16 * r, col = first_col + column + 16 * s;
      if (row < rows && col < samples) y[row * y_stride + col] = sums[r][s];
    }
}

// Gradients of weights and bias in the same tiles: dw(r, i) is a chain over the samples of a slot, and slots are added up
// in their tree. Input number `in` is 1 everywhere and belongs to the bias. A group takes slots_each slots, an aligned
// power of two; what several chunks of slots leave is added by add_slots.
KERNEL linear_weights_tiled(IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride, IN(I64, bounds), I64 slots_each,
                            OUT(REAL, dw), I64 dw_stride, OUT(REAL, db), I64 chunk_step, I64 in, I64 rows) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(I64, bounds);
  USE_OUT(REAL, dw);
  USE_OUT(REAL, db);
  LOCAL REAL dy_tile[SLICE][BLOCK + 1];
  LOCAL REAL x_tile[SLICE][BLOCK + 1];
  const int column = ITEM(0), line = ITEM(1), item = line * 16 + column;
  const I64 first_row = GROUP(1) * BLOCK, first_col = GROUP(0) * BLOCK, first_slot = GROUP(2) * slots_each;
  REAL stack[SLOT_LEVELS][4][4], sums[4][4];
  for (I64 slot = 0; slot < slots_each; ++slot) {
    const I64 end = bounds[first_slot + slot + 1];
    for (int r = 0; r < 4; ++r)
      for (int i = 0; i < 4; ++i) sums[r][i] = R(0);
    for (I64 s0 = bounds[first_slot + slot]; s0 < end; s0 += SLICE) {
      // Consecutive work-items read consecutive samples.
      for (int e = item; e < SLICE * BLOCK; e += 256) {
        const int k = e % SLICE, r = e / SLICE;
        const I64 row = first_row + r, col = first_col + r;
        dy_tile[k][r] = s0 + k < end && row < rows ? dy[row * dy_stride + s0 + k] : R(0);
        x_tile[k][r] = s0 + k < end && col < in ? x[col * x_stride + s0 + k] : R(1);
      }
      BARRIER();
      const int last = end - s0 < SLICE ? (int)(end - s0) : SLICE;
      for (int k = 0; k < last; ++k) {
        REAL factors[4], values[4];
        for (int r = 0; r < 4; ++r) factors[r] = dy_tile[k][line + 16 * r];
        for (int i = 0; i < 4; ++i) values[i] = x_tile[k][column + 16 * i];
        for (int r = 0; r < 4; ++r)
          for (int i = 0; i < 4; ++i) sums[r][i] = fma(factors[r], values[i], sums[r][i]);
      }
      BARRIER();
    }
    int level = 0;
    for (I64 left = slot; left & 1; left >>= 1, ++level)
      for (int r = 0; r < 4; ++r)
        for (int i = 0; i < 4; ++i) sums[r][i] = stack[level][r][i] + sums[r][i];
    if (slot + 1 < slots_each)
      for (int r = 0; r < 4; ++r)
        for (int i = 0; i < 4; ++i) stack[level][r][i] = sums[r][i];
  }
  for (int r = 0; r < 4; ++r)
    for (int i = 0; i < 4; ++i) {
      const I64 row = first_row + line + 16 * r, col = first_col + column + 16 * i;
      if (row < rows && col < in) dw[GROUP(2) * chunk_step + row * dw_stride + col] = sums[r][i];
      if (row < rows && col == in && db_base) db[GROUP(2) * chunk_step + row] = sums[r][i];
    }
}
#endif
