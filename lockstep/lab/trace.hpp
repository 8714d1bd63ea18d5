#pragma once
// A profile as a file that chrome://tracing and Perfetto (ui.perfetto.dev) open: one track per thread, one box per
// span.

#include <string>
#include <string_view>

#include "lockstep/lab/profile.hpp"

namespace lockstep {

/// Trace Event Format (JSON object form). Times are microseconds since the profile began. Each thread shows its last
/// spans; otherData.dropped_spans says how many earlier ones the profile no longer holds.
std::string chrome_trace(const Profile& profile);

/// `text` as a JSON string with its quotes. Control characters are escaped, everything outside ASCII too, and bytes
/// that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

}  // namespace lockstep
