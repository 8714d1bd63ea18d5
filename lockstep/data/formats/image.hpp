#pragma once
// A picture of any format that is read: PNG or JPEG, by its first bytes.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "lockstep/data/formats/pixels.hpp"
#include "lockstep/tensor/shape.hpp"

namespace lockstep {

/// By the ending: .png, .jpg, .jpeg, in any case of letters.
bool is_image_name(std::string_view name);
/// The ending of a picture that is not read: .gif, .bmp, .webp, ...
bool is_foreign_image_name(std::string_view name);

/// The shape as stored, from the header alone.
ImageShape parse_image_shape(std::span<const std::byte> bytes, std::string_view name);

/// uint8 [channels,height,width]; Error(data) as of the format.
Array parse_image(std::span<const std::byte> bytes, std::string_view name, ImageColour colour = ImageColour::as_stored);
Array read_image(const std::filesystem::path& path, ImageColour colour = ImageColour::as_stored);

}  // namespace lockstep
