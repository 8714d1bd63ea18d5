#include "lockstep/core/error.hpp"

#include <system_error>

#include <fmt/format.h>

namespace lockstep {

void fail_system(ExitCode code, std::string_view what, int error_number) {
  throw Error(code, fmt::format("{}: {}", what, std::generic_category().message(error_number)));
}

}  // namespace lockstep
