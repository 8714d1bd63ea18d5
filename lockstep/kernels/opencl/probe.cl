// What the device's arithmetic gives for the cases of probe.cpp, in scalars and in vectors of the width that kernels use.
// in: a, b, c, each `count` numbers; out: six results of each case, first by scalars, then (LANES > 1) by vectors.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define PROBE(T, V, N, LOADN, STOREN)                                                                                  \
  DEVICE void probe_##N(__global const T *in, __global T *out, long i, long count) {                                   \
    const V a = LOADN(in + i), b = LOADN(in + count + i), c = LOADN(in + 2 * count + i);                               \
    const V quotient = a / b, root = sqrt(a), fused = fma(a, b, c), product = a * b, sum = a + b;                      \
    const V rounded = product + c;                                                                                     \
    STOREN(quotient, out + i);                                                                                         \
    STOREN(root, out + count + i);                                                                                     \
    STOREN(fused, out + 2 * count + i);                                                                                \
    STOREN(product, out + 3 * count + i);                                                                              \
    STOREN(sum, out + 4 * count + i);                                                                                  \
    STOREN(rounded, out + 5 * count + i);                                                                              \
  }

#define LOAD_ONE(p) (*(p))
#define STORE_ONE(v, p) (*(p) = (v))
#define LOAD_MANY(p) JOIN(vload, LANES)(0, p)
#define STORE_MANY(v, p) JOIN(vstore, LANES)(v, 0, p)
#define LOAD_EIGHT(p) vload8(0, p)
#define STORE_EIGHT(v, p) vstore8(v, 0, p)

PROBE(float, float, float, LOAD_ONE, STORE_ONE)
PROBE(double, double, double, LOAD_ONE, STORE_ONE)
#if LANES > 1
PROBE(float, JOIN(float, LANES), floats, LOAD_MANY, STORE_MANY)
PROBE(double, double8, doubles, LOAD_EIGHT, STORE_EIGHT)
#endif

// A work-item has 16 cases.
KERNEL probe(IN(float, f), OUT(float, f_out), IN(double, d), OUT(double, d_out), I64 count) {
  USE_IN(float, f);
  USE_OUT(float, f_out);
  USE_IN(double, d);
  USE_OUT(double, d_out);
  const I64 first = GLOBAL_ITEM(0) * 16;
  for (I64 i = first; i < first + 16; ++i) {
    probe_float(f, f_out, i, count);
    probe_double(d, d_out, i, count);
  }
#if LANES > 1
  for (I64 i = first; i < first + 16; i += LANES) probe_floats(f, f_out + 6 * count, i, count);
  for (I64 i = first; i < first + 16; i += 8) probe_doubles(d, d_out + 6 * count, i, count);
#endif
}
