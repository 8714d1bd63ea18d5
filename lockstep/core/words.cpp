#include "lockstep/core/words.hpp"

#include <fmt/format.h>

namespace lockstep {

std::string count_of(std::int64_t number, std::string_view noun, std::string_view plural) {
  if (number == 1) return fmt::format("1 {}", noun);
  return plural.empty() ? fmt::format("{} {}s", number, noun) : fmt::format("{} {}", number, plural);
}

}  // namespace lockstep
