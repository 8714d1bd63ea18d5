// Layer normalisation: one work-item per sample (LANES is 1); for the parameters, one per feature of a slot.

KERNEL layer_norm_forward(REAL eps, IN(REAL, x), I64 x_stride, IN(REAL, gamma), IN(REAL, beta), OUT(REAL, y),
                          I64 y_stride, OUT(REAL, means), OUT(REAL, inv_stds), I64 features, I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, gamma);
  USE_IN(REAL, beta);
  USE_OUT(REAL, y);
  USE_OUT(REAL, means);
  USE_OUT(REAL, inv_stds);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= samples) return;
  const REAL share = R(1) / (REAL)features;
  REAL sum = R(0), squares = R(0);
  for (I64 f = 0; f < features; ++f) sum = sum + x[f * x_stride + s];
  const REAL mean = sum * share;
  for (I64 f = 0; f < features; ++f) squares = fma(x[f * x_stride + s] - mean, x[f * x_stride + s] - mean, squares);
  const REAL inv_std = R(1) / sqrt(squares * share + eps);
  for (I64 f = 0; f < features; ++f)
    y[f * y_stride + s] = fma((x[f * x_stride + s] - mean) * inv_std, gamma[f], beta[f]);
  if (!means_base) return;
  means[s] = mean;
  inv_stds[s] = inv_std;
}

// sums: [slots][features] of dbeta, then the same of dgamma.
KERNEL layer_norm_backward_weights(IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride, IN(REAL, means),
                                   IN(REAL, inv_stds), IN(I64, bounds), I64 slots, OUT(REAL, sums), I64 features) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(REAL, means);
  USE_IN(REAL, inv_stds);
  USE_IN(I64, bounds);
  USE_OUT(REAL, sums);
  const I64 item = GLOBAL_ITEM(0);
  if (item >= features * slots) return;
  const I64 f = item % features, begin = bounds[item / features], end = bounds[item / features + 1];
  REAL dbeta[VIRTUAL_LANES], dgamma[VIRTUAL_LANES];
  for (int l = 0; l < VIRTUAL_LANES; ++l) dbeta[l] = dgamma[l] = R(0);
  for (I64 block = begin; block < end; block += VIRTUAL_LANES)
    for (int l = 0; l < VIRTUAL_LANES && block + l < end; ++l) {
      const I64 s = block + l;
      const REAL h = (x[f * x_stride + s] - means[s]) * inv_stds[s];
      dbeta[l] = dbeta[l] + dy[f * dy_stride + s];
      dgamma[l] = fma(dy[f * dy_stride + s], h, dgamma[l]);
    }
  sums[item] = lane_tree(dbeta);
  sums[features * slots + item] = lane_tree(dgamma);
}

KERNEL layer_norm_backward_data(IN(REAL, x), I64 x_stride, IN(REAL, dy), I64 dy_stride, IN(REAL, gamma),
                                IN(REAL, means), IN(REAL, inv_stds), OUT(REAL, dx), I64 dx_stride, I64 features,
                                I64 samples) {
  USE_IN(REAL, x);
  USE_IN(REAL, dy);
  USE_IN(REAL, gamma);
  USE_IN(REAL, means);
  USE_IN(REAL, inv_stds);
  USE_OUT(REAL, dx);
  const I64 s = GLOBAL_ITEM(0);
  if (s >= samples) return;
  const REAL share = R(1) / (REAL)features, mean = means[s], inv_std = inv_stds[s];
  REAL p = R(0), q = R(0);
  for (I64 f = 0; f < features; ++f) {
    const REAL gradient = dy[f * dy_stride + s];
    p = fma(gamma[f], gradient, p);
    q = fma(gamma[f] * gradient, (x[f * x_stride + s] - mean) * inv_std, q);
  }
  for (I64 f = 0; f < features; ++f) {
    const REAL h = (x[f * x_stride + s] - mean) * inv_std;
    dx[f * dx_stride + s] = inv_std * fma(gamma[f], dy[f * dy_stride + s], -(fma(h, q, p) * share));
  }
}
