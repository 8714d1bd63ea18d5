#pragma once
// The two operations that courses on parallel computing begin with, in every build of the kernels. They are no part of
// any network, so they have a table of their own.

#include <string_view>

#include "lockstep/kernels/primitives/elementwise_max.hpp"
#include "lockstep/kernels/primitives/xxt.hpp"

namespace lockstep {

struct PrimitiveTable {
  std::string_view name;  // "naive", "simd.avx2"
  void (*elementwise_max)(const ElementwiseMax&) = nullptr;
  void (*xxt)(const Xxt&) = nullptr;  // three loops; null in the tables of SIMD kernels, which have linear_forward
};

}  // namespace lockstep
