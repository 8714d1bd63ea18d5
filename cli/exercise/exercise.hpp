#pragma once
// An exercise as data: the task in words, the arguments of the student's function, the right answer and the usual wrong
// ones. A student's kernel is a C function of one struct of sizes, numbers and arrays; the oracle and every mistake are
// functions of the same struct, so a mistake is a wrong kernel, and the checker runs it as it runs the right one.
//
// To add one: a file in exercises/ that returns the record, its declaration in exercises/list.hpp and its line in
// registry.cpp. Nothing else knows an exercise by name.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/kernels/cost.hpp"

namespace lockstep::cli {

enum class Element { float32, float64, int32, int64 };

std::int64_t element_bytes(Element element);
/// "float", "int32_t".
const char* c_name(Element element);

/// Of an array: {out, samples}, the last one contiguous.
using Dims = std::vector<std::int64_t>;
std::int64_t count_of_dims(const Dims& dims);

/// A member of the struct of arguments.
struct ArgumentField {
  enum class Kind {
    size,    // int64_t
    scalar,  // one number
    input,   // an array that is only read
    output,  // an array that is written and never read: it holds NaN before the call
    both     // an array that is changed in place
  };
  Kind kind = Kind::size;
  std::string name{};
  Element element = Element::int64;
  std::size_t offset = 0;  // in the struct
  std::string words{};     // "[in, samples]: the inputs, one column per sample"
  /// Of an array, from the sizes in the struct.
  std::function<Dims(const void*)> dims{};
  /// May be null in half of the cases: a bias that is not wanted.
  bool optional = false;

  bool array() const { return kind != Kind::size && kind != Kind::scalar; }
  bool written() const { return kind == Kind::output || kind == Kind::both; }
};

/// A function of the struct of arguments.
using ArgumentsFunction = std::function<void(const void*)>;

/// A usual mistake: what it gives is computed and compared with what the student's kernel gave.
struct Mistake {
  std::string cause{};  // a word for lists and tests: "descending", "no-fma"
  std::string words{};  // a sentence for the student
  ArgumentsFunction run{};
  bool rounding = false;  // right within rounding: only the order, or the roundings, are others
};

/// Uniform random numbers for the inputs of a case; the same for the same seed.
class CaseRandom {
 public:
  explicit CaseRandom(std::uint64_t seed) : seed_(seed) {}
  /// In [0, 1), with 24 bits.
  float uniform();
  /// 0 .. count - 1.
  std::int64_t below(std::int64_t count);

 private:
  std::uint64_t seed_ = 0, next_ = 0;
};

/// Values of the sizes, in the order of the fields.
using CaseShape = std::vector<std::int64_t>;

struct Exercise {
  std::string name{};                // "linear-forward"
  std::string title{};               // what it is, in a few words
  std::string teaches{};             // what it teaches
  std::vector<std::string> needs{};  // exercises to do before
  std::vector<std::string> tracks{};
  std::string function{};  // its C name, "linear_forward"
  std::string task{};      // Markdown: formula, shapes, order of every sum, what is easily done wrong
  std::string helpers{};   // C functions for the header
  std::size_t struct_bytes = 0;
  std::vector<ArgumentField> fields{};
  std::vector<CaseShape> shapes{};                // that every kernel must be right for: 0, 1, primes, lane width +- 1
  CaseShape timed{};                              // large; a few milliseconds of our kernels
  std::function<bool(const CaseShape&)> legal{};  // whether sizes fit together; null: all do
  /// Sets the inputs where uniform numbers in [-1, 1) do not do: labels, ties, extreme values. May be null.
  std::function<void(void*, CaseRandom&)> prepare{};
  ArgumentsFunction oracle{};                        // the naive kernel: the right answer
  std::function<void(const void*, int)> fast{};      // our SIMD kernel, on that many threads
  std::function<Cost(const void*)> cost{};           // of the mathematics
  std::function<std::int64_t(const void*)> terms{};  // of the longest sum; for the bound of "right within rounding"
  std::vector<Mistake> mistakes{};
};

/// All that there are, in the order of a course.
const std::vector<Exercise>& exercises();
/// Error(usage) that names the nearest one.
const Exercise& exercise_named(const std::string& name);

/// Shapes of `sizes` sizes each from the awkward ones: 0, 1, primes, 2^k and beside it. `most` bounds every size.
std::vector<CaseShape> awkward_shapes(const std::vector<std::int64_t>& most);

}  // namespace lockstep::cli
