#pragma once
// A check of command-line options: a number within bounds.

#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace lockstep::cli {

/// From low to high. (CLI::Range lets "nan" pass: it is not smaller than low.)
inline CLI::Validator number_between(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        double number = 0;
        if (CLI::detail::lexical_cast(text, number) && number >= low && number <= high) return std::string();
        return fmt::format("{} is not a number from {} to {}", text, low, high);
      },
      "NUMBER");
}

}  // namespace lockstep::cli
