#pragma once
// Operations of optimizer.hpp over several stretches of a vector by one launch. On devices only, where a launch costs
// more than the work; processors go from stretch to stretch.

#include <cstdint>
#include <span>

#include "lockstep/kernels/context.hpp"

namespace lockstep::device {

/// Stretches [ranges[0], ranges[1]), [ranges[2], ranges[3]), ... of vectors on the device.
using Ranges = std::span<const std::int64_t>;

/// g = g * factor there.
template <class T>
void scale_ranges(KernelContext& context, T factor, T* g, Ranges ranges);

/// g = fma(l2, w, g) there.
template <class T>
void add_l2_ranges(KernelContext& context, T l2, const T* w, T* g, Ranges ranges);

}  // namespace lockstep::device
