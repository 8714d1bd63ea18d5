// The first exercises: the maximum of two matrices of integers, and x times its transpose.

// What a launch costs that does nothing.
KERNEL nothing(OUT(REAL, y)) { USE_OUT(REAL, y); (void)y; }

// Multiply-adds in registers, the most that a device can do: eight chains side by side, so that none waits for itself,
// and few enough for the registers of a processor. Written out, since an array would go through memory there.
KERNEL fma_peak(OUT(REAL, y), REAL factor, REAL addend, I64 rounds) {
  USE_OUT(REAL, y);
  const LANE f = SET(factor), a = SET(addend);
  LANE c0 = SET(R(0)), c1 = SET(R(1)), c2 = SET(R(2)), c3 = SET(R(3));
  LANE c4 = SET(R(4)), c5 = SET(R(5)), c6 = SET(R(6)), c7 = SET(R(7));
  for (I64 i = 0; i < rounds; ++i) {
    c0 = fma(c0, f, a);
    c1 = fma(c1, f, a);
    c2 = fma(c2, f, a);
    c3 = fma(c3, f, a);
    c4 = fma(c4, f, a);
    c5 = fma(c5, f, a);
    c6 = fma(c6, f, a);
    c7 = fma(c7, f, a);
  }
  STORE(c0 + c1 + c2 + c3 + c4 + c5 + c6 + c7, y + GLOBAL_ITEM(0) * LANES);
}

// One element per work-item.
KERNEL elementwise_max_each(IN(int, a), IN(int, b), OUT(int, c), I64 count) {
  USE_IN(int, a);
  USE_IN(int, b);
  USE_OUT(int, c);
  const I64 i = GLOBAL_ITEM(0);
  if (i < count) c[i] = a[i] > b[i] ? a[i] : b[i];
}

// LANES neighbours per work-item and turn; the next turn is `step` elements on.
KERNEL elementwise_max_turns(IN(int, a), IN(int, b), OUT(int, c), I64 count, I64 step) {
  USE_IN(int, a);
  USE_IN(int, b);
  USE_OUT(int, c);
  for (I64 i = GLOBAL_ITEM(0) * LANES; i < count; i += step) {
#if LANES > 1
    if (i + LANES <= count) {
      JOIN(vstore, LANES)(max(JOIN(vload, LANES)(0, a + i), JOIN(vload, LANES)(0, b + i)), 0, c + i);
      continue;
    }
#endif
    for (I64 j = i; j < count && j < i + LANES; ++j) c[j] = a[j] > b[j] ? a[j] : b[j];
  }
}

// y = x x^T with x [n, k], y [n, n]: the work-items take the elements of y in turns of `step`.
KERNEL xxt_elements(IN(REAL, x), OUT(REAL, y), I64 n, I64 k, I64 step) {
  USE_IN(REAL, x);
  USE_OUT(REAL, y);
  for (I64 e = GLOBAL_ITEM(0); e < n * n; e += step) {
    const I64 i = e / n, j = e % n;
    REAL sum = R(0);
    for (I64 t = 0; t < k; ++t) sum = fma(x[i * k + t], x[j * k + t], sum);
    y[e] = sum;
  }
}

// to [k, n], to(t, i) = x(i, t): one element per work-item.
KERNEL xxt_transpose(IN(REAL, x), OUT(REAL, to), I64 n, I64 k) {
  USE_IN(REAL, x);
  USE_OUT(REAL, to);
  const I64 e = GLOBAL_ITEM(0);
  if (e < n * k) to[e] = x[(e % n) * k + e / n];
}

// A work-item has XXT_ROWS rows of y and LANES columns: each number of x is loaded for LANES sums, each vector of the
// transpose for XXT_ROWS of them. x: columns, y: rows.
#define XXT_ROWS 6
KERNEL xxt_tiles(IN(REAL, x), IN(REAL, transposed), OUT(REAL, y), I64 n, I64 k) {
  USE_IN(REAL, x);
  USE_IN(REAL, transposed);
  USE_OUT(REAL, y);
  const I64 j = GLOBAL_ITEM(0) * LANES, first = GLOBAL_ITEM(1) * XXT_ROWS;
  if (j >= n || first >= n) return;
  LANE sum[XXT_ROWS];
  for (int r = 0; r < XXT_ROWS; ++r) sum[r] = SET(0);
  for (I64 t = 0; t < k; ++t) {
    const LANE column = take(transposed + t * n + j, n - j, R(0));
    for (int r = 0; r < XXT_ROWS; ++r) {
      const I64 row = first + r < n ? first + r : n - 1;
      sum[r] = fma(SET(x[row * k + t]), column, sum[r]);
    }
  }
  for (int r = 0; r < XXT_ROWS; ++r)
    if (first + r < n) give(sum[r], y + (first + r) * n + j, n - j);
}
