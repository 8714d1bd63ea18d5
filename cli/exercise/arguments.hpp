#pragma once
// The arguments of one call on the checker's side: the struct, with arrays of its own. The student's code never sees
// this memory; it gets a copy (check/session.hpp).

#include <optional>
#include <string>
#include <vector>

#include "cli/exercise/exercise.hpp"
#include "lockstep/core/aligned.hpp"

namespace lockstep::cli {

/// What outputs hold before a call. `marked`: a NaN, or an integer, that no kernel computes.
enum class Fill { marked, zero };

class CaseArguments {
 public:
  struct Array {
    const ArgumentField* field = nullptr;
    Dims dims{};
    bool given = true;  // false: null
    AlignedBuffer<std::byte> bytes{};

    std::int64_t count() const { return given ? count_of_dims(dims) : 0; }
    std::int64_t size_bytes() const { return count() * element_bytes(field->element); }
  };

  CaseArguments(const Exercise& exercise, const CaseShape& shape, std::uint64_t seed);
  CaseArguments(const CaseArguments& other);
  CaseArguments& operator=(const CaseArguments&) = delete;

  const Exercise& exercise() const { return *exercise_; }
  const CaseShape& shape() const { return shape_; }
  std::uint64_t seed() const { return seed_; }
  /// The struct, with pointers to the arrays here.
  const void* get() const { return struct_.data(); }
  void* get() { return struct_.data(); }
  const std::vector<Array>& arrays() const { return arrays_; }
  std::vector<Array>& arrays() { return arrays_; }
  void fill_outputs(Fill fill);

 private:
  void point_to_arrays();

  const Exercise* exercise_;
  CaseShape shape_;
  std::uint64_t seed_;
  AlignedBuffer<std::byte> struct_;
  std::vector<Array> arrays_;
};

/// "in 5, out 3, samples 1".
std::string shape_text(const Exercise& exercise, const CaseShape& shape);

/// One element as a number.
double element_at(const CaseArguments::Array& array, std::int64_t index);
/// Still what Fill::marked put there.
bool untouched(const CaseArguments::Array& array, std::int64_t index);
/// ==, where NaN equals NaN.
bool same_element(const CaseArguments::Array& a, const CaseArguments::Array& b, std::int64_t index);
/// Of the elements beside each other; 0 for the same, the largest value where one is no number.
double ulp_distance(const CaseArguments::Array& a, const CaseArguments::Array& b, std::int64_t index);
/// "y[3, 17]".
std::string element_name(const CaseArguments::Array& array, std::int64_t index);
std::string element_text(const CaseArguments::Array& array, std::int64_t index);

/// Every written array is the same, element by element.
bool same_results(const CaseArguments& a, const CaseArguments& b);

}  // namespace lockstep::cli
