#pragma once
// A fiber: a stack of its own and the place where it stopped. Threads of a block are fibers, because a block of 256
// real threads that meet at barriers is a hundred times slower.

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace cuda_emulator {

class Fiber {
 public:
  /// `entry` runs on `stack` at the first resume() and must end with a suspend() that is never resumed.
  void start(char* stack, std::size_t bytes, void (*entry)());
  /// Runs the fiber until it calls suspend(). Both are called from one OS thread.
  void resume();
  void suspend();

 private:
#if defined(__x86_64__)
  void* own_ = nullptr;
  void* other_ = nullptr;
#else
  ucontext_t own_, other_;
#endif
};

}  // namespace cuda_emulator
