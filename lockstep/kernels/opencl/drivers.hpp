#pragma once
#include <string>

namespace lockstep::opencl {

/// Why there is no device although the loader is there, and what to do. The loader leaves a driver out without a word
/// when it cannot open it (a library that the driver needs is missing, a limit of memory): this opens each of them
/// again and says what stands against it.
std::string why_no_device();

}  // namespace lockstep::opencl
