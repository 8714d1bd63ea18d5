#pragma once
// PTX, the assembly language that nvcc writes: read from its text and executed, thread by thread, behind the grid, the
// fibers and the guard pages of the emulator. Only the forms that Lockstep's kernels use are known; every other one
// ends the program when the file is read. What an instruction does follows NVIDIA's "PTX ISA" (unordered comparisons,
// clamped shifts, minimum and maximum with a NaN, rounding); ptx_test.cpp has a case for each rule.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_emulator::ptx {

using Word = std::uint64_t;  // a register of any type; the upper bytes of a narrow one are zero

struct Instruction;

/// A thread while it runs.
struct Thread {
  Word* registers;
  std::span<const Word> arguments;
  char *shared, *local;
  std::size_t shared_bytes, local_bytes;
  const Instruction *code, *next;  // next: null when the thread returns
};

using Handler = void (*)(Thread&, const Instruction&);

/// Operands are places in the registers of a thread: constants and special registers have places too.
struct Instruction {
  Handler run = nullptr;
  int guard = -1;       // the predicate that decides, -1: none
  bool unless = false;  // whether it decides the other way round
  int to[4] = {}, from[4] = {};
  std::int64_t offset = 0;  // of an address; or the argument that ld.param reads
  int target = 0;           // of a branch
  int line = 0;             // of the text
  int access = -1;          // counts the accesses to global and shared memory, for counters.hpp
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<int> parameter_bytes;
  std::vector<Word> initial;  // what the registers hold at the start: special registers, constants, garbage
  std::size_t shared_bytes = 0, local_bytes = 0;
  int accesses = 0;
};

/// The places of special registers, in this order.
inline constexpr std::string_view kSpecialRegisters[] = {"%tid.x",   "%tid.y",    "%tid.z",    "%ntid.x",
                                                         "%ntid.y",  "%ntid.z",   "%ctaid.x",  "%ctaid.y",
                                                         "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z"};

/// What the form (an instruction's name with all its suffixes: "fma.rn.f32") does; null where it is not known.
Handler find_form(std::string_view form);

/// The kernels of a file by their names, without namespaces and parameters. A text that cannot be read, and a form
/// that is not known, end the program.
std::map<std::string, Kernel, std::less<>> read_module(std::string_view text);

/// The kernel of the file that the option "ptx" names for this precision; null without the option.
const Kernel* find_kernel(std::string_view name, bool float64);

/// Runs one thread of the block that is running, to its end.
void run_thread(const Kernel& kernel, std::span<const Word> arguments);

}  // namespace cuda_emulator::ptx
