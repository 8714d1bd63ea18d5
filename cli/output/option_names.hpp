#pragma once
// The library knows no options: "use the backend simd". The program says by which option: "use --backend simd".

#include <string>
#include <string_view>

namespace lockstep::cli {

/// A message of the library with the names of the options that do what it advises.
std::string with_option_names(std::string_view message);

}  // namespace lockstep::cli
