#pragma once
// Decoded pictures: 8-bit pixels, interleaved, on their way to planes.

#include <cstdint>
#include <vector>

#include "lockstep/data/array.hpp"

namespace lockstep {

enum class ImageColour {
  as_stored,  // 1 channel for grey images, 3 for colour and palette images
  grey,       // colour becomes (19595 R + 38470 G + 7471 B + 32768) >> 16, the weights of ITU-R BT.601
  rgb,        // grey is repeated three times
};

/// What no picture has more of: pixels, and pixels along a side.
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 26, kMaxSide = 1 << 16;

struct Pixels {
  std::int64_t width = 0, height = 0, channels = 0;  // 1 or 3
  std::vector<std::uint8_t> values;                  // [height][width][channels]
};

/// uint8 [channels,height,width].
Array to_planes(const Pixels& pixels, ImageColour colour);

}  // namespace lockstep
