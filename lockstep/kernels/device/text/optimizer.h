// Optimiser steps, sums of squares, running statistics. A work-item takes a range of blocks of LANES elements.

#define FOR_SHARE(count, item, items)                                                       \
  const I64 blocks = ((count) + LANES - 1) / LANES;                                         \
  const I64 share = (blocks + (items) - 1) / (items);                                       \
  const I64 first = (item) * share, last = first + share < blocks ? first + share : blocks; \
  for (I64 i = first * LANES; i < last * LANES; i += LANES)
#define FOR_RANGE(count) FOR_SHARE(count, GLOBAL_ITEM(0), GLOBAL_ITEMS(0))

KERNEL add_l2(REAL l2, IN(REAL, w), OUT(REAL, g), I64 count) {
  USE_IN(REAL, w);
  USE_OUT(REAL, g);
  FOR_RANGE(count) {
    const I64 n = count - i;
    give(fma(SET(l2), take(w + i, n, R(0)), take(g + i, n, R(0))), g + i, n);
  }
}

KERNEL scale_gradient(REAL factor, OUT(REAL, g), I64 count) {
  USE_OUT(REAL, g);
  FOR_RANGE(count)
  give(take(g + i, count - i, R(0)) * SET(factor), g + i, count - i);
}

// The same for stretches of a vector, by one launch: of stretch k, ranges[3 k] is the first group of work-items that takes
// part, ranges[3 k + 1] and ranges[3 k + 2] are begin and end. Behind the last one comes the number of groups.
#define FOR_STRETCH                                                                             \
  I64 k = 0;                                                                                    \
  for (I64 behind = stretches; behind - k > 1;) {                                               \
    const I64 middle = (k + behind) / 2;                                                        \
    if (ranges[3 * middle] <= GROUP(0))                                                         \
      k = middle;                                                                               \
    else                                                                                        \
      behind = middle;                                                                          \
  }                                                                                             \
  const I64 group = ranges[3 * k], begin = ranges[3 * k + 1], count = ranges[3 * k + 2] - begin; \
  FOR_SHARE(count, (GROUP(0) - group) * ITEMS(0) + ITEM(0), (ranges[3 * k + 3] - group) * ITEMS(0))

KERNEL add_l2_ranges(REAL l2, IN(REAL, w), OUT(REAL, g), IN(I64, ranges), I64 stretches) {
  USE_IN(REAL, w);
  USE_OUT(REAL, g);
  USE_IN(I64, ranges);
  FOR_STRETCH {
    const I64 n = count - i;
    give(fma(SET(l2), take(w + begin + i, n, R(0)), take(g + begin + i, n, R(0))), g + begin + i, n);
  }
}

KERNEL scale_ranges(REAL factor, OUT(REAL, g), IN(I64, ranges), I64 stretches) {
  USE_OUT(REAL, g);
  USE_IN(I64, ranges);
  FOR_STRETCH
  give(take(g + begin + i, count - i, R(0)) * SET(factor), g + begin + i, count - i);
}

KERNEL sgd_step(REAL lr, REAL momentum, int nesterov, IN(REAL, g), OUT(REAL, w), OUT(REAL, v), I64 count) {
  USE_IN(REAL, g);
  USE_OUT(REAL, w);
  USE_OUT(REAL, v);
  FOR_RANGE(count) {
    const I64 n = count - i;
    const LANE gradient = take(g + i, n, R(0));
    LANE step = gradient;
    if (v_base) {
      const LANE velocity = fma(SET(momentum), take(v + i, n, R(0)), gradient);
      give(velocity, v + i, n);
      step = nesterov ? fma(SET(momentum), velocity, gradient) : velocity;
    }
    give(fma(SET(-lr), step, take(w + i, n, R(0))), w + i, n);
  }
}

KERNEL adam_step(REAL rate, REAL inv_root2, REAL beta1, REAL beta2, REAL eps, REAL decay_factor, IN(REAL, g),
                 OUT(REAL, w), OUT(REAL, m), OUT(REAL, v), I64 count) {
  USE_IN(REAL, g);
  USE_OUT(REAL, w);
  USE_OUT(REAL, m);
  USE_OUT(REAL, v);
  const LANE rest1 = SET(R(1) - beta1), rest2 = SET(R(1) - beta2);
  FOR_RANGE(count) {
    const I64 n = count - i;
    const LANE gradient = take(g + i, n, R(0));
    const LANE first_moment = fma(rest1, gradient, SET(beta1) * take(m + i, n, R(0)));
    const LANE second_moment = fma(rest2 * gradient, gradient, SET(beta2) * take(v + i, n, R(0)));
    const LANE step = first_moment / fma(sqrt(second_moment), SET(inv_root2), SET(eps));
    give(first_moment, m + i, n);
    give(second_moment, v + i, n);
    give(fma(SET(-rate), step, take(w + i, n, R(0)) * SET(decay_factor)), w + i, n);
  }
}

KERNEL rmsprop_step(REAL lr, REAL alpha, REAL eps, IN(REAL, g), OUT(REAL, w), OUT(REAL, v), I64 count) {
  USE_IN(REAL, g);
  USE_OUT(REAL, w);
  USE_OUT(REAL, v);
  const LANE rest = SET(R(1) - alpha);
  FOR_RANGE(count) {
    const I64 n = count - i;
    const LANE gradient = take(g + i, n, R(0));
    const LANE mean_square = fma(rest * gradient, gradient, SET(alpha) * take(v + i, n, R(0)));
    give(mean_square, v + i, n);
    give(fma(SET(-lr), gradient / (sqrt(mean_square) + SET(eps)), take(w + i, n, R(0))), w + i, n);
  }
}

KERNEL lion_step(REAL lr, REAL beta1, REAL beta2, REAL decay_factor, IN(REAL, g), OUT(REAL, w), OUT(REAL, m),
                 I64 count) {
  USE_IN(REAL, g);
  USE_OUT(REAL, w);
  USE_OUT(REAL, m);
  const LANE rest1 = SET(R(1) - beta1), rest2 = SET(R(1) - beta2), zero = SET(0), one = SET(1);
  FOR_RANGE(count) {
    const I64 n = count - i;
    const LANE gradient = take(g + i, n, R(0)), moment = take(m + i, n, R(0));
    const LANE mean = fma(rest1, gradient, SET(beta1) * moment);
    const LANE negative = mean < zero ? -one : zero;
    const LANE sign = mean > zero ? one : negative;
    give(fma(rest2, gradient, SET(beta2) * moment), m + i, n);
    give(fma(SET(-lr), sign, take(w + i, n, R(0)) * SET(decay_factor)), w + i, n);
  }
}

KERNEL square_sums(IN(REAL, x), OUT(double, partial), I64 count) {
  USE_IN(REAL, x);
  USE_OUT(double, partial);
  const I64 blocks = (count + SQUARE_BLOCK - 1) / SQUARE_BLOCK;
  for (I64 block = GLOBAL_ITEM(0); block < blocks; block += GLOBAL_ITEMS(0)) {
    const I64 first = block * SQUARE_BLOCK, last = first + SQUARE_BLOCK < count ? first + SQUARE_BLOCK : count;
    double sum = 0;
    for (I64 i = first; i < last; ++i) sum = fma((double)x[i], (double)x[i], sum);
    partial[block] = sum;
  }
}

#if LANES == 1
// For GPUs: a group takes a block. All of its work-items fetch, side by side; the first one adds up, in the order of the
// chain.
KERNEL square_sums_fetched(IN(REAL, x), OUT(double, partial), I64 count) {
  USE_IN(REAL, x);
  USE_OUT(double, partial);
  LOCAL REAL block[SQUARE_BLOCK];
  const I64 first = GROUP(0) * SQUARE_BLOCK;
  const int last = count - first < SQUARE_BLOCK ? (int)(count - first) : SQUARE_BLOCK;
  for (int i = ITEM(0); i < last; i += ITEMS(0)) block[i] = x[first + i];
  BARRIER();
  if (ITEM(0) != 0) return;
  double sum = 0;
  for (int i = 0; i < last; ++i) sum = fma((double)block[i], (double)block[i], sum);
  partial[GROUP(0)] = sum;
}
#endif

KERNEL running_update(REAL momentum, REAL elements, IN(REAL, sum), OUT(REAL, running), I64 count) {
  USE_IN(REAL, sum);
  USE_OUT(REAL, running);
  const REAL rest = R(1) - momentum;
  for (I64 c = GLOBAL_ITEM(0); c < count; c += GLOBAL_ITEMS(0)) {
    const REAL kept = rest * running[c];
    running[c] = kept + momentum * (sum[c] / elements);
  }
}
