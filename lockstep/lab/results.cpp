#include "lockstep/lab/results.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/system.hpp"
#include "lockstep/core/version.hpp"
#include "lockstep/lab/peak.hpp"
#include "lockstep/lab/record.hpp"
#include "lockstep/lab/trace.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kMaxFileBytes = std::int64_t{256} << 20;

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace

std::optional<Summary> Result::summary() const {
  if (samples.empty()) return std::nullopt;
  return summarise(samples);
}

void refuse_field(const Result& line, std::string_view field, std::string_view what) {
  throw Error(ErrorCode::data,
              fmt::format("{}: the field {} of the {} {} {}", line.where.text.empty() ? "results" : line.where.text,
                          field, line.kind, json_string(line.name), what));
}

const std::vector<std::string>& result_kinds() {
  static const std::vector<std::string> kinds = {"machine",    "measurement", "ladder",     "fit",
                                                 "roofline",   "section",     "curve",      "verdict",
                                                 "experiment", "simulation",  "validation", "check"};
  return kinds;
}

ResultOrigin recorded_here() {
  ResultOrigin origin{.machine = describe_machine(), .time = utc_now()};
  origin.versions["lockstep"] = std::string(version());
  origin.versions["compiler"] = compiler();
  return origin;
}

ResultOrigin measured_here() {
  ResultOrigin origin = recorded_here();
  if (const std::string openblas = openblas_description(); !openblas.empty()) origin.versions["openblas"] = openblas;
  return origin;
}

void append_result(const std::filesystem::path& file, const Result& result) {
  const std::string line = to_json_line(result) + "\n";
  std::error_code absent, ignored;
  const std::uintmax_t before = std::filesystem::file_size(file, absent);
  std::ofstream out(file, std::ios::app | std::ios::binary);
  out.write(line.data(), static_cast<std::streamsize>(line.size()));
  out.flush();
  if (out) return;
  // A full disk takes half a line, and the reader would refuse the file.
  out.close();
  if (absent)
    std::filesystem::remove(file, ignored);
  else
    std::filesystem::resize_file(file, before, ignored);
  throw Error(ErrorCode::resources, fmt::format("{}: cannot write; is there space, and may you?", file.string()));
}

std::vector<Result> read_results(const std::filesystem::path& file) {
  const std::string text = read_text(file, kMaxFileBytes);
  std::vector<Result> results;
  std::size_t at = 0, number = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    ++number;
    results.push_back(result_from_json(text.substr(at, end - at), fmt::format("{}:{}", file.string(), number)));
    at = end + 1;
  }
  return results;
}

}  // namespace lockstep
