#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::cli {

/// "0,5,7-9" -> 0 5 7 8 9, in the order written. Error(usage) for anything else, for a row outside [0, size), and for
/// more than a million rows.
std::vector<std::int64_t> parse_rows(const std::string& text, std::int64_t size);

}  // namespace lockstep::cli
