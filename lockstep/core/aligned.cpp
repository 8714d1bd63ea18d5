#include "lockstep/core/aligned.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

namespace lockstep {

namespace {

class HostMemory : public Memory {
 public:
  std::byte* allocate(std::int64_t wanted) override {
    const std::size_t bytes = (static_cast<std::size_t>(wanted) + kCacheLine - 1) / kCacheLine * kCacheLine;
    void* const memory = std::aligned_alloc(kCacheLine, bytes);
    if (memory == nullptr)
      throw Error(ErrorCode::resources, "out of memory: " + std::to_string(bytes) + " bytes wanted");
    std::memset(memory, 0, bytes);
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* address) noexcept override { std::free(address); }
  void copy_within(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
};

}  // namespace

Memory& host_memory() {
  static HostMemory* const memory = new HostMemory;  // never destroyed: buffers with static lifetime outlive main
  return *memory;
}

}  // namespace lockstep
