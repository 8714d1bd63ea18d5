#pragma once
// Streams and events. What is put into a stream waits there until somebody waits for it (or, with the option "eager",
// runs at once). A stream runs no further than it is asked to, and another stream only as far as an event that was
// waited for: a missing event between two streams shows as well as a missing wait of the host.

#include <functional>
#include <mutex>

#include "cuda_runtime.h"

namespace cuda_emulator {

/// Held by every call of the runtime: threads may have a device each, but there is one emulator.
std::unique_lock<std::recursive_mutex> lock_emulator();

void enqueue(cudaStream_t stream, std::function<void()> work);

/// The error of a device that is lost (option "lose"), or success.
cudaError_t state_of_device();

}  // namespace cuda_emulator
