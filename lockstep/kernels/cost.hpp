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

  /// Taps of one output that lie inside: 0 <= output * stride + tap * dilation - pad < in. The others fall into the
  /// padding, and kernels skip them.
  constexpr std::int64_t taps_at(std::int64_t output) const {
    const std::int64_t before = pad - output * stride, until = in + before;  // before <= tap * dilation < until
    const std::int64_t first = before > 0 ? (before + dilation - 1) / dilation : 0;
    const std::int64_t end = until > 0 ? std::min((until + dilation - 1) / dilation, taps) : 0;
    return std::max<std::int64_t>(end - first, 0);
  }
  /// Of all outputs. Those in the middle have all their taps: only the edges are looked at one by one.
  constexpr std::int64_t taps_inside() const {
    const std::int64_t room = in + pad - dilation * (taps - 1);
    const std::int64_t from = std::min((pad + stride - 1) / stride, out);
    const std::int64_t to = std::clamp(room > 0 ? (room + stride - 1) / stride : 0, from, out);
    std::int64_t inside = (to - from) * taps;
    for (std::int64_t o = 0; o < from; ++o) inside += taps_at(o);
    for (std::int64_t o = to; o < out; ++o) inside += taps_at(o);
    return inside;
  }
};

}  // namespace lockstep
