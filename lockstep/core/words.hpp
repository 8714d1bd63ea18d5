#pragma once
// Words of messages that several places need.

#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep {

/// "1 thread", "2 threads", "1 class", "0 classes": `plural` where it is not the noun with an s.
std::string count_of(std::int64_t number, std::string_view noun, std::string_view plural = {});

/// Text from a file or the command line as one line that cannot steer a terminal: control characters are escaped.
std::string one_line(std::string_view text);

}  // namespace lockstep
