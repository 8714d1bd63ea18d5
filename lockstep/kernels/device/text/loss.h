// Softmax, losses and scores: one work-item per sample (LANES is 1).

DEVICE REAL column_max(GLOBAL const REAL *x, I64 stride, I64 rows) {
  REAL best = x[0];
  for (I64 k = 1; k < rows; ++k)
    if (x[k * stride] > best) best = x[k * stride];
  return best;
}

KERNEL softmax_forward(IN(REAL, x), I64 x_stride, OUT(REAL, y), I64 y_stride, I64 rows, I64 cols) {
  USE_IN(REAL, x);
  USE_OUT(REAL, y);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= cols) return;
  const REAL largest = column_max(x + s, x_stride, rows);
  REAL sum = R(0);
  for (I64 k = 0; k < rows; ++k) {
    const REAL e = real_exp(x[k * x_stride + s] - largest);
    y[k * y_stride + s] = e;
    sum = sum + e;
  }
  for (I64 k = 0; k < rows; ++k) y[k * y_stride + s] = y[k * y_stride + s] / sum;
}

KERNEL softmax_backward(IN(REAL, y), I64 y_stride, IN(REAL, dy), I64 dy_stride, OUT(REAL, dx), I64 dx_stride, I64 rows,
                        I64 cols) {
  USE_IN(REAL, y);
  USE_IN(REAL, dy);
  USE_OUT(REAL, dx);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= cols) return;
  REAL product = R(0);
  for (I64 k = 0; k < rows; ++k) product = fma(dy[k * dy_stride + s], y[k * y_stride + s], product);
  for (I64 k = 0; k < rows; ++k)
    dx[k * dx_stride + s] = y[k * y_stride + s] * (dy[k * dy_stride + s] - product);
}

KERNEL loss_gradient(int kind, REAL smoothing, int gamma, REAL delta, REAL scale, IN(REAL, z), I64 z_stride, IN(int, labels), IN(REAL, values), I64 values_stride,
                     IN(REAL, weights), OUT(REAL, loss), OUT(REAL, dz), I64 dz_stride, I64 rows, I64 cols) {
  USE_IN(REAL, z);
  USE_IN(int, labels);
  USE_IN(REAL, values);
  USE_IN(REAL, weights);
  USE_OUT(REAL, loss);
  USE_OUT(REAL, dz);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= cols) return;
  const REAL factor = weights_base ? scale * weights[s] : scale;
  if (kind == CROSS_ENTROPY && values_base) {
    const REAL largest = column_max(z + s, z_stride, rows);
    const REAL on = R(1) - smoothing, off = smoothing / (REAL)rows;
    REAL sum = R(0), chosen = R(0);
    for (I64 k = 0; k < rows; ++k) {
      const REAL below = z[k * z_stride + s] - largest, t = values[k * values_stride + s];
      sum = sum + real_exp(below);
      chosen = fma(smoothing != R(0) ? fma(on, t, off) : t, below, chosen);
    }
    const REAL value = real_log(sum) - chosen;
    loss[s] = weights_base ? weights[s] * value : value;
    if (!dz_base) return;
    for (I64 k = 0; k < rows; ++k) {
      const REAL t = values[k * values_stride + s], p = real_exp(z[k * z_stride + s] - largest) / sum;
      dz[k * dz_stride + s] = factor * (p - (smoothing != R(0) ? fma(on, t, off) : t));
    }
    return;
  }
  if (kind == CROSS_ENTROPY || kind == FOCAL) {
    const REAL largest = column_max(z + s, z_stride, rows);
    const I64 label = labels[s];
    const REAL on = R(1) - smoothing, off = smoothing / (REAL)rows, chosen = z[label * z_stride + s] - largest;
    const int smooth = kind == CROSS_ENTROPY && smoothing != R(0);
    REAL sum = R(0), below = R(0), slope = factor;
    for (I64 k = 0; k < rows; ++k) {
      sum = sum + real_exp(z[k * z_stride + s] - largest);
      below = below + (z[k * z_stride + s] - largest);
    }
    REAL value = real_log(sum) - (smooth ? fma(on, chosen, off * below) : chosen);
    if (kind == FOCAL) {
      const REAL found = real_exp(chosen) / sum, missed = R(1) - found;
      REAL power = R(1);
      for (int i = 1; i < gamma; ++i) power = power * missed;
      slope = factor * (power * fma((REAL)gamma * found, value, missed));
      value = (power * missed) * value;
    }
    loss[s] = weights_base ? weights[s] * value : value;
    if (!dz_base) return;
    for (I64 k = 0; k < rows; ++k) {
      const REAL p = real_exp(z[k * z_stride + s] - largest) / sum;
      if (smooth)
        dz[k * dz_stride + s] = slope * (p - (k == label ? on + off : off));
      else
        dz[k * dz_stride + s] = slope * (k == label ? p - R(1) : p);
    }
    return;
  }
  REAL sum = R(0);
  for (I64 k = 0; k < rows; ++k) {
    const REAL value = z[k * z_stride + s];
    REAL t;
    if (values_base)
      t = values[k * values_stride + s];
    else if (rows == 1)
      t = (REAL)labels[s];
    else
      t = labels[s] == k ? R(1) : R(0);
    if (kind == BINARY_CROSS_ENTROPY) {
      const REAL positive = value > R(0) ? value : R(0), size = value < R(0) ? -value : value;
      sum = sum + (fma(-value, t, positive) + real_log1p(real_exp(-size)));
      if (dz_base) dz[k * dz_stride + s] = factor * (real_sigmoid(value) - t);
    } else if (kind == HUBER) {
      const REAL difference = value - t, size = difference < R(0) ? -difference : difference;
      const int far = delta < size;
      sum = far ? fma(delta, size - R(0.5) * delta, sum) : fma(R(0.5) * difference, difference, sum);
      if (dz_base) dz[k * dz_stride + s] = factor * (far ? (difference < R(0) ? -delta : delta) : difference);
    } else {
      const REAL difference = value - t;
      sum = fma(R(0.5) * difference, difference, sum);
      if (dz_base) dz[k * dz_stride + s] = factor * difference;
    }
  }
  loss[s] = weights_base ? weights[s] * sum : sum;
}

// A group takes a slot: each of its work-items looks at a sample, and the first one adds them up in their order.
#define SCORE_ITEMS 64
KERNEL score_slots(int kind, IN(REAL, z), I64 z_stride, I64 rows, IN(int, labels), IN(REAL, loss), IN(I64, bounds),
                   I64 steps, I64 step_stride, IN(I64, lengths), OUT(double, sums), OUT(I64, correct)) {
  USE_IN(REAL, z);
  USE_IN(int, labels);
  USE_IN(REAL, loss);
  USE_IN(I64, bounds);
  USE_IN(I64, lengths);
  USE_OUT(double, sums);
  USE_OUT(I64, correct);
  LOCAL double losses[SCORE_ITEMS];
  LOCAL int hits[SCORE_ITEMS];
  const I64 slot = GROUP(0), end = bounds[slot + 1] * steps;  // sample by sample, the steps of each
  const int item = ITEM(0), items = ITEMS(0);
  double sum = 0;
  I64 right = 0;
  for (I64 first = bounds[slot] * steps; first < end; first += items) {
    const I64 sample = (first + item) / steps, step = (first + item) - sample * steps, s = step * step_stride + sample;
    if (first + item < end) {
      const int ended = lengths_base && step >= lengths[sample];
      losses[item] = ended ? 0.0 : (double)loss[s];
      hits[item] = 0;
      if (labels_base && !ended) {
        I64 best = 0;
        if (rows == 1)
          best = z[s] >= (kind == SQUARED_ERROR || kind == HUBER ? R(0.5) : R(0)) ? 1 : 0;
        else
          for (I64 k = 1; k < rows; ++k)
            if (z[k * z_stride + s] > z[best * z_stride + s]) best = k;
        hits[item] = best == labels[s] ? 1 : 0;
      }
    }
    BARRIER();
    if (item == 0)
      for (int i = 0; i < items && first + i < end; ++i) {
        sum += losses[i];
        right += hits[i];
      }
    BARRIER();
  }
  if (item != 0) return;
  sums[slot] = sum;
  correct[slot] = right;
}
