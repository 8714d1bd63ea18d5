#include "cli/output/rows.hpp"

#include <charconv>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

constexpr std::size_t kMostRows = 1'000'000;

}  // namespace

std::vector<std::int64_t> parse_rows(const std::string& text, std::int64_t size) {
  const auto fail = [&](std::string_view why) {
    throw Error(ErrorCode::usage, fmt::format("--rows {}: {}", text, why));
  };
  const char *at = text.data(), *const end = at + text.size();
  const auto number = [&] {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0) fail("rows are written as 0,5,7-9");
    if (value >= size) fail(fmt::format("there is no row {}; the last of {} is {}", value, size, size - 1));
    at = stop;
    return value;
  };
  std::vector<std::int64_t> rows;
  while (true) {
    const std::int64_t first = number();
    std::int64_t last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
      if (last < first) fail(fmt::format("{}-{} runs backwards", first, last));
    }
    if (static_cast<std::size_t>(last - first) >= kMostRows - rows.size())
      fail(fmt::format("more than {} rows", kMostRows));
    for (std::int64_t row = first; row <= last; ++row) rows.push_back(row);
    if (at == end) return rows;
    if (*at != ',') fail("rows are written as 0,5,7-9");
    ++at;
  }
}

}  // namespace lockstep::cli
