#pragma once
// The memory of the emulated device. Every byte has two addresses. The one the host gets lies in a range that nobody
// may read or write: a host that follows a device pointer is caught. The one a kernel gets (translated when it is
// launched) lies in a second range, where every allocation ends at a page that nobody may touch, begins as NaN and is
// taken away when it is freed. The few bytes between the end of an allocation and its page hold a pattern that is
// checked.

#include <cstddef>

namespace cuda_emulator {

/// The host's address, 16-byte aligned; null where the device is full.
void* allocate(std::size_t bytes);
/// False where nothing was allocated at this address.
bool release(void* address);

/// The kernel's address of `bytes` bytes at the host's address; null where that is not within one allocation.
void* device_bytes(const void* address, std::size_t bytes);
/// Whether the address is one of the device's, allocated or not.
bool is_device_address(const void* address);

std::size_t free_bytes();

/// Ends the program where somebody wrote between the end of an allocation and its guard page, or before its beginning.
void check_margins();

/// For the signal handler: what an access to this address means; false where it has nothing to do with the device.
bool describe_fault(const void* address, char* text, std::size_t size);

}  // namespace cuda_emulator
