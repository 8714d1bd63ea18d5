#pragma once
// What the memory system of a GPU would be asked to do, counted while PTX is executed: 32-byte sectors of global memory
// and passes of shared memory, per access of a warp. The threads of a warp are taken to run together: the k-th time
// that each comes to an instruction between two barriers is one access of the warp.

#include <cstdint>
#include <map>
#include <string>

namespace cuda_emulator {

/// Of all launches of a kernel.
struct KernelCounters {
  std::uint64_t launches = 0, blocks = 0, threads = 0;  // threads: of one block, the largest
  std::uint64_t fewest_blocks = 0;                      // of a launch
  std::uint64_t instructions = 0;                       // executed by threads
  std::uint64_t global_accesses = 0, sectors = 0;       // of warps; sectors of 32 bytes that they ask for
  std::uint64_t least_sectors = 0;                      // that their bytes fill
  std::uint64_t touched_sectors = 0;                    // different ones, launch by launch: what must come from memory
  std::uint64_t shared_accesses = 0, passes = 0;        // a pass reads one word of each of the 32 banks
  std::uint64_t least_passes = 0;                       // without conflicts
};
struct Counters {
  std::map<std::string, KernelCounters> kernels;  // by name, of a double build with "/double" behind it
  std::uint64_t launches = 0, fills = 0, copies_to_device = 0, copies_to_host = 0, copies_within = 0;
  std::uint64_t graphs = 0, node_updates = 0;  // graphs: their launches
};

/// Since the last reset. Accesses and instructions are counted while counting is on, and only where PTX is executed.
Counters& counters();
bool counting();
void count(bool on);

/// The order of calls: a launch, then for each of its blocks accesses and, at barriers and at the end, a flush.
void begin_launch(const std::string& kernel, std::uint64_t blocks, std::uint64_t threads);
void note_access(int instruction, bool global, std::uint64_t address, unsigned bytes);
void note_instructions(std::uint64_t executed);
void flush_accesses();
/// `ran`: how many of the blocks were run; what they did stands for all.
void end_launch(std::uint64_t ran);

}  // namespace cuda_emulator
