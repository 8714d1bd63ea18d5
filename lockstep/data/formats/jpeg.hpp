#pragma once
// JPEG images (baseline and progressive, grey or colour) as 8-bit planes, decoded by libjpeg with its exact integer
// transform. Orientation and colour profiles are ignored; CMYK is refused.

#include <cstddef>
#include <span>
#include <string_view>

#include "lockstep/data/formats/pixels.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

bool is_jpeg(std::span<const std::byte> bytes);

/// The shape parse_jpeg(..., as_stored) would give, from the header alone.
ImageShape parse_jpeg_shape(std::span<const std::byte> bytes, std::string_view name);

/// uint8 [channels,height,width]. Refused before decoding: more than kMaxPixels pixels, or more pixels than so short a
/// file can hold; and a file that ends early or is damaged (every warning of libjpeg is an error).
Array parse_jpeg(std::span<const std::byte> bytes, std::string_view name, ImageColour colour = ImageColour::as_stored);

}  // namespace lockstep
