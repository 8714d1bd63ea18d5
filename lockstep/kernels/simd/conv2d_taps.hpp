#pragma once
// Which taps of the kernel reach a destination position along one axis, and where in the source they lie. Forward, the
// destination is the output and position p sees source p*stride + k*dilation - pad; backward, it is the input, and p
// was seen from (p + pad - k*dilation) / stride, where that is a whole number.

#include "lockstep/kernels/simd/isa.hpp"

namespace lockstep::LOCKSTEP_SIMD {

/// The taps of one position, k ascending: k, k + k_step, ... at source, source + source_step, ... of the Axis.
struct Taps {
  std::int64_t count, k, source;
};

/// Positions first, first + period, ...: the same taps, and the source moves on by `advance` from one to the next.
struct Run {
  std::int64_t first, count;
  Taps taps;
};

struct Axis {
  std::int64_t size, source;  // positions of destination and source
  std::int64_t kernel, stride, dilation, pad;
  bool backward;
  std::int64_t k_step, source_step, period, advance;

  /// The source position of tap k, or -1 where there is none.
  LOCKSTEP_INLINE std::int64_t at(std::int64_t position, std::int64_t k) const {
    if (!backward) {
      const std::int64_t s = position * stride + k * dilation - pad;
      return s >= 0 && s < source ? s : -1;
    }
    const std::int64_t s = position + pad - k * dilation;
    return s >= 0 && s % stride == 0 && s / stride < source ? s / stride : -1;
  }

  LOCKSTEP_INLINE Taps taps(std::int64_t position) const {
    Taps taps = {0, 0, 0};
    for (std::int64_t k = 0; k < kernel; ++k) {
      const std::int64_t s = at(position, k);
      if (s < 0) continue;
      if (taps.count == 0) taps = {0, k, s};
      ++taps.count;
    }
    return taps;
  }

  /// Cuts all positions into runs; gives their number. `runs` has room for `size`.
  LOCKSTEP_INLINE std::int64_t runs(Run* out) const {
    std::int64_t count = 0;
    for (std::int64_t phase = 0; phase < least(period, size); ++phase)
      for (std::int64_t p = phase; p < size; p += period) {
        const Taps t = taps(p);
        if (p > phase) {
          Run& last = out[count - 1];
          if (last.taps.k == t.k && last.taps.count == t.count &&
              (t.count == 0 || last.taps.source + last.count * advance == t.source)) {
            ++last.count;
            continue;
          }
        }
        out[count++] = {p, 1, t};
      }
    return count;
  }
};

LOCKSTEP_INLINE Axis forward_axis(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                                  std::int64_t dilation, std::int64_t pad) {
  return {out, in, kernel, stride, dilation, pad, false, 1, dilation, 1, stride};
}

/// With c = gcd(stride, dilation): the taps of a position are stride/c apart, their sources dilation/c, descending.
LOCKSTEP_INLINE Axis backward_axis(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                                   std::int64_t dilation, std::int64_t pad) {
  std::int64_t c = stride;
  for (std::int64_t rest = dilation; rest != 0;) {
    const std::int64_t next = c % rest;
    c = rest;
    rest = next;
  }
  return {in, out, kernel, stride, dilation, pad, true, stride / c, -(dilation / c), stride, 1};
}

}  // namespace lockstep::LOCKSTEP_SIMD
