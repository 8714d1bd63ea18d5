#pragma once
// Small pictures for pages.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lockstep::report {

struct Pixels {
  std::int64_t width = 0, height = 0;
  std::int64_t channels = 1;           // 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> values{};  // [height][width][channels]
};

/// A PNG file in base64.
std::string png_base64(const Pixels& pixels);

std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace lockstep::report
