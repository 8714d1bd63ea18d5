#include "cli/exercise/track.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/config/suggest.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"

namespace lockstep::cli {

namespace {

constexpr const char* kLanes =
    R"(// A vector of 16 floats (the compiler makes two or four of it where the processor has shorter ones). Arrays are aligned
// to their elements only: load and store through `lanes`, which says so.
typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
)";

const char* keyword(ArgumentField::Kind kind) { return kind == ArgumentField::Kind::input ? "const " : ""; }

const char* role(ArgumentField::Kind kind) {
  switch (kind) {
    case ArgumentField::Kind::input:
      return "read only";
    case ArgumentField::Kind::output:
      return "written, never read";
    case ArgumentField::Kind::both:
      return "changed in place";
    default:
      return "";
  }
}

std::string member(const ArgumentField& field) {
  if (!field.array()) return fmt::format("{} {};", c_name(field.element), field.name);
  return fmt::format("{}{} *{};", keyword(field.kind), c_name(field.element), field.name);
}

}  // namespace

const std::vector<std::string>& common_flags() {
  static const std::vector<std::string> flags = {"-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-g1"};
  return flags;
}

const std::vector<Track>& tracks() {
  static const std::vector<Track> all = {
      {.name = "cpp",
       .words = "plain C++ on one thread: loops",
       .source = "kernel.cpp",
       .hint = "Write plain loops. The compiler is called with optimisation; the order of the loops decides what it "
               "can do."},
      {.name = "simd",
       .words = "vector extensions on one thread",
       .source = "kernel.cpp",
       .hint =
           "Work on 16 numbers at a time with the vector type of the stub. Numbers that are summed together must not\n"
           "share a vector (the sum would get another order): put 16 different results beside each other, and give "
           "the\n"
           "remainder (n mod 16) a plain loop.",
       .prelude = kLanes},
      {.name = "openmp",
       .words = "several threads by OpenMP",
       .source = "kernel.cpp",
       .flags = {"-fopenmp"},
       .threads = true,
       .hint =
           "Share results out over threads (`#pragma omp parallel for`). No `reduction` over floating-point sums: its\n"
           "order depends on the number of threads. Checked on 1, 3 and 4 threads, measured on 1, 2, 4 and 8."},
      {.name = "python",
       .words = "plain Python loops, for the first steps",
       .source = "kernel.py",
       .python = true,
       .sanitizers = false,
       .timed = false,
       .hint = "Arrays are flat: x[i, s] of [in, samples] is `a.x[i * a.samples + s]`. A number of Python has 53 bits, "
               "one of an\n"
               "array 24: what is stored is rounded. `fmaf(x, y, z)` and `f32(x)` of the header round as the contract "
               "does. A\n"
               "pointer that may be null is `None`; `in` is a word of Python, so it is `a.in_`."},
      {.name = "opencl",
       .words = "OpenCL, on the first device (PoCL: the processor)",
       .source = "kernel.cl",
       .opencl = true,
       .sanitizers = false,
       .timed = false,
       .hint = "The file has two halves: `launch_shape` is C++ and says how many work-items there are (`global`) and "
               "how many make\n"
               "a group (`local`; local[0] = 0 leaves it to the driver). The kernel's parameters are the members of "
               "the struct, in\n"
               "their order: int64_t is `long`. `fmaf` is OpenCL's `fma`. Nothing is launched where `global` is 0."},
      {.name = "cuda",
       .words = "CUDA; without a GPU by an emulator",
       .source = "kernel.cu",
       .flags = {"-include", "cuda_launch.h"},
       .cuda = true,
       .sanitizers = false,
       .timed = false,
       .hint =
           "Write kernels and launch them from the function with `kernel<<<grid, block>>>(...)`. The pointers in the\n"
           "struct are addresses on the device; pass them on, do not follow them on the host. The emulator runs blocks "
           "and\n"
           "threads in several orders, fills memory with NaN and finds missing barriers and accesses outside of an "
           "array.\n"
           "Shared memory has a fixed size: `__shared__ float tile[16][16];`.",
       .prelude = "#include <cuda_runtime.h>\n"},
  };
  return all;
}

const Track& track_named(const std::string& name) {
  std::vector<std::string> names;
  for (const Track& each : tracks()) {
    if (each.name == name) return each;
    names.push_back(each.name);
  }
  throw Error(ErrorCode::usage, fmt::format("no track is called {}{}", one_line(name), suggestion(name, names)));
}

std::string header_text(const Exercise& exercise) {
  std::string text = fmt::format(
      "// The arguments of {0}: sizes, numbers and arrays. Made by `lockstep exercise new`; the checker uses a copy of "
      "its\n"
      "// own, so changes here have no effect. Arrays are dense: the last index of [rows, cols] is contiguous. They "
      "are\n"
      "// aligned to their elements only, and guarded: an access one element outside ends the program.\n"
      "#pragma once\n#include <stdint.h>\n\nstruct {0}_args {{\n",
      exercise.function);
  for (const ArgumentField& field : exercise.fields) {
    const std::string what = role(field.kind);
    text += fmt::format("  {:<24} // {}{}{}{}\n", member(field), field.words, what.empty() ? "" : "; ", what,
                        field.optional ? "; may be null" : "");
  }
  return text + "};\n" + exercise.helpers;
}

std::string python_header_text(const Exercise& exercise) {
  constexpr const char* kKinds[] = {"size", "scalar", "input", "output", "both"};
  constexpr const char* kLetters[] = {"f", "d", "i", "q"};
  std::string text = fmt::format(
      "\"\"\"The arguments of {0}(a): sizes, numbers and flat arrays, as a.NAME. Made by `lockstep exercise new`; the "
      "checker\n"
      "uses a copy of its own.\"\"\"\nimport ctypes\n\nFUNCTION = \"{0}\"\nFIELDS = [  # name, kind, type, place\n",
      exercise.function);
  for (const ArgumentField& field : exercise.fields)
    text += fmt::format("    (\"{}{}\", \"{}\", \"{}\", {}),  # {}{}\n", field.name, field.name == "in" ? "_" : "",
                        kKinds[static_cast<std::size_t>(field.kind)], kLetters[static_cast<std::size_t>(field.element)],
                        field.offset, field.words, field.optional ? "; may be None" : "");
  return text +
         "]\n\n_libm = ctypes.CDLL(\"libm.so.6\")\nfmaf = _libm.fmaf  # x * y + z in float32, rounded once\n"
         "fmaf.argtypes, fmaf.restype = [ctypes.c_float] * 3, ctypes.c_float\n\n\ndef f32(x):\n"
         "    \"\"\"Rounded to float32.\"\"\"\n    return ctypes.c_float(x).value\n";
}

namespace {

std::string opencl_stub(const Exercise& exercise) {
  std::string parameters;
  for (const ArgumentField& field : exercise.fields) {
    const std::string type = field.element == Element::int64   ? "long"
                             : field.element == Element::int32 ? "int"
                                                               : c_name(field.element);
    parameters += parameters.empty() ? "" : ", ";
    parameters += field.array() ? fmt::format("__global {}{} *{}", keyword(field.kind), type, field.name)
                                : type + " " + field.name;
  }
  return fmt::format(
      "// {0}. The task: TASK.md; check it with: lockstep check .\n#ifdef HOST\n#include \"lockstep_exercise.h\"\n\n"
      "static void launch_shape(const struct {1}_args *a, size_t global[3], size_t local[3]) {{\n  (void)a, "
      "(void)local;\n"
      "  global[0] = 1;\n}}\n#else\n__kernel void {1}({2}) {{\n  // Your code.\n}}\n#endif\n",
      exercise.title, exercise.function, parameters);
}

}  // namespace

std::string header_file(const Track& track) { return track.python ? "lockstep_exercise.py" : "lockstep_exercise.h"; }

std::string stub_text(const Exercise& exercise, const Track& track) {
  if (track.opencl) return opencl_stub(exercise);
  if (track.python)
    return fmt::format(
        "# {}. The task: TASK.md; check it with: lockstep check .\nfrom lockstep_exercise import f32, fmaf\n\n\n"
        "def {}(a):\n    pass  # your code\n",
        exercise.title, exercise.function);
  return fmt::format(
      "// {}. The task: TASK.md; check it with: lockstep check .\n#include \"lockstep_exercise.h\"\n\n#include "
      "<math.h>\n\n"
      "{}{}extern \"C\" void {}(const struct {}_args *a) {{\n  // Your code. fmaf(x, y, z) is x * y + z, rounded "
      "once.\n"
      "  (void)a;\n}}\n",
      exercise.title, track.prelude, track.prelude.empty() ? "" : "\n", exercise.function, exercise.function);
}

std::string task_text(const Exercise& exercise, const Track& track) {
  return fmt::format(
      "# {}\n\n{}\n\n{}\n\n## This track: {}\n\n{}\n\n## How to go on\n\n"
      "Write `{}` in `{}`; the arguments are in `{}`. Then\n\n"
      "    lockstep check .\n\n"
      "builds it, calls it on many shapes, compares every result with `==`, says what is wrong, and measures it. "
      "Every\n"
      "check adds a line to `worklog.jsonl`; `worklog.html` shows your way.\n",
      exercise.title, exercise.teaches, exercise.task, track.name, track.hint, exercise.function, track.source,
      header_file(track));
}

}  // namespace lockstep::cli
