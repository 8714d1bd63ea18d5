#pragma once
// PNG images as 8-bit planes. Palettes are looked up, 16-bit samples scaled to 8 bits (round(v * 255 / 65535)),
// transparency is ignored (the colour is taken as stored), gamma and colour profiles too.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "lockstep/data/formats/pixels.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// The shape parse_png(..., as_stored) would give, from the header alone.
ImageShape parse_png_shape(std::span<const std::byte> bytes, std::string_view name);

/// uint8 [channels,height,width]. Refused before decoding: more than 2^26 pixels, or more pixels than so short a file
/// can hold. Warnings of libpng are ignored; errors are Error(data).
Array parse_png(std::span<const std::byte> bytes, std::string_view name, ImageColour colour = ImageColour::as_stored);
Array read_png(const std::filesystem::path& path, ImageColour colour = ImageColour::as_stored);

}  // namespace lockstep
