// Helpers of several programs.

// The geometry of a convolution: what the kernels of convolutions take first.
#define CONV_SHAPE                                                                                              \
  I64 in_channels, I64 in_height, I64 in_width, I64 out_channels, I64 out_height, I64 out_width, I64 kernel_h,  \
      I64 kernel_w, I64 stride_h, I64 stride_w, I64 pad_h, I64 pad_w, I64 dilation_h, I64 dilation_w, I64 groups

// The LANES numbers from p on, of which the first n exist; the others are `rest`.
DEVICE LANE take(GLOBAL const REAL *p, I64 n, REAL rest) {
#if LANES == 1
  return n > 0 ? *p : rest;
#else
  if (n >= LANES) return LOAD(p);
  REAL part[LANES];
  for (int i = 0; i < LANES; ++i) part[i] = i < n ? p[i] : rest;
  return LOAD(part);
#endif
}

// The first n of the LANES numbers to p.
DEVICE void give(LANE value, GLOBAL REAL *p, I64 n) {
#if LANES == 1
  if (n > 0) *p = value;
#else
  if (n >= LANES) {
    STORE(value, p);
    return;
  }
  REAL part[LANES];
  STORE(value, part);
  for (int i = 0; i < n; ++i) p[i] = part[i];
#endif
}

// A binary counter of sums: pushing the sums of slots 0, 1, 2, ... makes the aligned binary tree, node = left + right.
// The count is a power of two, so the last push returns the root.
#define SLOT_LEVELS 13 /* at most 4096 slots */
DEVICE REAL push_slot(REAL *stack, I64 slot, REAL sum) {
  int level = 0;
  for (; slot & 1; slot >>= 1) sum = stack[level++] + sum;
  stack[level] = sum;
  return sum;
}

// The root over the sums of all slots; slot k's is sums[k * step]. The levels are written out, so that they are registers
// and not memory.
DEVICE REAL slot_tree(GLOBAL const REAL *sums, I64 step, I64 slots) {
  REAL stack[SLOT_LEVELS];
  REAL sum = R(0);
  for (I64 slot = 0; slot < slots; ++slot) {
    sum = sums[slot * step];
    int carries = 1;
#pragma unroll
    for (int level = 0; level < SLOT_LEVELS; ++level) {
      const int left = (int)(slot >> level) & 1;
      if (carries && left) sum = stack[level] + sum;
      if (carries && !left) stack[level] = sum;
      carries = carries && left;
    }
  }
  return sum;
}

// The slot of sample s: bounds[slot] <= s < bounds[slot + 1].
DEVICE I64 slot_of(GLOBAL const I64 *bounds, I64 slots, I64 s) {
  I64 first = 0, last = slots;
  while (last - first > 1) {
    const I64 middle = (first + last) / 2;
    if (bounds[middle] <= s)
      first = middle;
    else
      last = middle;
  }
  return first;
}

// The fixed tree over the 16 virtual lanes.
DEVICE REAL lane_tree(REAL *lanes) {
  for (int half_of = VIRTUAL_LANES / 2; half_of > 0; half_of /= 2)
    for (int l = 0; l < half_of; ++l) lanes[l] = lanes[l] + lanes[l + half_of];
  return lanes[0];
}
