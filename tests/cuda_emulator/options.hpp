#pragma once
// How the emulator behaves: words of the environment variable LOCKSTEP_CUDA_EMULATOR, separated by commas.

#include <cstddef>
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
  /// "trace=FILE": a line "kernel threads" for every size of block that a kernel is launched with.
  std::string trace;
};

/// Read once. An unknown word ends the program.
const Options& options();

}  // namespace cuda_emulator
