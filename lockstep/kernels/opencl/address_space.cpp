#include "lockstep/kernels/opencl/address_space.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "lockstep/core/error.hpp"

namespace lockstep::opencl {

namespace {
constexpr std::size_t kPage = 4096;
}

AddressSpace::~AddressSpace() {
  while (!ranges_.empty()) remove(reinterpret_cast<std::byte*>(ranges_.begin()->first));
}

std::byte* AddressSpace::add(cl_mem buffer, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(bytes);
  const std::size_t mapped = (size / kPage + 2) * kPage;  // and a page that belongs to no buffer
  void* const address = mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    api().clReleaseMemObject(buffer);
    fail_system(ExitCode::resources, "cannot reserve addresses for device memory", errno);
  }
  ranges_.emplace(reinterpret_cast<std::uint64_t>(address), Range{size, mapped, buffer});
  return static_cast<std::byte*>(address);
}

void AddressSpace::remove(std::byte* address) noexcept {
  const auto found = ranges_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == ranges_.end()) return;
  api().clReleaseMemObject(found->second.buffer);
  munmap(address, found->second.mapped);
  ranges_.erase(found);
}

AddressSpace::Place AddressSpace::find(std::uint64_t address) const {
  auto after = ranges_.upper_bound(address);
  if (after != ranges_.begin()) {
    const auto& [first, range] = *--after;
    // One past the end is an address too: of nothing, which may be copied.
    if (address - first <= range.bytes) return {range.buffer, static_cast<std::size_t>(address - first)};
  }
  throw Error(ExitCode::bug, "an address of the host was given to a device");
}

}  // namespace lockstep::opencl
