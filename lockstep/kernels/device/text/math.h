// exp, log, log1p, tanh and sigmoid of a LANE: the operations of kernels/math/elementary.hpp in the same order, with the
// same constants (kernels/math/constants.hpp explains them), so that the bits are the same. Contract tests compare them.

#if REAL_IS_DOUBLE
#define MANTISSA_BITS 52
#define EXP_BIAS ((WORD)1023)
#define SIGN_MASK ((WORD)0x8000000000000000UL)
#define MANTISSA_MASK ((WORD)0x000FFFFFFFFFFFFFUL)
#define SQRT_HALF_BITS ((WORD)0x3FE6A09E667F3BCDUL)
#define INFINITY_BITS ((WORD)0x7FF0000000000000UL)
#define NAN_BITS ((WORD)0x7FF8000000000000UL)
#define INTEGER_BITS ((WORD)0x4330000000000000UL) /* 2^52 */
#define INTEGER R(0x1p52)
#define MIN_NORMAL R(0x1p-1022)
#define ROUND R(0x1.8p52 + 2046.0)
#define LOG2E R(0x1.71547652b82fep+0)
#define LN2_HIGH R(0x1.62e42fefa38p-1)
#define LN2_LOW R(0x1.ef35793c7673p-45)
#define EXP_MAX R(710.0)
#define EXP_MIN R(-746.0)
#define TANH_MAX R(20.0)
#define SUBNORMAL_SCALE R(0x1p53)
#define SUBNORMAL_SHIFT R(53.0)
#else
#define MANTISSA_BITS 23
#define EXP_BIAS ((WORD)127)
#define SIGN_MASK ((WORD)0x80000000U)
#define MANTISSA_MASK ((WORD)0x007FFFFFU)
#define SQRT_HALF_BITS ((WORD)0x3F3504F3U)
#define INFINITY_BITS ((WORD)0x7F800000U)
#define NAN_BITS ((WORD)0x7FC00000U)
#define INTEGER_BITS ((WORD)0x4B000000U) /* 2^23 */
#define INTEGER R(0x1p23F)
#define MIN_NORMAL R(0x1p-126F)
#define ROUND R(0x1.8p23F + 254.0F)
#define LOG2E R(0x1.715476p+0F)
#define LN2_HIGH R(0x1.62e4p-1F)
#define LN2_LOW R(0x1.7f7d1cp-20F)
#define EXP_MAX R(89.0F)
#define EXP_MIN R(-105.0F)
#define TANH_MAX R(10.0F)
#define SUBNORMAL_SCALE R(0x1p24F)
#define SUBNORMAL_SHIFT R(24.0F)
#endif

#define TERM(rest, x, c) fma(rest, x, SET(c))

DEVICE LANE exp_tail(LANE r) {
#if REAL_IS_DOUBLE
  LANE p = SET(0x1.afd8944516733p-26);
  p = TERM(p, r, 0x1.28a6e0ff93322p-22);
  p = TERM(p, r, 0x1.71dd8fb443a8fp-19);
  p = TERM(p, r, 0x1.a019a00c94232p-16);
  p = TERM(p, r, 0x1.a01a01e5893b5p-13);
  p = TERM(p, r, 0x1.6c16c1829a402p-10);
  p = TERM(p, r, 0x1.1111111107225p-7);
  p = TERM(p, r, 0x1.5555555550b21p-5);
  p = TERM(p, r, 0x1.5555555555554p-3);
  return TERM(p, r, 0x1.000000000000ap-1);
#else
  LANE p = SET(0x1.6ac74ep-10F);
  p = TERM(p, r, 0x1.123de0p-7F);
  p = TERM(p, r, 0x1.555858p-5F);
  p = TERM(p, r, 0x1.55548cp-3F);
  return TERM(p, r, 0x1.fffffcp-2F);
#endif
}

DEVICE LANE log_tail(LANE z) {
#if REAL_IS_DOUBLE
  LANE p = SET(0x1.2f04e5cef85a6p-3);
  p = TERM(p, z, 0x1.39a1cdddd3ee2p-3);
  p = TERM(p, z, 0x1.74663dd920f53p-3);
  p = TERM(p, z, 0x1.c71c521085d46p-3);
  p = TERM(p, z, 0x1.24924941e4f46p-2);
  p = TERM(p, z, 0x1.999999997fef1p-2);
  return TERM(p, z, 0x1.5555555555592p-1);
#else
  LANE p = SET(0x1.31e0d8p-2F);
  p = TERM(p, z, 0x1.995ed4p-2F);
  return TERM(p, z, 0x1.55557ap-1F);
#endif
}

DEVICE LANE magnitude(LANE x) { return AS_LANE(AS_BITS(x) & ~SIGN_MASK); }

typedef struct {
  LANE p;
  BITS exponent;
} ExpParts;

DEVICE ExpParts exp_parts(LANE x) {
  const LANE shifted = fma(x, SET(LOG2E), SET(ROUND));
  const LANE n = shifted - SET(ROUND);
  LANE r = fma(n, SET(-LN2_HIGH), x);
  r = fma(n, SET(-LN2_LOW), r);
  ExpParts parts;
  parts.p = fma(r * r, exp_tail(r), r);
  parts.exponent = AS_BITS(shifted);
  return parts;
}

DEVICE LANE exp_scale(ExpParts parts) { return AS_LANE((parts.exponent - EXP_BIAS) << MANTISSA_BITS); }

DEVICE LANE exp_value(ExpParts parts) {
  const BITS half_of = parts.exponent >> 1;
  return (SET(1) + parts.p) * AS_LANE(half_of << MANTISSA_BITS) * AS_LANE((parts.exponent - half_of) << MANTISSA_BITS);
}

DEVICE LANE real_exp(LANE x) {
  const LANE below = x > SET(EXP_MAX) ? SET(EXP_MAX) : x;
  return exp_value(exp_parts(below < SET(EXP_MIN) ? SET(EXP_MIN) : below));
}

typedef struct {
  LANE k, m;
} LogParts;

DEVICE LogParts log_parts(LANE x) {
  const BITS above = AS_BITS(x) - SQRT_HALF_BITS + ((EXP_BIAS + 1) << MANTISSA_BITS);
  const BITS count = (above >> MANTISSA_BITS) | INTEGER_BITS;
  LogParts parts;
  parts.k = AS_LANE(count) - SET(INTEGER + (REAL)(EXP_BIAS + 1));
  parts.m = AS_LANE((above & MANTISSA_MASK) + SQRT_HALF_BITS);
  return parts;
}

DEVICE LANE log_sum(LANE k, LANE f, LANE extra) {
  const LANE s = f / (SET(2) + f);
  const LANE z = s * s;
  const LANE half_square = SET(0.5F) * f * f;
  const LANE low = fma(k, SET(LN2_LOW), extra);
  const LANE correction = half_square - fma(s, fma(z, log_tail(z), half_square), low);
  return fma(k, SET(LN2_HIGH), f - correction);
}

DEVICE LANE real_log(LANE x) {
  const LANE zero = SET(0), infinity = AS_LANE((BITS)(INFINITY_BITS));
  const LANE scaled = x < SET(MIN_NORMAL) ? x * SET(SUBNORMAL_SCALE) : x;
  const LogParts parts = log_parts(scaled);
  const LANE k = parts.k - (x < SET(MIN_NORMAL) ? SET(SUBNORMAL_SHIFT) : zero);
  const LANE result = log_sum(k, parts.m - SET(1), zero);
  const LANE outside = x == zero ? -infinity : AS_LANE((BITS)(NAN_BITS));
  const LANE inner = x < infinity ? result : x;
  return x > zero ? inner : outside;
}

DEVICE LANE real_log1p(LANE x) {
  const LANE zero = SET(0), one = SET(1), infinity = AS_LANE((BITS)(INFINITY_BITS));
  const LANE u = one + x;
  const LANE back = u - one;
  const LANE lost = (x - back) + (one - (u - back));
  const LogParts parts = log_parts(u);
  const LANE f = parts.k == zero ? x : parts.m - one;
  const LANE extra = parts.k == zero ? zero : lost / u;
  const LANE sum = log_sum(parts.k, f, extra);
  const LANE result = x == zero ? x : sum;
  const LANE outside = x == -one ? -infinity : AS_LANE((BITS)(NAN_BITS));
  const LANE inner = x < infinity ? result : x;
  return x > -one ? inner : outside;
}

DEVICE LANE quotient(LANE a, LANE a_low, LANE b, LANE b_low) {
  const LANE inverse = SET(1) / b;
  const LANE first = a * inverse;
  const LANE remainder_of = fma(-first, b, a) + fma(-first, b_low, a_low);
  return fma(remainder_of, inverse, first);
}

DEVICE LANE real_tanh(LANE x) {
  const LANE one = SET(1), limit = SET(TANH_MAX);
  const LANE size = magnitude(x);
  const LANE capped = size > limit ? limit : size;
  const ExpParts parts = exp_parts(capped * SET(-2));
  const LANE scale = exp_scale(parts);
  const LANE above = one - scale;
  const LANE over = fma(-scale, parts.p, above);
  const LANE over_low = fma(-scale, parts.p, above - over);
  const LANE e = fma(scale, parts.p, scale);
  const LANE e_low = fma(scale, parts.p, scale - e);
  const LANE under = one + e;
  const LANE ratio = quotient(over, over_low, under, (e - (under - one)) + e_low);
  return AS_LANE(AS_BITS(ratio) | (AS_BITS(x) & SIGN_MASK));
}

DEVICE LANE real_sigmoid(LANE x) {
  const LANE one = SET(1), zero = SET(0), limit = SET(-EXP_MIN);
  const LANE size = magnitude(x);
  const LANE capped = size > limit ? limit : size;
  const LANE e = exp_value(exp_parts(-capped));
  const LANE under = one + e;
  return quotient(x < zero ? e : one, zero, under, e - (under - one));
}
