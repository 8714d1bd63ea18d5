// Recurrent cells. Work-items walk rows and blocks of LANES samples in steps of the launch's size, so that any shape of
// launch does all the work. A state that is not there is 0.

#define FOR_EACH_UNIT(rows, cols)                                         \
  for (I64 row = GLOBAL_ITEM(1); row < (rows); row += GLOBAL_ITEMS(1))    \
    for (I64 col = GLOBAL_ITEM(0) * LANES; col < (cols); col += GLOBAL_ITEMS(0) * LANES)

#define UNIT(name, k) take(name + ((k) * hidden + row) * name##_stride + col, n, R(0))
#define GIVE_UNIT(value, name, k) give(value, name + ((k) * hidden + row) * name##_stride + col, n)

DEVICE LANE sigmoid_slope(LANE y) { return y * (SET(1) - y); }
DEVICE LANE tanh_slope(LANE y) { return fma(-y, y, SET(1)); }

KERNEL lstm_forward(IN(REAL, zi), I64 zi_stride, IN(REAL, zh), I64 zh_stride, IN(REAL, c_before), I64 c_before_stride,
                    OUT(REAL, gates), I64 gates_stride, OUT(REAL, c), I64 c_stride, OUT(REAL, h), I64 h_stride,
                    I64 hidden, I64 samples) {
  USE_IN(REAL, zi);
  USE_IN(REAL, zh);
  USE_IN(REAL, c_before);
  USE_OUT(REAL, gates);
  USE_OUT(REAL, c);
  USE_OUT(REAL, h);
  FOR_EACH_UNIT(hidden, samples) {
    const I64 n = samples - col;
    const LANE i = real_sigmoid(UNIT(zi, 0) + UNIT(zh, 0)), f = real_sigmoid(UNIT(zi, 1) + UNIT(zh, 1));
    const LANE g = real_tanh(UNIT(zi, 2) + UNIT(zh, 2)), o = real_sigmoid(UNIT(zi, 3) + UNIT(zh, 3));
    LANE state = i * g;
    if (c_before_base) state = fma(f, UNIT(c_before, 0), state);
    GIVE_UNIT(i, gates, 0);
    GIVE_UNIT(f, gates, 1);
    GIVE_UNIT(g, gates, 2);
    GIVE_UNIT(o, gates, 3);
    GIVE_UNIT(state, c, 0);
    GIVE_UNIT(o * real_tanh(state), h, 0);
  }
}

KERNEL lstm_backward(IN(REAL, gates), I64 gates_stride, IN(REAL, c), I64 c_stride, IN(REAL, c_before),
                     I64 c_before_stride, IN(REAL, dh), I64 dh_stride, IN(REAL, dc_after), I64 dc_after_stride,
                     OUT(REAL, dz), I64 dz_stride, OUT(REAL, dc_before), I64 dc_before_stride, I64 hidden,
                     I64 samples) {
  USE_IN(REAL, gates);
  USE_IN(REAL, c);
  USE_IN(REAL, c_before);
  USE_IN(REAL, dh);
  USE_IN(REAL, dc_after);
  USE_OUT(REAL, dz);
  USE_OUT(REAL, dc_before);
  FOR_EACH_UNIT(hidden, samples) {
    const I64 n = samples - col;
    const LANE i = UNIT(gates, 0), f = UNIT(gates, 1), g = UNIT(gates, 2), o = UNIT(gates, 3);
    const LANE t = real_tanh(UNIT(c, 0)), above = UNIT(dh, 0), slope = tanh_slope(t);
    const LANE d = dc_after_base ? fma(above * o, slope, UNIT(dc_after, 0)) : (above * o) * slope;
    const LANE df = c_before_base ? (d * UNIT(c_before, 0)) * sigmoid_slope(f) : SET(0);
    GIVE_UNIT((d * g) * sigmoid_slope(i), dz, 0);
    GIVE_UNIT(df, dz, 1);
    GIVE_UNIT((d * i) * tanh_slope(g), dz, 2);
    GIVE_UNIT((above * t) * sigmoid_slope(o), dz, 3);
    GIVE_UNIT(d * f, dc_before, 0);
  }
}

KERNEL gru_forward(IN(REAL, zi), I64 zi_stride, IN(REAL, zh), I64 zh_stride, IN(REAL, h_before), I64 h_before_stride,
                   OUT(REAL, gates), I64 gates_stride, OUT(REAL, h), I64 h_stride, I64 hidden, I64 samples) {
  USE_IN(REAL, zi);
  USE_IN(REAL, zh);
  USE_IN(REAL, h_before);
  USE_OUT(REAL, gates);
  USE_OUT(REAL, h);
  FOR_EACH_UNIT(hidden, samples) {
    const I64 n = samples - col;
    const LANE r = real_sigmoid(UNIT(zi, 0) + UNIT(zh, 0)), z = real_sigmoid(UNIT(zi, 1) + UNIT(zh, 1));
    const LANE fresh = real_tanh(fma(r, UNIT(zh, 2), UNIT(zi, 2)));
    const LANE change = h_before_base ? UNIT(h_before, 0) - fresh : -fresh;
    GIVE_UNIT(r, gates, 0);
    GIVE_UNIT(z, gates, 1);
    GIVE_UNIT(fresh, gates, 2);
    GIVE_UNIT(fma(z, change, fresh), h, 0);
  }
}

KERNEL gru_backward(IN(REAL, gates), I64 gates_stride, IN(REAL, zh), I64 zh_stride, IN(REAL, h_before),
                    I64 h_before_stride, IN(REAL, dh), I64 dh_stride, OUT(REAL, dzi), I64 dzi_stride, OUT(REAL, dzh),
                    I64 dzh_stride, OUT(REAL, dh_before), I64 dh_before_stride, I64 hidden, I64 samples) {
  USE_IN(REAL, gates);
  USE_IN(REAL, zh);
  USE_IN(REAL, h_before);
  USE_IN(REAL, dh);
  USE_OUT(REAL, dzi);
  USE_OUT(REAL, dzh);
  USE_OUT(REAL, dh_before);
  FOR_EACH_UNIT(hidden, samples) {
    const I64 n = samples - col;
    const LANE r = UNIT(gates, 0), z = UNIT(gates, 1), fresh = UNIT(gates, 2), above = UNIT(dh, 0);
    const LANE before = h_before_base ? UNIT(h_before, 0) : SET(0);
    const LANE dn = (above * (SET(1) - z)) * tanh_slope(fresh);
    const LANE dr = (dn * UNIT(zh, 2)) * sigmoid_slope(r);
    const LANE dz = (above * (before - fresh)) * sigmoid_slope(z);
    GIVE_UNIT(dr, dzi, 0);
    GIVE_UNIT(dr, dzh, 0);
    GIVE_UNIT(dz, dzi, 1);
    GIVE_UNIT(dz, dzh, 1);
    GIVE_UNIT(dn, dzi, 2);
    GIVE_UNIT(dn * r, dzh, 2);
    GIVE_UNIT(above * z, dh_before, 0);
  }
}

// One work-item per element (LANES is 1).
KERNEL pack_steps(IN(REAL, from), I64 from_stride, I64 steps, I64 step_stride, I64 shift, IN(I64, bounds), I64 slots,
                  OUT(REAL, to), I64 to_stride, I64 rows) {
  USE_IN(REAL, from);
  USE_IN(I64, bounds);
  USE_OUT(REAL, to);
  const I64 cols = steps * bounds[slots];
  FOR_EACH_UNIT(rows, cols) {
    I64 slot = 0;
    while (steps * bounds[slot + 1] <= col) ++slot;
    const I64 size = bounds[slot + 1] - bounds[slot], at = col - steps * bounds[slot];
    const I64 step = at / size + shift, sample = bounds[slot] + at % size;
    to[row * to_stride + col] =
        step >= 0 && step < steps ? from[row * from_stride + step * step_stride + sample] : R(0);
  }
}

KERNEL end_steps(I64 step, IN(I64, lengths), IN(REAL, ended), I64 ended_stride, OUT(REAL, y), I64 y_stride, I64 rows,
                 I64 samples) {
  USE_IN(I64, lengths);
  USE_IN(REAL, ended);
  USE_OUT(REAL, y);
  FOR_EACH_UNIT(rows, samples) {
    if (step >= lengths[col]) y[row * y_stride + col] = ended_base ? ended[row * ended_stride + col] : R(0);
  }
}
