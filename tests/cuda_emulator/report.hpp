#pragma once
// How the emulator says what is wrong: one line on stderr with the kernel, the block and the thread, then abort.

#include <string>

namespace cuda_emulator {

[[noreturn]] void fail(const std::string& what);

/// The kernel that runs, or null. Only for messages.
extern const char* running_kernel;

/// Turns the accesses that end in a guard page into such a line; the first allocation calls it.
void catch_faults();

}  // namespace cuda_emulator
