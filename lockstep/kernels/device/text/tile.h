// Tiles in registers, for linear.h and conv2d.h: a work-item computes 6, 4 or 1 rows of outputs by two vectors of samples.
// Every output stays one chain, so the bits do not depend on the tile.

#define TILE_COLS (2 * LANES)
#define ROWS_6(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define ROWS_4(X) X(0) X(1) X(2) X(3)
#define ROWS_1(X) X(0)

// What rows are cut into: as many sixes as there are, then a four, then ones. The host counts them the same way.
#define TILE_ROWS 6
DEVICE int tile_rows(I64 rows, I64 tile) {
  const I64 sixes = rows / 6;
  return tile < sixes ? 6 : tile == sixes && rows % 6 >= 4 ? 4 : 1;
}
DEVICE I64 tile_first(I64 rows, I64 tile) {
  const I64 sixes = rows / 6;
  if (tile <= sixes) return tile * 6;
  return sixes * 6 + (rows % 6 >= 4 ? 4 + (tile - sixes - 1) : tile - sixes);
}

// Two vectors of samples, all there or some missing.
#define FETCH_ALL(v0, v1, p, n)       \
  const LANE v0 = LOAD(p);            \
  const LANE v1 = LOAD((p) + LANES);
#define FETCH_PART(v0, v1, p, n)               \
  const LANE v0 = take(p, n, R(0));            \
  const LANE v1 = take((p) + LANES, (n) - LANES, R(0));
#define FMA_ROW(j, weight)                \
  {                                       \
    const LANE factor = SET(weight);      \
    a##j = fma(factor, v0, a##j);         \
    c##j = fma(factor, v1, c##j);         \
  }
#define GIVE_ROW(j, p, n)         \
  give(a##j, p, n);               \
  give(c##j, (p) + LANES, (n) - LANES);
