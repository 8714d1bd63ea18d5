#pragma once
// What an operation costs, counted from the mathematics, never from padding: floating-point operations and the
// bytes that must move if every operand travels once.

namespace lockstep {

struct Cost {
  double flops = 0;
  double bytes = 0;
};

constexpr Cost operator+(Cost a, Cost b) { return {a.flops + b.flops, a.bytes + b.bytes}; }
constexpr Cost operator*(double n, Cost c) { return {n * c.flops, n * c.bytes}; }

}  // namespace lockstep
