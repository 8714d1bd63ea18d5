#pragma once
// The primitives of kernels/primitives on a device. Every address is the device's; matrices have no padding. The
// results are those of the plain loops, the order of every sum included.

#include "lockstep/kernels/device/device.hpp"

namespace lockstep::device {

/// Starts a kernel that does nothing, and waits for it.
void launch_nothing(Device& device, float* anything);

/// Multiplications and additions per second, at most: chains of multiply-adds in registers, by the device's clock.
/// Leaves timing switched off.
template <class T>
double measure_fma_peak(Device& device);

struct MaxArguments {
  const std::int32_t *a = nullptr, *b = nullptr;
  std::int32_t* c = nullptr;
  std::int64_t rows = 0, cols = 0;
};

/// A block per row, a thread per element: the classic shape. Error(usage) where the device has no blocks that large.
void max_by_rows(Device& device, const MaxArguments& arguments);
/// As many blocks as the device keeps busy, each of which takes many elements. Gives their number.
std::int64_t max_by_turns(Device& device, const MaxArguments& arguments);

struct XxtArguments {
  const float* x = nullptr;     // [n, k]
  float* y = nullptr;           // [n, n]
  float* transposed = nullptr;  // room for [k, n]; of xxt_by_tiles only
  std::int64_t n = 0, k = 0;
};

/// One block of `threads`: the classic shape. Error(usage) where the device has no blocks that large.
void xxt_by_one_block(Device& device, const XxtArguments& arguments, std::int64_t threads);
/// A thread per element, as many blocks as that takes. Gives their number.
std::int64_t xxt_by_elements(Device& device, const XxtArguments& arguments);
/// A tile of y per thread, from x and its transpose, which is made first. Gives the number of blocks.
std::int64_t xxt_by_tiles(Device& device, const XxtArguments& arguments);

}  // namespace lockstep::device
