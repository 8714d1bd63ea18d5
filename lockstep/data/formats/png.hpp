#pragma once
// PNG images as 8-bit planes. Palettes are looked up, 16-bit samples scaled to 8 bits (round(v * 255 / 65535)),
// transparency is ignored (the colour is taken as stored), gamma and colour profiles too.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "lockstep/data/array.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

enum class PngColour {
  as_stored,  // 1 channel for grey images, 3 for colour and palette images
  grey,       // colour becomes (19595 R + 38470 G + 7471 B + 32768) >> 16, the weights of ITU-R BT.601
  rgb,        // grey is repeated three times
};

/// The shape parse_png(..., as_stored) would give, from the header alone.
ImageShape parse_png_shape(std::span<const std::byte> bytes, std::string_view name);

/// uint8 [channels,height,width]. Refused before decoding: more than 2^26 pixels, or more pixels than so short a file
/// can hold. Warnings of libpng are ignored; errors are Error(data).
Array parse_png(std::span<const std::byte> bytes, std::string_view name, PngColour colour = PngColour::as_stored);
Array read_png(const std::filesystem::path& path, PngColour colour = PngColour::as_stored);

}  // namespace lockstep
