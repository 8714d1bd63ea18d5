// Linear with tiles in local memory, for devices whose work-items hold one sample: groups of 16 by 16 work-items compute
// 128 by 128 outputs, eight by eight each, from slices of 16 terms that all of them read; 64 by 64, 32 by 32, 16 by 16 or,
// with 8 by 8 work-items, 8 by 8 outputs where the larger tiles would be fewer than the multiprocessors. Forward and the
// gradient by the data are one kernel: y(r, s) = b(r) + the chain over k of w[r * row_step + k * k_step] * x(k, s).
//
// Outputs of a work-item lie side by side in fours, so that it reads four factors, or four values, by one load of 16 bytes:
// two loads for 16 fma, four for 64.
#if LANES == 1
#define SLICE 16
#define LINEAR_STRIDE(tile) ((tile) + 4) /* keeps 16 bytes together, and spreads the stores over the banks */
#define LINEAR_TILED(NAME, WORKERS, SIDE)                                                                              \
  KERNEL NAME(IN(REAL, x), I64 x_stride, IN(REAL, w), I64 row_step, I64 k_step, IN(REAL, b), OUT(REAL, y),             \
              I64 y_stride, I64 depth, I64 rows, I64 samples) {                                                        \
    enum { kTile = (SIDE) * (WORKERS), kFetches = SLICE * (SIDE) / (WORKERS), kPart = (SIDE) < 4 ? (SIDE) : 4 };       \
    USE_IN(REAL, x);                                                                                                   \
    USE_IN(REAL, w);                                                                                                   \
    USE_OUT(REAL, y);                                                                                                  \
    GLOBAL const REAL *b = b_base ? b_base + USE_AT(b) : 0;                                                            \
    LOCAL ALIGNED_16 REAL w_tile[SLICE][LINEAR_STRIDE(kTile)];                                                         \
    LOCAL ALIGNED_16 REAL x_tile[SLICE][LINEAR_STRIDE(kTile)];                                                         \
    const int item = ITEM(1) * (WORKERS) + ITEM(0), my_row = ITEM(1) * (SIDE), my_col = ITEM(0) * kPart;               \
    const I64 first_row = GROUP(0) * kTile, first_col = GROUP(1) * kTile;                                              \
    REAL sums[SIDE][SIDE];                                                                                             \
    for (int r = 0; r < (SIDE); ++r)                                                                                   \
      for (int s = 0; s < (SIDE); ++s)                                                                                 \
        sums[r][s] = b && first_row + my_row + r < rows ? b[first_row + my_row + r] : R(0);                            \
    for (I64 k0 = 0; k0 < depth; k0 += SLICE) {                                                                        \
      /* All loads before the stores. Consecutive work-items read consecutive numbers of whichever axis of w is        \
         contiguous. */                                                                                                \
      REAL fetched_w[kFetches], fetched_x[kFetches];                                                                   \
      for (int e = 0; e < kFetches; ++e) {                                                                             \
        const int at = item + (WORKERS) * (WORKERS) * e, k = k_step == 1 ? at % SLICE : at / kTile;                    \
        const I64 row = first_row + (k_step == 1 ? at / SLICE : at % kTile);                                           \
        fetched_w[e] = k0 + k < depth && row < rows ? w[row * row_step + (k0 + k) * k_step] : R(0);                    \
      }                                                                                                                \
      for (int e = 0; e < kFetches; ++e) {                                                                             \
        const int at = item + (WORKERS) * (WORKERS) * e, k = at / kTile;                                               \
        const I64 col = first_col + at % kTile;                                                                        \
        fetched_x[e] = k0 + k < depth && col < samples ? x[(k0 + k) * x_stride + col] : R(0);                          \
      }                                                                                                                \
      for (int e = 0; e < kFetches; ++e) {                                                                             \
        const int at = item + (WORKERS) * (WORKERS) * e;                                                               \
        if (k_step == 1)                                                                                               \
          w_tile[at % SLICE][at / SLICE] = fetched_w[e];                                                               \
        else                                                                                                           \
          w_tile[at / kTile][at % kTile] = fetched_w[e];                                                               \
        x_tile[at / kTile][at % kTile] = fetched_x[e];                                                                 \
      }                                                                                                                \
      BARRIER();                                                                                                       \
      const int last = depth - k0 < SLICE ? (int)(depth - k0) : SLICE;                                                 \
      for (int k = 0; k < last; ++k) {                                                                                 \
        REAL factors[SIDE], values[SIDE];                                                                              \
        for (int r = 0; r < (SIDE); ++r) factors[r] = w_tile[k][my_row + r];                                           \
        for (int s = 0; s < (SIDE); ++s) values[s] = x_tile[k][my_col + s % kPart + s / kPart * (kPart * (WORKERS))];  \
        for (int r = 0; r < (SIDE); ++r)                                                                               \
          for (int s = 0; s < (SIDE); ++s) sums[r][s] = fma(factors[r], values[s], sums[r][s]);                        \
      }                                                                                                                \
      BARRIER();                                                                                                       \
    }                                                                                                                  \
    for (int r = 0; r < (SIDE); ++r)                                                                                   \
      for (int s = 0; s < (SIDE); ++s) {                                                                               \
        const I64 row = first_row + my_row + r, col = first_col + my_col + s % kPart + s / kPart * (kPart * (WORKERS));\
        if (row < rows && col < samples) y[row * y_stride + col] = sums[r][s];                                         \
      }                                                                                                                \
  }
LINEAR_TILED(linear_tiled_8, 16, 8)
LINEAR_TILED(linear_tiled, 16, 4)
LINEAR_TILED(linear_tiled_2, 16, 2)
LINEAR_TILED(linear_tiled_1, 16, 1)
LINEAR_TILED(linear_tiled_small, 8, 1)

// Gradients of weights and bias in the same tiles: dw(r, i) is a chain over the samples of a slot, and slots are added up
// in their tree. Input number `in` is 1 everywhere and belongs to the bias. A group takes slots_each slots, an aligned
// power of two, and keeps the left branches of their tree in `stack`, [level][rows][in + 1] for each chunk of slots: in
// memory of the device, because a stack of the work-item's own is taken for all work-items that could run. What several
// chunks leave is added by add_slots. Four by four outputs each, or fewer where tiles would be fewer than the
// multiprocessors.
#define STACK_AT(r, i) stack[level * stack_step + (first_row + my_row + (r)) * (in + 1) + first_col + column + 16 * (i)]
#define IN_TILE(r, i) (first_row + my_row + (r) < rows && first_col + column + 16 * (i) <= in)
#define LINEAR_WEIGHTS(NAME, SIDE)                                                                                     \
  KERNEL NAME(IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride, IN(I64, bounds), I64 slots_each,                 \
                OUT(REAL, dw), I64 dw_stride, OUT(REAL, db), I64 chunk_step, OUT(REAL, stack),                         \
                I64 stack_step, I64 levels, I64 in, I64 rows) {                                                        \
    USE_IN(REAL, x);                                                                                                   \
    USE_IN(REAL, dy);                                                                                                  \
    USE_IN(I64, bounds);                                                                                               \
    USE_OUT(REAL, dw);                                                                                                 \
    USE_OUT(REAL, db);                                                                                                 \
    USE_OUT(REAL, stack);                                                                                              \
    LOCAL ALIGNED_16 REAL dy_tile[SLICE][LINEAR_STRIDE(16 * (SIDE))];                                                  \
    LOCAL REAL x_tile[SLICE][16 * (SIDE) + 1];                                                                         \
    const int column = ITEM(0), my_row = ITEM(1) * (SIDE), item = ITEM(1) * 16 + column;                               \
    const I64 first_row = GROUP(0) * (16 * (SIDE)), first_col = GROUP(1) * (16 * (SIDE));                              \
    const I64 first_slot = GROUP(2) * slots_each;                                                                      \
    REAL sums[SIDE][SIDE] = {{R(0)}};                                                                                  \
    for (I64 slot = 0; slot < slots_each; ++slot) {                                                                    \
      const I64 end = bounds[first_slot + slot + 1];                                                                   \
      for (int r = 0; r < (SIDE); ++r)                                                                                 \
        for (int i = 0; i < (SIDE); ++i) sums[r][i] = R(0);                                                            \
      for (I64 s0 = bounds[first_slot + slot]; s0 < end; s0 += SLICE) {                                                \
        /* Consecutive work-items read consecutive samples; all loads before the stores. */                            \
        REAL fetched_dy[SIDE], fetched_x[SIDE];                                                                        \
        for (int e = 0; e < (SIDE); ++e) {                                                                             \
          const int k = (item + 256 * e) % SLICE, r = (item + 256 * e) / SLICE;                                        \
          const I64 row = first_row + r, col = first_col + r;                                                          \
          fetched_dy[e] = s0 + k < end && row < rows ? dy[row * dy_stride + s0 + k] : R(0);                            \
          fetched_x[e] = s0 + k < end && col < in ? x[col * x_stride + s0 + k] : R(1);                                 \
        }                                                                                                              \
        for (int e = 0; e < (SIDE); ++e) {                                                                             \
          const int k = (item + 256 * e) % SLICE, r = (item + 256 * e) / SLICE;                                        \
          dy_tile[k][r] = fetched_dy[e];                                                                               \
          x_tile[k][r] = fetched_x[e];                                                                                 \
        }                                                                                                              \
        BARRIER();                                                                                                     \
        const int last = end - s0 < SLICE ? (int)(end - s0) : SLICE;                                                   \
        for (int k = 0; k < last; ++k) {                                                                               \
          REAL factors[SIDE], values[SIDE];                                                                            \
          for (int r = 0; r < (SIDE); ++r) factors[r] = dy_tile[k][my_row + r];                                        \
          for (int i = 0; i < (SIDE); ++i) values[i] = x_tile[k][column + 16 * i];                                     \
          for (int r = 0; r < (SIDE); ++r)                                                                             \
            for (int i = 0; i < (SIDE); ++i) sums[r][i] = fma(factors[r], values[i], sums[r][i]);                      \
        }                                                                                                              \
        BARRIER();                                                                                                     \
      }                                                                                                                \
      /* The other half of a pair of branches was put there by this work-item. */                                      \
      I64 level = GROUP(2) * levels;                                                                                   \
      for (I64 left = slot; left & 1; left >>= 1, ++level)                                                             \
        for (int r = 0; r < (SIDE); ++r)                                                                               \
          for (int i = 0; i < (SIDE); ++i)                                                                             \
            if (IN_TILE(r, i)) sums[r][i] = STACK_AT(r, i) + sums[r][i];                                               \
      if (slot + 1 < slots_each)                                                                                       \
        for (int r = 0; r < (SIDE); ++r)                                                                               \
          for (int i = 0; i < (SIDE); ++i)                                                                             \
            if (IN_TILE(r, i)) STACK_AT(r, i) = sums[r][i];                                                            \
    }                                                                                                                  \
    for (int r = 0; r < (SIDE); ++r)                                                                                   \
      for (int i = 0; i < (SIDE); ++i) {                                                                               \
        const I64 row = first_row + my_row + r, col = first_col + column + 16 * i;                                     \
        if (row < rows && col < in) dw[GROUP(2) * chunk_step + row * dw_stride + col] = sums[r][i];                    \
        if (row < rows && col == in && db_base) db[GROUP(2) * chunk_step + row] = sums[r][i];                          \
      }                                                                                                                \
  }
LINEAR_WEIGHTS(linear_weights_tiled, 4)
LINEAR_WEIGHTS(linear_weights_tiled_2, 2)
LINEAR_WEIGHTS(linear_weights_tiled_1, 1)
#endif
