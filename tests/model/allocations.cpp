#include "tests/model/allocations.hpp"

#include <cstdlib>
#include <new>

namespace lockstep::test {

std::atomic<std::int64_t> allocations{0};

}  // namespace lockstep::test

void* operator new(std::size_t bytes) {
  ++lockstep::test::allocations;
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
