#pragma once
// Results as JSON lines: everything a reader needs to judge a figure, to repeat it, and to draw the report again
// without measuring. docs/results.md states the format; record.hpp gives the numbers, words and series of a kind names
// and types.
//
//   Result result{.kind = "measurement", .name = "conv2d, 2 threads", .samples = seconds, .origin = measured_here()};
//   append_result("results.jsonl", result);
//   for (const Result& each : read_results("results.jsonl")) ...

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/lab/machine.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep {

/// Where a result comes from. The same for all results of a run.
struct ResultOrigin {
  MachineDescription machine{};
  std::map<std::string, std::string> versions{};  // lockstep, compiler, openblas, ...
  std::string commit = "unknown";                 // of the source that was built
  std::string command{};                          // as it was typed
  std::string time{};                             // UTC, "2026-11-16T23:38:32Z"
  static constexpr auto fields() {
    using R = ResultOrigin;
    return std::make_tuple(field("machine", &R::machine), field("versions", &R::versions), field("commit", &R::commit),
                           field("command", &R::command), field("time", &R::time));
  }
};

/// File and line that a result was read from; not written.
struct ResultPlace {
  std::string text{};
};

struct Result {
  std::string kind;  // one of result_kinds()
  std::string name;  // what was measured, unique among the results of its kind in a file
  std::string unit = "s";
  std::vector<double> samples{};  // every one, in the order taken; median and interval are computed from them
  std::string baseline{};         // the name of the result that speed-ups here are against
  std::optional<std::uint64_t> seed{};
  std::vector<std::string> kernels{};  // that actually ran
  std::string weight_hash{};
  std::vector<std::string> warnings{};  // under which it was taken: doctor's, and its own
  // The fields of the kind's record.
  std::map<std::string, double> numbers{};
  std::map<std::string, std::string> words{};
  std::map<std::string, std::vector<double>> series{};
  std::string configuration{};  // TOML, all values resolved
  ResultOrigin origin{};
  ResultPlace where{};

  /// Nothing where there are no samples.
  std::optional<Summary> summary() const;
  static constexpr auto fields() {
    using R = Result;
    return std::make_tuple(field("kind", &R::kind), field("name", &R::name), field("unit", &R::unit),
                           field("samples", &R::samples), field("baseline", &R::baseline), field("seed", &R::seed),
                           field("kernels", &R::kernels), field("weight_hash", &R::weight_hash),
                           field("warnings", &R::warnings), field("numbers", &R::numbers), field("words", &R::words),
                           field("series", &R::series), field("configuration", &R::configuration),
                           field("origin", &R::origin), field("where", &R::where));
  }
};

/// machine, measurement, ladder, fit, roofline, section, curve, verdict, experiment, simulation, validation, check
const std::vector<std::string>& result_kinds();

/// This machine, now, and the versions of Lockstep and the compiler. Opens no library.
ResultOrigin recorded_here();
/// This machine, now: versions of Lockstep, the compiler, and the libraries that are there.
ResultOrigin measured_here();

/// One line without its line end. Error(bug) for numbers that are not finite and for an unknown kind.
std::string to_json_line(const Result& result);

/// Strict: unknown, missing and repeated keys, wrong types, numbers that are not finite, text that is not UTF-8, and
/// statistics that do not follow from the samples are Error(data) that names `where` and what is wrong.
Result result_from_json(std::string_view line, std::string_view where);

/// Adds a line to the file, at once: what was measured is there when the program is stopped later.
void append_result(const std::filesystem::path& file, const Result& result);

/// All lines of a file; its last line may lack its line end only where it is whole. Error(data).
std::vector<Result> read_results(const std::filesystem::path& file);

}  // namespace lockstep
