// Tokens and attention: one work-item per element, per query of a sample, or per key (LANES is 1). Work-items walk rows
// and samples in steps of the launch's size.

#define FOR_EACH_PLACE(rows, cols)                                      \
  for (I64 row = GLOBAL_ITEM(1); row < (rows); row += GLOBAL_ITEMS(1))  \
    for (I64 s = GLOBAL_ITEM(0); s < (cols); s += GLOBAL_ITEMS(0))

KERNEL one_hot(IN(REAL, x), I64 x_stride, I64 steps, OUT(REAL, y), I64 y_stride, I64 rows, I64 samples) {
  USE_IN(REAL, x);
  USE_OUT(REAL, y);
  FOR_EACH_PLACE(rows, samples) {
    y[row * y_stride + s] = x[(row % steps) * x_stride + s] == (REAL)(row / steps) ? R(1) : R(0);
  }
}

// Feature d of part (0: queries, 1: keys, 2: values) at step t, and the pair (i, j), of head h.
#define PART(name, part, d, t) name[(((part) * heads + h) * head + (d)) * steps * name##_stride + (t) * name##_stride + s]
#define PAIR(name, at, i, j) name[(((at) * steps + (i)) * steps + (j)) * name##_stride + s]

// The heads from `first` on, `count` of them; p has room for these.
KERNEL attention_forward(I64 heads, I64 head, I64 steps, I64 causal, REAL scale, I64 first, I64 count, IN(REAL, qkv),
                         I64 qkv_stride, IN(I64, lengths), OUT(REAL, p), I64 p_stride, OUT(REAL, y), I64 y_stride,
                         I64 samples) {
  USE_IN(REAL, qkv);
  USE_IN(I64, lengths);
  USE_OUT(REAL, p);
  USE_OUT(REAL, y);
  FOR_EACH_PLACE(count * steps, samples) {
    const I64 own = row / steps, h = first + own, i = row % steps, keys = causal ? i + 1 : steps;
    I64 length = steps;
    if (lengths_base) length = lengths[s];
    REAL largest = R(0), sum = R(0);
    for (I64 j = 0; j < keys; ++j) {
      REAL dot = R(0);
      for (I64 d = 0; d < head; ++d) dot = fma(PART(qkv, 0, d, i), PART(qkv, 1, d, j), dot);
      dot = dot * scale;
      PAIR(p, own, i, j) = dot;
      if (j == 0 || (j < length && dot > largest)) largest = dot;
    }
    for (I64 j = 0; j < keys; ++j) {
      const REAL e = i < length && j < length ? real_exp(PAIR(p, own, i, j) - largest) : R(0);
      PAIR(p, own, i, j) = e;
      sum = sum + e;
    }
    for (I64 j = 0; j < keys; ++j) PAIR(p, own, i, j) = i < length ? PAIR(p, own, i, j) / sum : R(0);
    for (I64 d = 0; d < head; ++d) {
      REAL total = R(0);
      for (I64 j = 0; j < keys; ++j) total = fma(PAIR(p, own, i, j), PART(qkv, 2, d, j), total);
      PART(y, 0, d, i) = total;
    }
  }
}

KERNEL attention_backward_queries(I64 heads, I64 head, I64 steps, I64 causal, REAL scale, IN(REAL, qkv),
                                  I64 qkv_stride, IN(REAL, p), I64 p_stride, IN(REAL, dy), I64 dy_stride,
                                  OUT(REAL, ds), I64 ds_stride, OUT(REAL, dqkv), I64 dqkv_stride, I64 samples) {
  USE_IN(REAL, qkv);
  USE_IN(REAL, p);
  USE_IN(REAL, dy);
  USE_OUT(REAL, ds);
  USE_OUT(REAL, dqkv);
  FOR_EACH_PLACE(heads * steps, samples) {
    const I64 h = row / steps, i = row % steps, keys = causal ? i + 1 : steps;
    REAL total = R(0);
    for (I64 j = 0; j < keys; ++j) {
      REAL dp = R(0);
      for (I64 d = 0; d < head; ++d) dp = fma(PART(dy, 0, d, i), PART(qkv, 2, d, j), dp);
      PAIR(ds, h, i, j) = dp;
      total = fma(PAIR(p, h, i, j), dp, total);
    }
    for (I64 j = 0; j < keys; ++j) PAIR(ds, h, i, j) = (PAIR(p, h, i, j) * (PAIR(ds, h, i, j) - total)) * scale;
    for (I64 d = 0; d < head; ++d) {
      REAL dq = R(0);
      for (I64 j = 0; j < keys; ++j) dq = fma(PAIR(ds, h, i, j), PART(qkv, 1, d, j), dq);
      PART(dqkv, 0, d, i) = dq;
    }
  }
}

KERNEL attention_backward_keys(I64 heads, I64 head, I64 steps, I64 causal, IN(REAL, qkv), I64 qkv_stride, IN(REAL, p),
                               I64 p_stride, IN(REAL, dy), I64 dy_stride, IN(REAL, ds), I64 ds_stride,
                               OUT(REAL, dqkv), I64 dqkv_stride, I64 samples) {
  USE_IN(REAL, qkv);
  USE_IN(REAL, p);
  USE_IN(REAL, dy);
  USE_IN(REAL, ds);
  USE_OUT(REAL, dqkv);
  FOR_EACH_PLACE(heads * steps, samples) {
    const I64 h = row / steps, j = row % steps;
    for (I64 d = 0; d < head; ++d) {
      REAL dk = R(0), dv = R(0);
      for (I64 i = causal ? j : 0; i < steps; ++i) {
        dk = fma(PAIR(ds, h, i, j), PART(qkv, 0, d, i), dk);
        dv = fma(PAIR(p, h, i, j), PART(dy, 0, d, i), dv);
      }
      PART(dqkv, 1, d, j) = dk;
      PART(dqkv, 2, d, j) = dv;
    }
  }
}
