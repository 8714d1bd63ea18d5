#include "grid.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "counters.hpp"
#include "fiber.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "report.hpp"

namespace cuda_emulator {

uint3 thread_index = {}, block_index = {};
dim3 block_size, grid_size;

namespace {

constexpr std::size_t kStackBytes = 64 * 1024, kGuardBytes = 64 * 1024;
constexpr unsigned kWarp = 32;

enum class Waits { nothing, block, warp, finished };

struct Thread {
  Fiber fiber;
  Waits waits = Waits::nothing;
  const char* file = nullptr;  // of the barrier
  int line = 0;
  unsigned mask = 0;  // of the warp operation
  std::uint64_t given = 0, seen = 0;
};

/// One block at a time: what its threads share.
struct Block {
  std::vector<Thread> threads{kMaxThreads};
  std::vector<unsigned> order;
  char* shared_end = nullptr;  // dynamic shared memory ends here, at a page that nobody may touch
  std::size_t shared_bytes = 0;
  std::vector<std::uint64_t> published{std::vector<std::uint64_t>(kMaxThreads)};
  char* stacks = nullptr;
  unsigned count = 0, running = 0;
  const std::function<void()>* body = nullptr;
  std::mt19937 random{1};
};
Block block;

uint3 unfold(std::size_t i, dim3 size) {
  return {static_cast<unsigned>(i % size.x), static_cast<unsigned>(i / size.x % size.y),
          static_cast<unsigned>(i / size.x / size.y)};
}

char* reserve(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail("no memory for the threads of a block");
  return static_cast<char*>(memory);
}

char* stack_of(unsigned thread) {
  constexpr std::size_t kStep = kStackBytes + kGuardBytes;
  if (block.stacks == nullptr) {
    block.stacks = reserve(kMaxThreads * kStep);
    for (unsigned i = 0; i < kMaxThreads; ++i)
      ::mprotect(block.stacks + i * kStep + kGuardBytes, kStackBytes, PROT_READ | PROT_WRITE);
  }
  return block.stacks + thread * kStep + kGuardBytes;
}

void thread_main() {
  (*block.body)();
  Thread& self = block.threads[block.running];
  self.waits = Waits::finished;
  self.fiber.suspend();
}

/// The order in which the threads of a block or the blocks of a grid take their turns.
void arrange(std::vector<unsigned>& order, std::size_t count) {
  order.resize(count);
  std::iota(order.begin(), order.end(), 0u);
  if (options().order == Order::reverse) std::reverse(order.begin(), order.end());
  if (options().order == Order::random) std::shuffle(order.begin(), order.end(), block.random);
}

void give_turns() {
  for (const unsigned i : block.order) {
    Thread& thread = block.threads[i];
    if (thread.waits != Waits::nothing) continue;
    block.running = i;
    thread_index = unfold(i, block_size);
    thread.fiber.resume();
  }
}

/// Lets a warp go on where every lane that its operation names has come; false where none could.
bool release_warps() {
  bool any = false;
  for (unsigned first = 0; first < block.count; first += kWarp) {
    const unsigned lanes = std::min(kWarp, block.count - first);
    const unsigned present = lanes == kWarp ? ~0u : (1u << lanes) - 1;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      const Thread& leader = block.threads[first + lane];
      if (leader.waits != Waits::warp) continue;
      const unsigned wanted = leader.mask & present;
      unsigned arrived = 0;
      for (unsigned l = 0; l < lanes; ++l) {
        const Thread& other = block.threads[first + l];
        if (other.waits == Waits::warp && (other.mask & present) == wanted) arrived |= 1u << l;
      }
      if ((arrived & wanted) != wanted) continue;
      for (unsigned l = 0; l < lanes; ++l) {
        if ((wanted >> l & 1u) == 0) continue;
        block.published[first + l] = block.threads[first + l].given;
        block.threads[first + l].waits = Waits::nothing;
      }
      any = true;
    }
  }
  return any;
}

/// All threads stand at a barrier, or have returned: they may go on only if it is the same barrier for all.
void release_block(unsigned waiting, unsigned finished) {
  const auto at_barrier = [](const Thread& thread) { return thread.waits == Waits::block; };
  const auto begin = block.threads.begin(), end = begin + block.count;
  const Thread& first = *std::find_if(begin, end, at_barrier);
  const auto complain = [&](const Thread& thread, const std::string& what) {
    thread_index = unfold(static_cast<std::size_t>(&thread - block.threads.data()), block_size);
    fail("divergent barrier at " + std::string(thread.file) + ":" + std::to_string(thread.line) + ": " + what);
  };
  if (finished > 0)
    complain(first, std::to_string(finished) + " of " + std::to_string(block.count) + " threads have returned");
  for (auto thread = begin; thread != end; ++thread)
    if (thread->line != first.line || thread->file != first.file)
      complain(*thread, "other threads wait at line " + std::to_string(first.line));
  if (waiting != block.count) fail("deadlock: some threads wait at a barrier, others for lanes of their warp");
  flush_accesses();
  for (auto thread = begin; thread != end; ++thread) thread->waits = Waits::nothing;
}

void run_block(const Grid& grid) {
  arrange(block.order, block.count);
  std::fill(block.shared_end - block.shared_bytes, block.shared_end, char(0xFF));
  if (grid.section.begin != nullptr) std::fill(grid.section.begin, grid.section.end, char(0xFF));
  for (unsigned i = 0; i < block.count; ++i) {
    block.threads[i].waits = Waits::nothing;
    block.threads[i].fiber.start(stack_of(i), kStackBytes, thread_main);
  }
  while (true) {
    give_turns();
    unsigned finished = 0, at_barrier = 0;
    for (unsigned i = 0; i < block.count; ++i) {
      finished += block.threads[i].waits == Waits::finished;
      at_barrier += block.threads[i].waits == Waits::block;
    }
    if (finished == block.count) {
      flush_accesses();
      return;
    }
    if (finished + at_barrier < block.count) {
      if (!release_warps()) fail("deadlock: a warp operation names lanes that never come to it");
      continue;
    }
    release_block(at_barrier, finished);
  }
}

}  // namespace

void wait_for_block(const char* file, int line) {
  Thread& self = block.threads[block.running];
  self.file = file;
  self.line = line;
  self.waits = Waits::block;
  self.fiber.suspend();
}

unsigned running_thread() { return block.running; }

int lane() { return static_cast<int>(block.running % kWarp); }

std::uint64_t exchange_in_warp(unsigned mask, std::uint64_t value, int source) {
  const unsigned own = block.running, first = own / kWarp * kWarp;
  Thread& self = block.threads[own];
  if ((mask >> (own - first) & 1u) == 0) fail("a warp operation is called by a lane that its mask does not name");
  self.given = value;
  self.mask = mask;
  self.waits = Waits::warp;
  self.fiber.suspend();
  const bool given =
      source >= 0 && source < int(kWarp) && (mask >> source & 1u) != 0 && first + unsigned(source) < block.count;
  return given ? block.published[first + unsigned(source)] : value;
}

void* dynamic_shared() { return block.shared_end - block.shared_bytes; }

bool describe_block_fault(const void* address, char* text, std::size_t size) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto within = [&](const char* begin, std::size_t bytes) {
    return begin != nullptr && at - reinterpret_cast<std::uintptr_t>(begin) < bytes;
  };
  if (within(block.shared_end, kGuardBytes)) {
    std::snprintf(text, size, "access out of bounds of the %zu bytes of dynamic shared memory", block.shared_bytes);
    return true;
  }
  if (!within(block.stacks, kMaxThreads * (kStackBytes + kGuardBytes))) return false;
  std::snprintf(text, size, "a thread needs more than %zu bytes of stack", kStackBytes);
  return true;
}

void run_grid(const Grid& grid) {
  running_kernel = grid.kernel;
  block_size = grid.block;
  grid_size = grid.size;
  block.count = grid.block.x * grid.block.y * grid.block.z;
  block.body = &grid.thread;
  if (block.shared_end == nullptr) {
    char* const memory = reserve(kSharedBytes + kGuardBytes);
    ::mprotect(memory, kSharedBytes, PROT_READ | PROT_WRITE);
    block.shared_end = memory + kSharedBytes;
  }
  block.shared_bytes = (grid.shared_bytes + 15) / 16 * 16;
  std::vector<unsigned> blocks;
  arrange(blocks, std::size_t{grid.size.x} * grid.size.y * grid.size.z);
  begin_launch(grid.counted_as, blocks.size(), block.count);
  const std::size_t sample = options().sample, all = blocks.size();
  if (sample > 0 && sample < all) {
    for (std::size_t i = 0; i < sample; ++i) blocks[i] = blocks[i * all / sample];
    blocks.resize(sample);
  }
  for (const unsigned i : blocks) {
    block_index = unfold(i, grid.size);
    run_block(grid);
  }
  end_launch(blocks.size());
  running_kernel = nullptr;
  check_margins();
}

}  // namespace cuda_emulator
