#pragma once
// Every kernel of the text and the program (the file <program>.h) that holds it: LOCKSTEP_DEVICE_KERNEL(program, kernel).

// clang-format off
#define LOCKSTEP_DEVICE_KERNELS(X)
// clang-format on
