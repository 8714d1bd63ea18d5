#pragma once
// Runs a grid: block after block, the threads of a block as fibers that take turns at barriers and warp operations.

#include <cstddef>
#include <functional>
#include <string>

#include "cuda_runtime.h"

namespace cuda_emulator {

struct Grid {
  const char* kernel;
  dim3 size, block;
  std::size_t shared_bytes;
  SharedSection section;         // static shared memory, filled with NaN before every block
  std::function<void()> thread;  // what every thread runs
  std::string counted_as{};      // its name among the counters
};

constexpr unsigned kMaxThreads = 1024;
constexpr std::size_t kSharedBytes = 48 * 1024;

void run_grid(const Grid& grid);
/// The number of the thread that runs, in its block.
unsigned running_thread();

/// As describe_fault of memory.hpp, for the stacks and the dynamic shared memory of a block.
bool describe_block_fault(const void* address, char* text, std::size_t size);

}  // namespace cuda_emulator
