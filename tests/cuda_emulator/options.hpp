#pragma once
// How the emulator behaves: words of the environment variable LOCKSTEP_CUDA_EMULATOR, separated by commas.

#include <cstddef>
#include <cstdint>
#include <string>

namespace cuda_emulator {

enum class Order { forward, reverse, random };

struct Options {
  /// "eager": run what is put into a stream at once. Otherwise it runs when somebody waits for it, as late as a GPU
  /// may run it, so that a forgotten wait shows.
  bool eager = false;
  /// "reverse", "random": in which order the blocks of a grid, and between barriers the threads of a block, run.
  Order order = Order::forward;
  /// "memory=MIB": how much there is to allocate.
  std::size_t memory_bytes = std::size_t{1} << 30;
  /// "devices=N": how many devices there are; "driver=none": as if no driver were installed.
  int devices = 1;
  bool driver = true;
  /// "trace=FILE": a line "kernel threads" for every size of block that a kernel is launched with, and a line "context
  /// device" for every device that is asked for a context.
  std::string trace;
  /// "ptx=FLOAT:DOUBLE": two files of nvcc, whose kernels are executed in the place of those that g++ made.
  std::string ptx;
  /// "sample=N": run at most N blocks of a launch, spread over it; counters are scaled up. The results are worth
  /// nothing.
  std::size_t sample = 0;
  /// "sms=N": how many multiprocessors there are; "sm=75": the compute capability.
  int multiprocessors = 1, capability = 0;
  /// "image=none": a device for which the plugin holds no kernels.
  bool image = true;
  /// "taken=MIB": what others have taken of the memory; "stack=BYTES": what a thread of every kernel keeps there.
  std::size_t taken_bytes = 0, stack_bytes = 0;
  /// "lose=LAUNCH/ERROR": from this launch on (the first one is 1) every call returns this error of CUDA.
  std::uint64_t lose_at = 0;
  int lose_error = 0;
};

/// Read once. An unknown word ends the program.
const Options& options();

}  // namespace cuda_emulator
