#pragma once
// Where an array lives: on the host, or on a device whose addresses look like others. A device address may be stored,
// compared and offset like any T*, but only that device's kernels and copies may follow it.

#include <cstddef>
#include <cstdint>

namespace lockstep {

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  /// Zeros, aligned to a cache line at least. Throws Error(resources) where there is not that much.
  virtual std::byte* allocate(std::int64_t bytes) = 0;
  virtual void release(std::byte* address) noexcept = 0;
  /// From one place of this memory to another of it; the two do not overlap.
  virtual void copy_within(std::byte* to, const std::byte* from, std::int64_t bytes) = 0;
};

Memory& host_memory();

}  // namespace lockstep
