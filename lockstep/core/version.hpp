#pragma once

#include <string_view>

namespace lockstep {

/// "0.1.0": of the library and of the program; the project's version in CMake.
std::string_view version();

}  // namespace lockstep
