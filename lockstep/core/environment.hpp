#pragma once
// The one list of environment variables that Lockstep reads, with the values they may have; no other file calls getenv.
// docs/environment.md is the same list for users.
//
// A variable that is set to nothing counts as not set. A value that is not what the list allows is Error(usage), which
// names the variable, the allowed values and an example; a name that is not in the list is Error(bug).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lockstep {

/// Of every place where a number of threads is given: --threads, OMP_NUM_THREADS, TrainOptions.
inline constexpr int kMaxThreads = 1024;
/// Of ranks that a launcher may say it started.
inline constexpr int kMaxRanks = 1'000'000;

struct EnvironmentVariable {
  enum class Kind { text, integer, integers, seconds, choice, device };

  const char* name;
  Kind kind;
  double least, most;   // of numbers
  const char* choices;  // of a choice: "1, 8, 16"
  const char* example;
  const char* help;  // what it is for; "read by" others where the value is theirs

  /// "a whole number from 1 to 1024"; empty: any text.
  std::string allowed() const;
};

std::span<const EnvironmentVariable> environment_variables();

std::optional<std::string> environment_text(std::string_view name);
/// Of a list (OMP_NUM_THREADS=4,2) the first.
std::optional<std::int64_t> environment_integer(std::string_view name);
std::optional<double> environment_number(std::string_view name);
/// A choice of 0 and 1: whether it is 1.
bool environment_flag(std::string_view name, bool otherwise = false);

/// Parses `text` as the value of the integer variable `name`, for a caller that has looked it up itself.
std::int64_t environment_integer(std::string_view name, std::string_view text);

/// Checks every variable of the list: for a program, before it begins anything.
void check_environment();

}  // namespace lockstep
