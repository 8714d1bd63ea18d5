#pragma once
// The numbers that the host and the kernel text share (text/constants.h): how an enumeration of a contract travels to a
// kernel, and constants of contracts that the text repeats.

#include "lockstep/kernels/operations.hpp"

#include "lockstep/kernels/device/text/constants.h"

namespace lockstep::device {

static_assert(VIRTUAL_LANES == kLanes && DROPOUT_ROWS == kDropoutRows && SQUARE_BLOCK == kSquareBlock);

constexpr std::int32_t code_of(ActivationKind kind) {
  switch (kind) {
    case ActivationKind::relu:
      return RELU;
    case ActivationKind::leaky_relu:
      return LEAKY_RELU;
    case ActivationKind::tanh:
      return TANH;
    case ActivationKind::abs_tanh:
      return ABS_TANH;
    case ActivationKind::sigmoid:
      return SIGMOID;
    case ActivationKind::gelu:
      return GELU;
  }
  return -1;
}

constexpr std::int32_t code_of(Loss loss) {
  switch (loss) {
    case Loss::cross_entropy:
      return CROSS_ENTROPY;
    case Loss::binary_cross_entropy:
      return BINARY_CROSS_ENTROPY;
    case Loss::squared_error:
      return SQUARED_ERROR;
    case Loss::focal:
      return FOCAL;
    case Loss::huber:
      return HUBER;
  }
  return -1;
}

}  // namespace lockstep::device
