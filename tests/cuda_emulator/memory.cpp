#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "options.hpp"
#include "report.hpp"

namespace cuda_emulator {

namespace {

constexpr int kMarginByte = 0xA5;

struct Allocation {
  std::size_t first_page, pages;  // the guard page behind it is not counted
  std::size_t offset, bytes;
};

/// One range for the host's addresses, one for the kernels'; the distance between them is constant.
struct Ranges {
  std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::size_t size;
  char *host, *kernel;
  std::map<std::size_t, Allocation> allocations;  // by offset
  std::size_t used = 0;

  Ranges() {
    // Guard pages need room too: address space costs nothing.
    size = options().memory_bytes * 2 + (std::size_t{64} << 20);
    host = reserve();
    kernel = reserve();
  }
  char* reserve() const {
    void* const address = ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED) fail("no address space for the memory of the device");
    return static_cast<char*>(address);
  }
  /// The first page of a gap with room for `pages` and a guard page; SIZE_MAX where there is none.
  std::size_t find_gap(std::size_t pages) const {
    std::size_t begin = 0;
    for (const auto& [offset, allocation] : allocations) {
      if (allocation.first_page - begin >= pages + 1) return begin;
      begin = allocation.first_page + allocation.pages + 1;
    }
    return (begin + pages + 1) * page <= size ? begin : SIZE_MAX;
  }
  const Allocation* find(std::size_t offset) const {
    auto next = allocations.upper_bound(offset);
    if (next == allocations.begin()) return nullptr;
    const Allocation& candidate = std::prev(next)->second;
    return offset <= candidate.offset + candidate.bytes ? &candidate : nullptr;
  }
};

Ranges& ranges() {
  static Ranges instance;
  return instance;
}

std::size_t distance(const char* range, const void* address) {
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(range));
}

void check_margins_of(const Ranges& all, const Allocation& a) {
  const char* const begin = all.kernel + a.first_page * all.page;
  const char* const data = all.kernel + a.offset;
  static const std::vector<char> pattern(all.page, static_cast<char>(kMarginByte));  // no margin is longer than a page
  const auto intact = [](const char* from, const char* to) {
    return std::memcmp(from, pattern.data(), static_cast<std::size_t>(to - from)) == 0;
  };
  if (!intact(begin, data))
    fail("a kernel wrote before the beginning of an allocation of " + std::to_string(a.bytes) + " bytes");
  if (!intact(data + a.bytes, begin + a.pages * all.page))
    fail("a kernel wrote past the end of an allocation of " + std::to_string(a.bytes) + " bytes");
}

}  // namespace

void* allocate(std::size_t bytes) {
  catch_faults();
  Ranges& all = ranges();
  if (bytes > free_bytes()) return nullptr;
  const std::size_t aligned = (std::max<std::size_t>(bytes, 1) + 15) / 16 * 16;
  const std::size_t pages = (aligned + all.page - 1) / all.page;
  const std::size_t first = all.find_gap(pages);
  if (first == SIZE_MAX) return nullptr;
  char* const begin = all.kernel + first * all.page;
  if (::mprotect(begin, pages * all.page, PROT_READ | PROT_WRITE) != 0) return nullptr;
  const std::size_t offset = (first + pages) * all.page - aligned;
  std::memset(begin, kMarginByte, pages * all.page);
  std::memset(all.kernel + offset, 0xFF, bytes);  // NaN in float and in double
  all.allocations[offset] = {first, pages, offset, bytes};
  all.used += bytes;
  return all.host + offset;
}

bool release(void* address) {
  Ranges& all = ranges();
  const auto found = all.allocations.find(distance(all.host, address));
  if (found == all.allocations.end()) return false;
  const Allocation& a = found->second;
  check_margins_of(all, a);
  char* const begin = all.kernel + a.first_page * all.page;
  ::madvise(begin, a.pages * all.page, MADV_DONTNEED);
  ::mprotect(begin, a.pages * all.page, PROT_NONE);
  all.used -= a.bytes;
  all.allocations.erase(found);
  return true;
}

bool is_device_address(const void* address) { return distance(ranges().host, address) < ranges().size; }

void* device_bytes(const void* address, std::size_t bytes) {
  const Ranges& all = ranges();
  const std::size_t offset = distance(all.host, address);
  if (offset >= all.size) return nullptr;
  const Allocation* const a = all.find(offset);
  return a != nullptr && bytes <= a->offset + a->bytes - offset ? all.kernel + offset : nullptr;
}

std::size_t free_bytes() {
  const std::size_t used = ranges().used + options().taken_bytes;
  return used < options().memory_bytes ? options().memory_bytes - used : 0;
}

void check_margins() {
  for (const auto& [offset, allocation] : ranges().allocations) check_margins_of(ranges(), allocation);
}

bool describe_fault(const void* address, char* text, std::size_t size) {
  const Ranges& all = ranges();
  if (distance(all.host, address) < all.size) {
    std::snprintf(text, size, "the host read or wrote device memory; copy it first");
    return true;
  }
  const std::size_t offset = distance(all.kernel, address);
  if (offset >= all.size) return false;
  const auto next = all.allocations.upper_bound(offset);
  if (next == all.allocations.begin()) {
    std::snprintf(text, size, "access to memory that is not allocated");
    return true;
  }
  const Allocation& a = std::prev(next)->second;
  std::snprintf(text, size, "access out of bounds: %zu bytes past the end of an allocation of %zu bytes",
                offset - (a.offset + a.bytes), a.bytes);
  return true;
}

}  // namespace cuda_emulator
