// Batch normalisation: a work-item takes one channel of one slot, then one per channel adds the slots up in their tree.
// Between the two, [slots][channels] arrays hold what every slot gives.

// The sum over the slot of x, or of (x - mean)^2, or of x (y - mean), in 16 virtual lanes.
#define SUM_PLAIN 0
#define SUM_SQUARES 1
#define SUM_PRODUCTS 2
#define ADD_TO_LANE(l)                                                        \
  {                                                                           \
    const REAL value = x_row[l];                                              \
    if (what == SUM_PLAIN) {                                                  \
      lanes[l] = lanes[l] + value;                                            \
    } else if (what == SUM_SQUARES) {                                         \
      lanes[l] = fma(value - mean, value - mean, lanes[l]);                   \
    } else {                                                                  \
      lanes[l] = fma(value, y_row[l] - mean, lanes[l]);                       \
    }                                                                         \
  }
DEVICE REAL sum_of_slot(int what, GLOBAL const REAL *x, I64 x_stride, GLOBAL const REAL *y, I64 y_stride, REAL mean,
                        I64 pixels, I64 begin, I64 end) {
  REAL lanes[VIRTUAL_LANES];
  for (int l = 0; l < VIRTUAL_LANES; ++l) lanes[l] = R(0);
  for (I64 block = begin; block < end; block += VIRTUAL_LANES)
    for (I64 pixel = 0; pixel < pixels; ++pixel) {
      GLOBAL const REAL *x_row = x + pixel * x_stride + block;
      GLOBAL const REAL *y_row = y + pixel * y_stride + block;
      if (end - block >= VIRTUAL_LANES) {  // a count that compilers know becomes vectors
        for (int l = 0; l < VIRTUAL_LANES; ++l) ADD_TO_LANE(l)
      } else {
        for (int l = 0; l < (int)(end - block); ++l) ADD_TO_LANE(l)
      }
    }
  return lane_tree(lanes);
}

KERNEL batch_norm_forward(I64 channels, I64 pixels, REAL eps, IN(REAL, x), I64 x_stride, IN(REAL, gamma), IN(REAL, beta),
                          IN(I64, bounds), I64 slots, OUT(REAL, y), I64 y_stride, OUT(REAL, means), OUT(REAL, inv_stds),
                          OUT(REAL, sums)) {
  USE_IN(REAL, x);
  USE_IN(REAL, gamma);
  USE_IN(REAL, beta);
  USE_IN(I64, bounds);
  USE_OUT(REAL, y);
  USE_OUT(REAL, means);
  USE_OUT(REAL, inv_stds);
  USE_OUT(REAL, sums);
  for (I64 item = GLOBAL_ITEM(0); item < channels * slots; item += GLOBAL_ITEMS(0)) {
    const I64 channel = item % channels, slot = item / channels;
    const I64 begin = bounds[slot], end = bounds[slot + 1], count = pixels * (end - begin);
    REAL mean = R(0), inv_std = R(0), sum_mean = R(0), sum_var = R(0);
    if (count > 0) {
      GLOBAL const REAL *mine = x + channel * pixels * x_stride;
      const REAL share = R(1) / (REAL)count;
      mean = share * sum_of_slot(SUM_PLAIN, mine, x_stride, mine, x_stride, R(0), pixels, begin, end);
      const REAL var = share * sum_of_slot(SUM_SQUARES, mine, x_stride, mine, x_stride, mean, pixels, begin, end);
      inv_std = R(1) / sqrt(var + eps);
      const REAL scale = gamma[channel] * inv_std, shift = beta[channel];
      for (I64 pixel = 0; pixel < pixels; ++pixel)
        for (I64 s = begin; s < end; ++s) {
          const I64 r = channel * pixels + pixel;
          y[r * y_stride + s] = fma(x[r * x_stride + s] - mean, scale, shift);
        }
      const REAL unbiased = count < 2 ? R(0) : var * ((REAL)count / (REAL)(count - 1));
      sum_mean = (REAL)count * mean;
      sum_var = (REAL)count * unbiased;
    }
    means[item] = mean;
    inv_stds[item] = inv_std;
    sums[item] = sum_mean;
    sums[channels * slots + item] = sum_var;
  }
}

KERNEL batch_norm_backward(I64 channels, I64 pixels, IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride,
                           IN(REAL, gamma), IN(REAL, means), IN(REAL, inv_stds), IN(I64, bounds), I64 slots,
                           OUT(REAL, dx), I64 dx_stride, OUT(REAL, sums)) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(REAL, gamma);
  USE_IN(REAL, means);
  USE_IN(REAL, inv_stds);
  USE_IN(I64, bounds);
  USE_OUT(REAL, dx);
  USE_OUT(REAL, sums);
  for (I64 item = GLOBAL_ITEM(0); item < channels * slots; item += GLOBAL_ITEMS(0)) {
    const I64 channel = item % channels, slot = item / channels;
    const I64 begin = bounds[slot], end = bounds[slot + 1];
    REAL p = R(0), q = R(0);
    if (end > begin) {
      const REAL mean = means[item], inv_std = inv_stds[item];
      GLOBAL const REAL *mine = x + channel * pixels * x_stride;
      GLOBAL const REAL *given = dy + channel * pixels * dy_stride;
      p = sum_of_slot(SUM_PLAIN, given, dy_stride, mine, x_stride, R(0), pixels, begin, end);
      q = inv_std * sum_of_slot(SUM_PRODUCTS, given, dy_stride, mine, x_stride, mean, pixels, begin, end);
      const REAL share = R(1) / (REAL)(pixels * (end - begin));
      const REAL scale = gamma[channel] * inv_std;
      const REAL slope = -(scale * inv_std) * (q * share), shift = -scale * (p * share);
      if (dx_base)
        for (I64 pixel = 0; pixel < pixels; ++pixel)
          for (I64 s = begin; s < end; ++s) {
            const I64 r = channel * pixels + pixel;
            const REAL centred = x[r * x_stride + s] - mean;
            dx[r * dx_stride + s] = fma(scale, dy[r * dy_stride + s], fma(slope, centred, shift));
          }
    }
    sums[item] = p;
    sums[channels * slots + item] = q;
  }
}

#if LANES == 1
// For GPUs the same in two kernels each. Sixteen work-items side by side are the virtual lanes of a channel of a slot: they
// read consecutive samples, and everybody adds up the lanes in their tree. What is done to every number alone is a
// kernel of its own, a work-item for each; its first work-item of a channel also adds up the slots.
#define STATISTICS 2 /* channels of slots of a group, at most: a warp, so that many multiprocessors take part */
#define EVERY_PIXEL(sample) \
  for (I64 sample = begin + lane; sample < end; sample += VIRTUAL_LANES) \
    for (I64 pixel = 0; pixel < pixels; ++pixel)

// result = the tree over what 16 work-items have, for all of them, by way of `shared`, which has no other use. Every
// work-item of the group comes here.
#define TREE_OF_LANES(result, sum, shared)                                  \
  REAL result;                                                              \
  {                                                                         \
    REAL lanes[VIRTUAL_LANES];                                              \
    shared[ITEM(1)][lane] = sum;                                            \
    BARRIER();                                                              \
    for (int l = 0; l < VIRTUAL_LANES; ++l) lanes[l] = shared[ITEM(1)][l];  \
    result = lane_tree(lanes);                                              \
  }

KERNEL batch_norm_statistics(I64 channels, I64 pixels, REAL eps, IN(REAL, x), I64 x_stride, IN(I64, bounds), I64 slots,
                             OUT(REAL, means), OUT(REAL, inv_stds), OUT(REAL, sums)) {
  USE_IN(REAL, x);
  USE_IN(I64, bounds);
  USE_OUT(REAL, means);
  USE_OUT(REAL, inv_stds);
  USE_OUT(REAL, sums);
  LOCAL REAL first[STATISTICS][VIRTUAL_LANES + 1];
  LOCAL REAL second[STATISTICS][VIRTUAL_LANES + 1];
  const int lane = ITEM(0);
  const I64 item = GROUP(0) * ITEMS(1) + ITEM(1);
  const int there = item < channels * slots;
  const I64 slot = there ? item / channels : 0, channel = there ? item - slot * channels : 0;
  const I64 begin = there ? bounds[slot] : 0, end = there ? bounds[slot + 1] : 0, count = pixels * (end - begin);
  GLOBAL const REAL *mine = x + channel * pixels * x_stride;
  const REAL share = count > 0 ? R(1) / (REAL)count : R(0);
  REAL sum = R(0);
  EVERY_PIXEL(s) sum = sum + mine[pixel * x_stride + s];
  TREE_OF_LANES(total, sum, first)
  const REAL mean = share * total;
  REAL squares = R(0);
  EVERY_PIXEL(s) {
    const REAL centred = mine[pixel * x_stride + s] - mean;
    squares = fma(centred, centred, squares);
  }
  TREE_OF_LANES(spread, squares, second)
  const REAL var = share * spread;
  if (!there || lane != 0) return;
  const REAL unbiased = count < 2 ? R(0) : var * ((REAL)count / (REAL)(count - 1));
  means[item] = count > 0 ? mean : R(0);
  inv_stds[item] = count > 0 ? R(1) / sqrt(var + eps) : R(0);
  sums[item] = count > 0 ? (REAL)count * mean : R(0);
  sums[channels * slots + item] = count > 0 ? (REAL)count * unbiased : R(0);
}

KERNEL batch_norm_apply(I64 channels, I64 pixels, IN(REAL, x), I64 x_stride, IN(REAL, gamma), IN(REAL, beta),
                        IN(REAL, means), IN(REAL, inv_stds), IN(I64, bounds), I64 slots, OUT(REAL, y), I64 y_stride,
                        IN(REAL, sums), OUT(REAL, sum_mean), OUT(REAL, sum_var), I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, gamma);
  USE_IN(REAL, beta);
  USE_IN(REAL, means);
  USE_IN(REAL, inv_stds);
  USE_IN(I64, bounds);
  USE_IN(REAL, sums);
  USE_OUT(REAL, y);
  USE_OUT(REAL, sum_mean);
  USE_OUT(REAL, sum_var);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= samples) return;
  const I64 slot = slot_of(bounds, slots, s);
  for (I64 row = GLOBAL_ITEM(1); row < channels * pixels; row += GLOBAL_ITEMS(1)) {
    const I64 channel = row / pixels, item = slot * channels + channel;
    const REAL scale = gamma[channel] * inv_stds[item];
    y[row * y_stride + s] = fma(x[row * x_stride + s] - means[item], scale, beta[channel]);
    if (s == 0 && row == channel * pixels) {
      sum_mean[channel] = slot_tree(sums + channel, channels, slots);
      sum_var[channel] = slot_tree(sums + slots * channels + channel, channels, slots);
    }
  }
}

KERNEL batch_norm_slopes(I64 channels, I64 pixels, IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride,
                         IN(REAL, means), IN(REAL, inv_stds), IN(I64, bounds), I64 slots, OUT(REAL, sums)) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(REAL, means);
  USE_IN(REAL, inv_stds);
  USE_IN(I64, bounds);
  USE_OUT(REAL, sums);
  LOCAL REAL first[STATISTICS][VIRTUAL_LANES + 1];
  LOCAL REAL second[STATISTICS][VIRTUAL_LANES + 1];
  const int lane = ITEM(0);
  const I64 item = GROUP(0) * ITEMS(1) + ITEM(1);
  const int there = item < channels * slots;
  const I64 slot = there ? item / channels : 0, channel = there ? item - slot * channels : 0;
  const I64 begin = there ? bounds[slot] : 0, end = there ? bounds[slot + 1] : 0;
  GLOBAL const REAL *mine = x + channel * pixels * x_stride;
  GLOBAL const REAL *given = dy + channel * pixels * dy_stride;
  const REAL mean = there ? means[item] : R(0);
  REAL plain = R(0), products = R(0);
  EVERY_PIXEL(s) {
    const REAL slope = given[pixel * dy_stride + s];
    plain = plain + slope;
    products = fma(slope, mine[pixel * x_stride + s] - mean, products);
  }
  TREE_OF_LANES(p, plain, first)
  TREE_OF_LANES(q, products, second)
  if (!there || lane != 0) return;
  sums[item] = end > begin ? p : R(0);
  sums[channels * slots + item] = end > begin ? inv_stds[item] * q : R(0);
}

KERNEL batch_norm_apply_backward(I64 channels, I64 pixels, IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride,
                                 IN(REAL, gamma), IN(REAL, means), IN(REAL, inv_stds), IN(I64, bounds), I64 slots,
                                 OUT(REAL, dx), I64 dx_stride, IN(REAL, sums), OUT(REAL, dbeta), OUT(REAL, dgamma),
                                 I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(REAL, gamma);
  USE_IN(REAL, means);
  USE_IN(REAL, inv_stds);
  USE_IN(I64, bounds);
  USE_IN(REAL, sums);
  USE_OUT(REAL, dx);
  USE_OUT(REAL, dbeta);
  USE_OUT(REAL, dgamma);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= samples) return;
  const I64 slot = slot_of(bounds, slots, s);
  const REAL share = R(1) / (REAL)(pixels * (bounds[slot + 1] - bounds[slot]));
  for (I64 row = GLOBAL_ITEM(1); row < channels * pixels; row += GLOBAL_ITEMS(1)) {
    const I64 channel = row / pixels, item = slot * channels + channel;
    const REAL p = sums[item], q = sums[channels * slots + item], inv_std = inv_stds[item];
    const REAL scale = gamma[channel] * inv_std;
    const REAL slope = -(scale * inv_std) * (q * share), shift = -scale * (p * share);
    const REAL centred = x[row * x_stride + s] - means[item];
    dx[row * dx_stride + s] = fma(scale, dy[row * dy_stride + s], fma(slope, centred, shift));
    if (s == 0 && row == channel * pixels) {
      dbeta[channel] = slot_tree(sums + channel, channels, slots);
      dgamma[channel] = slot_tree(sums + slots * channels + channel, channels, slots);
    }
  }
}

// With the statistics of the batch: batch_norm_sums.
KERNEL batch_norm_lane_sums(I64 channels, I64 pixels, IN(REAL, x), I64 x_stride, IN(REAL, centre), IN(I64, bounds),
                            I64 slots, OUT(REAL, sums)) {
  USE_IN(REAL, x);
  USE_IN(REAL, centre);
  USE_IN(I64, bounds);
  USE_OUT(REAL, sums);
  LOCAL REAL shared[STATISTICS][VIRTUAL_LANES + 1];
  const int lane = ITEM(0);
  const I64 item = GROUP(0) * ITEMS(1) + ITEM(1);
  const int there = item < channels * slots;
  const I64 slot = there ? item / channels : 0, channel = there ? item - slot * channels : 0;
  const I64 begin = there ? bounds[slot] : 0, end = there ? bounds[slot + 1] : 0;
  GLOBAL const REAL *mine = x + channel * pixels * x_stride;
  REAL sum = R(0);
  if (centre_base) {
    const REAL around = centre[channel];
    EVERY_PIXEL(s) {
      const REAL centred = mine[pixel * x_stride + s] - around;
      sum = fma(centred, centred, sum);
    }
  } else {
    EVERY_PIXEL(s) sum = sum + mine[pixel * x_stride + s];
  }
  TREE_OF_LANES(total, sum, shared)
  if (there && lane == 0) sums[item] = total;
}
#endif

// first = the tree over slots of sums[0], second = of sums[1].
KERNEL batch_norm_tree(I64 channels, I64 slots, IN(REAL, sums), OUT(REAL, first), OUT(REAL, second)) {
  USE_IN(REAL, sums);
  USE_OUT(REAL, first);
  USE_OUT(REAL, second);
  const I64 channel = GLOBAL_ITEM(0);
  if (channel >= channels) return;
  first[channel] = slot_tree(sums + channel, channels, slots);
  second[channel] = slot_tree(sums + slots * channels + channel, channels, slots);
}

KERNEL batch_norm_inference(I64 channels, I64 pixels, REAL eps, IN(REAL, x), I64 x_stride, IN(REAL, gamma),
                            IN(REAL, beta), IN(REAL, running_mean), IN(REAL, running_var), OUT(REAL, y), I64 y_stride,
                            I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, gamma);
  USE_IN(REAL, beta);
  USE_IN(REAL, running_mean);
  USE_IN(REAL, running_var);
  USE_OUT(REAL, y);
  for (I64 row = GLOBAL_ITEM(1); row < channels * pixels; row += GLOBAL_ITEMS(1)) {
    const I64 channel = row / pixels;
    const REAL scale = gamma[channel] / sqrt(running_var[channel] + eps);
    for (I64 s = GLOBAL_ITEM(0); s < samples; s += GLOBAL_ITEMS(0))
      y[row * y_stride + s] = fma(x[row * x_stride + s] - running_mean[channel], scale, beta[channel]);
  }
}

// With the statistics of the batch: a slot's sum of x, or of squares around a centre; add_slots takes the tree.
KERNEL batch_norm_sums(I64 channels, I64 pixels, IN(REAL, x), I64 x_stride, IN(REAL, centre), IN(I64, bounds), I64 slots,
                       OUT(REAL, sums)) {
  USE_IN(REAL, x);
  USE_IN(REAL, centre);
  USE_IN(I64, bounds);
  USE_OUT(REAL, sums);
  for (I64 item = GLOBAL_ITEM(0); item < channels * slots; item += GLOBAL_ITEMS(0)) {
    const I64 channel = item % channels, slot = item / channels;
    const I64 begin = bounds[slot], end = bounds[slot + 1];
    GLOBAL const REAL *mine = x + channel * pixels * x_stride;
    REAL sum = R(0);
    if (end > begin) {
      if (centre_base)
        sum = sum_of_slot(SUM_SQUARES, mine, x_stride, mine, x_stride, centre[channel], pixels, begin, end);
      else
        sum = sum_of_slot(SUM_PLAIN, mine, x_stride, mine, x_stride, R(0), pixels, begin, end);
    }
    sums[item] = sum;
  }
}

KERNEL batch_norm_normalise(I64 channels, I64 pixels, IN(REAL, x), I64 x_stride, IN(REAL, gamma), IN(REAL, beta),
                            IN(REAL, mean), IN(REAL, inv_std), OUT(REAL, y), I64 y_stride, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, gamma);
  USE_IN(REAL, beta);
  USE_IN(REAL, mean);
  USE_IN(REAL, inv_std);
  USE_OUT(REAL, y);
  for (I64 row = GLOBAL_ITEM(1); row < channels * pixels; row += GLOBAL_ITEMS(1)) {
    const I64 channel = row / pixels;
    const REAL scale = gamma[channel] * inv_std[channel];
    for (I64 s = GLOBAL_ITEM(0); s < samples; s += GLOBAL_ITEMS(0))
      y[row * y_stride + s] = fma(x[row * x_stride + s] - mean[channel], scale, beta[channel]);
  }
}

KERNEL batch_norm_backward_data(I64 channels, I64 pixels, IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride,
                                IN(REAL, gamma), IN(REAL, mean), IN(REAL, inv_std), IN(REAL, p), IN(REAL, q), REAL share,
                                OUT(REAL, dx), I64 dx_stride, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(REAL, gamma);
  USE_IN(REAL, mean);
  USE_IN(REAL, inv_std);
  USE_IN(REAL, p);
  USE_IN(REAL, q);
  USE_OUT(REAL, dx);
  for (I64 row = GLOBAL_ITEM(1); row < channels * pixels; row += GLOBAL_ITEMS(1)) {
    const I64 channel = row / pixels;
    const REAL scale = gamma[channel] * inv_std[channel];
    const REAL slope = -(scale * inv_std[channel]) * (q[channel] * share), shift = -scale * (p[channel] * share);
    for (I64 s = GLOBAL_ITEM(0); s < samples; s += GLOBAL_ITEMS(0)) {
      const REAL centred = x[row * x_stride + s] - mean[channel];
      dx[row * dx_stride + s] = fma(scale, dy[row * dy_stride + s], fma(slope, centred, shift));
    }
  }
}
