#pragma once
// The .ts format of the time-series archives: lines of header, each a word behind @, then @data and one sequence per
// line. Dimensions are separated by colons, the steps of a dimension by commas; the class or the target stands last.
//   @dimensions 2
//   @classLabel true left right
//   @data
//   0.5,0.25,1:3,2,1:left
// Every step must be a finite number: time stamps, missing values and dimensions of different lengths are errors with
// their line.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

struct TsFile {
  Array values;                          // float64 [samples, dimensions, steps]; 0 behind the end of a sequence
  std::vector<std::int64_t> lengths;     // one per sample; empty: all have all steps
  std::optional<Array> targets;          // [samples]: the place of the class in class_names, or the target; none
  std::vector<std::string> class_names;  // in the order of the header; empty: targets are real numbers
};

TsFile parse_ts(std::span<const std::byte> bytes, std::string_view name);
TsFile read_ts(const std::filesystem::path& path);

}  // namespace lockstep
