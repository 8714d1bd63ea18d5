#pragma once
// What an operation costs, counted from what is computed, never from padding: floating-point operations and the
// bytes that must move if every operand travels once.

#include <algorithm>
#include <cstdint>

namespace lockstep {

struct Cost {
  double flops = 0;
  double bytes = 0;
};

constexpr Cost operator+(Cost a, Cost b) { return {a.flops + b.flops, a.bytes + b.bytes}; }
constexpr Cost operator*(double n, Cost c) { return {n * c.flops, n * c.bytes}; }

/// One axis of a window that slides over an input: of a convolution's kernel, of pooling.
struct WindowAxis {
  std::int64_t in = 1, out = 1, taps = 1, stride = 1, pad = 0, dilation = 1;

  /// Pairs of an output and a tap whose input lies inside: 0 <= output * stride + tap * dilation - pad < in. The others
  /// fall into the padding, and kernels skip them.
  constexpr std::int64_t taps_inside() const {
    std::int64_t inside = 0;
    for (std::int64_t o = 0; o < out; ++o) {
      const std::int64_t before = pad - o * stride, until = in + before;  // taps at before <= tap * dilation < until
      const std::int64_t first = before > 0 ? (before + dilation - 1) / dilation : 0;
      const std::int64_t end = until > 0 ? std::min((until + dilation - 1) / dilation, taps) : 0;
      inside += std::max<std::int64_t>(end - first, 0);
    }
    return inside;
  }
};

}  // namespace lockstep
