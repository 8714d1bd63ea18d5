#include "fiber.hpp"

#include <cstdint>

#if defined(__x86_64__)

// Saves what the calling convention asks a function to keep, and goes on where `to` was saved. Two such switches cost
// ten nanoseconds; swapcontext asks the kernel for the signal mask twice and costs a hundred times that.
extern "C" void lockstep_emulator_switch(void** from, void* to);
asm(R"(
.text
.hidden lockstep_emulator_switch
.globl lockstep_emulator_switch
.type lockstep_emulator_switch, @function
lockstep_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size lockstep_emulator_switch, . - lockstep_emulator_switch
)");

namespace cuda_emulator {

void Fiber::start(char* stack, std::size_t bytes, void (*entry)()) {
  const auto end = reinterpret_cast<std::uintptr_t>(stack + bytes) & ~std::uintptr_t{15};
  // Six registers, the address to return to, and the place of the caller's own: aligned as after a call.
  void** const top = reinterpret_cast<void**>(end) - 8;  // NOLINT(performance-no-int-to-ptr)
  for (int i = 0; i < 8; ++i) top[i] = nullptr;
  top[6] = reinterpret_cast<void*>(entry);
  own_ = top;
}

void Fiber::resume() { lockstep_emulator_switch(&other_, own_); }
void Fiber::suspend() { lockstep_emulator_switch(&own_, other_); }

}  // namespace cuda_emulator

#else

namespace cuda_emulator {

void Fiber::start(char* stack, std::size_t bytes, void (*entry)()) {
  ::getcontext(&own_);
  own_.uc_stack.ss_sp = stack;
  own_.uc_stack.ss_size = bytes;
  own_.uc_link = nullptr;
  ::makecontext(&own_, entry, 0);
}

void Fiber::resume() { ::swapcontext(&other_, &own_); }
void Fiber::suspend() { ::swapcontext(&own_, &other_); }

}  // namespace cuda_emulator

#endif
