#include "counters.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "grid.hpp"

namespace cuda_emulator {

namespace {

constexpr unsigned kWarp = 32, kSectorBytes = 32, kBanks = 32, kBankBytes = 4;

/// What the lanes of a warp asked for when they came to an instruction for the k-th time.
struct Access {
  bool global = false;
  unsigned bytes = 0;
  std::uint32_t lanes = 0;  // which of them
  std::uint64_t addresses[kWarp];
};

struct State {
  bool on = false;
  Counters counters;
  KernelCounters before;                                   // the launch that runs
  KernelCounters* kernel = nullptr;                        // of the launch that runs
  std::unordered_set<std::uint64_t> touched;               // sectors of this launch
  std::vector<std::vector<std::vector<Access>>> accesses;  // by warp, instruction and occurrence
  std::vector<std::vector<unsigned>> occurrences;          // by thread and instruction
};
State& state() {
  static State instance;
  return instance;
}

template <class T>
T& at(std::vector<T>& vector, std::size_t index) {
  if (vector.size() <= index) vector.resize(index + 1);
  return vector[index];
}

std::size_t distinct(std::vector<std::uint64_t>& values) {
  std::sort(values.begin(), values.end());
  return static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
}

void count_global(KernelCounters& kernel, const Access& access) {
  State& all = state();
  std::vector<std::uint64_t> sectors, words;
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((access.lanes >> lane & 1u) == 0) continue;
    for (unsigned byte = 0; byte < access.bytes; byte += 4) words.push_back((access.addresses[lane] + byte) / 4);
    sectors.push_back(access.addresses[lane] / kSectorBytes);  // aligned: an access lies in one sector
  }
  const std::size_t used = distinct(words) * 4;
  sectors.resize(distinct(sectors));
  ++kernel.global_accesses;
  kernel.sectors += sectors.size();
  kernel.least_sectors += (used + kSectorBytes - 1) / kSectorBytes;
  all.touched.insert(sectors.begin(), sectors.end());
}

/// 8 bytes per lane take half a warp at a time, 16 bytes a quarter; lanes that read one word share it.
void count_shared(KernelCounters& kernel, const Access& access) {
  const unsigned together = kWarp * 4 / std::max(4u, access.bytes);
  ++kernel.shared_accesses;
  for (unsigned first = 0; first < kWarp; first += together) {
    std::vector<std::uint64_t> words;
    for (unsigned lane = first; lane < first + together; ++lane)
      for (unsigned byte = 0; byte < access.bytes && (access.lanes >> lane & 1u) != 0; byte += 4)
        words.push_back((access.addresses[lane] + byte) / kBankBytes);
    if (words.empty()) continue;
    words.resize(distinct(words));
    unsigned in_bank[kBanks] = {};
    for (const std::uint64_t word : words) ++in_bank[word % kBanks];
    kernel.passes += *std::max_element(in_bank, in_bank + kBanks);
    ++kernel.least_passes;
  }
}

}  // namespace

Counters& counters() { return state().counters; }
bool counting() { return state().on && state().kernel != nullptr; }
void count(bool on) { state().on = on; }

void begin_launch(const std::string& name, std::uint64_t blocks, std::uint64_t threads) {
  State& all = state();
  ++all.counters.launches;
  if (!all.on) return;
  all.kernel = &all.counters.kernels[name];
  all.before = *all.kernel;
  ++all.kernel->launches;
  all.kernel->blocks += blocks;
  all.kernel->fewest_blocks = all.kernel->launches == 1 ? blocks : std::min(all.kernel->fewest_blocks, blocks);
  all.kernel->threads = std::max(all.kernel->threads, threads);
}

void note_access(int instruction, bool global, std::uint64_t address, unsigned bytes) {
  State& all = state();
  const unsigned thread = running_thread();
  unsigned& occurrence = at(at(all.occurrences, thread), static_cast<std::size_t>(instruction));
  auto& of_warp = at(at(all.accesses, thread / kWarp), static_cast<std::size_t>(instruction));
  Access& access = at(of_warp, occurrence++);
  access.global = global;
  access.bytes = bytes;
  access.lanes |= 1u << thread % kWarp;
  access.addresses[thread % kWarp] = address;
}

void note_instructions(std::uint64_t executed) { state().kernel->instructions += executed; }

void flush_accesses() {
  State& all = state();
  if (!counting()) return;
  for (auto& warp : all.accesses)
    for (auto& instruction : warp) {
      for (const Access& access : instruction)
        access.global ? count_global(*all.kernel, access) : count_shared(*all.kernel, access);
      instruction.clear();
    }
  for (auto& thread : all.occurrences) std::fill(thread.begin(), thread.end(), 0u);
}

void end_launch(std::uint64_t ran) {
  State& all = state();
  if (all.kernel != nullptr) {
    KernelCounters& now = *all.kernel;
    const KernelCounters& before = all.before;
    now.touched_sectors += all.touched.size();
    const auto scale = [&](std::uint64_t KernelCounters::*member) {
      const std::uint64_t counted = now.*member - before.*member;
      now.*member = before.*member + (ran == 0 ? 0 : counted * (now.blocks - before.blocks) / ran);
    };
    for (const auto member : {&KernelCounters::instructions, &KernelCounters::global_accesses, &KernelCounters::sectors,
                              &KernelCounters::least_sectors, &KernelCounters::touched_sectors,
                              &KernelCounters::shared_accesses, &KernelCounters::passes, &KernelCounters::least_passes})
      scale(member);
  }
  all.touched.clear();
  all.kernel = nullptr;
}

}  // namespace cuda_emulator
