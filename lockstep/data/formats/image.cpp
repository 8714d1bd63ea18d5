#include "lockstep/data/formats/image.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/jpeg.hpp"
#include "lockstep/data/formats/png.hpp"

namespace lockstep {

namespace {

template <std::size_t Count>
bool ends_in(std::string_view name, const std::array<std::string_view, Count>& endings) {
  const std::string lower = lower_case(name.substr(name.size() - std::min<std::size_t>(name.size(), 6)));
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) { return lower.ends_with(ending); });
}

void check_kind(std::span<const std::byte> bytes, std::string_view name) {
  const bool png = !bytes.empty() && bytes[0] == std::byte{0x89};
  if (!png && !is_jpeg(bytes)) fail_data(name, 0, "not a PNG or JPEG file");
}

}  // namespace

bool is_image_name(std::string_view name) {
  return ends_in(name, std::array<std::string_view, 3>{".png", ".jpg", ".jpeg"});
}

bool is_foreign_image_name(std::string_view name) {
  return ends_in(name, std::array<std::string_view, 9>{".gif", ".bmp", ".webp", ".tif", ".tiff", ".avif", ".heic",
                                                       ".jp2", ".ppm"});
}

ImageShape parse_image_shape(std::span<const std::byte> bytes, std::string_view name) {
  check_kind(bytes, name);
  return is_jpeg(bytes) ? parse_jpeg_shape(bytes, name) : parse_png_shape(bytes, name);
}

Array parse_image(std::span<const std::byte> bytes, std::string_view name, ImageColour colour) {
  check_kind(bytes, name);
  return is_jpeg(bytes) ? parse_jpeg(bytes, name, colour) : parse_png(bytes, name, colour);
}

Array read_image(const std::filesystem::path& path, ImageColour colour) {
  return parse_image(read_data_file(path), path.string(), colour);
}

}  // namespace lockstep
