#pragma once
// Whether a device computes as IEEE 754 says. What a driver declares (CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) is not
// believed, either way: a few thousand hard cases are computed on the device, compiled as kernels are, and compared
// with the host's bits.

#include "lockstep/kernels/device/device.hpp"

namespace lockstep::opencl {

/// Division, square root, fma, products and sums (also denormal ones) and that a product and a sum are not fused, in
/// float32 and float64, in scalars and in vectors. Throws Error(usage) that names the first operation that differs. A
/// device that has passed is not asked again in this process.
void probe(Device& device);

}  // namespace lockstep::opencl
