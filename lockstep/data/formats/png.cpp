#include "lockstep/data/formats/png.hpp"

#include <csetjmp>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <png.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"

namespace lockstep {
namespace {

constexpr std::int64_t kMaxDeflation = 1032;  // of deflate: what one compressed byte can become

// libpng reports errors by longjmp. Nothing with a destructor may stand between its frames and the setjmp, so each
// function that calls setjmp works on this state, which its caller owns, and on plain pointers only.
struct Decoder {
  std::span<const std::byte> input;
  std::size_t at = 0;
  png_structp png = nullptr;
  png_infop info = nullptr;
  char message[128] = {};
  Pixels pixels;
  std::vector<std::uint8_t*> row_starts;

  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() {
    if (png != nullptr) png_destroy_read_struct(&png, &info, nullptr);
  }
};

extern "C" {

void lockstep_png_error(png_structp png, png_const_charp text) {
  auto* decoder = static_cast<Decoder*>(png_get_error_ptr(png));
  std::strncpy(decoder->message, text, sizeof(decoder->message) - 1);
  png_longjmp(png, 1);
}

void lockstep_png_warning(png_structp, png_const_charp) {}

void lockstep_png_read(png_structp png, png_bytep out, std::size_t count) {
  auto* decoder = static_cast<Decoder*>(png_get_io_ptr(png));
  if (count > decoder->input.size() - decoder->at) png_error(png, "the file ends too early");
  std::memcpy(out, decoder->input.data() + decoder->at, count);
  decoder->at += count;
}

}  // extern "C"

bool read_png_header(Decoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_set_read_fn(decoder.png, &decoder, lockstep_png_read);
  png_set_user_limits(decoder.png, kMaxSide, kMaxSide);
  png_set_chunk_cache_max(decoder.png, 128);
  png_set_chunk_malloc_max(decoder.png, 1 << 22);
  // Text, profiles and time stamps are of no use here: fewer bytes interpreted, fewer ways to go wrong.
  png_set_keep_unknown_chunks(decoder.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(decoder.png, decoder.info);
  decoder.pixels.width = png_get_image_width(decoder.png, decoder.info);
  decoder.pixels.height = png_get_image_height(decoder.png, decoder.info);
  decoder.pixels.channels = (png_get_color_type(decoder.png, decoder.info) & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
  return true;
}

bool start_decoding(Decoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  const int type = png_get_color_type(decoder.png, decoder.info), depth = png_get_bit_depth(decoder.png, decoder.info);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(decoder.png);
  if (type == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(decoder.png);
  if (depth == 16) png_set_scale_16(decoder.png);
  png_set_strip_alpha(decoder.png);
  png_set_interlace_handling(decoder.png);
  png_read_update_info(decoder.png, decoder.info);
  return true;
}

bool read_rows(Decoder& decoder) {
  if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
  png_read_image(decoder.png, decoder.row_starts.data());
  png_read_end(decoder.png, nullptr);
  return true;
}

[[noreturn]] void bad_png(const Decoder& decoder, std::string_view name) {
  fail_data(name, static_cast<std::int64_t>(decoder.at), fmt::format("PNG: {}", printable(decoder.message)));
}

void open(Decoder& decoder, std::span<const std::byte> bytes, std::string_view name) {
  decoder.input = bytes;
  if (bytes.size() < 8 || png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, 8) != 0)
    fail_data(name, 0, "not a PNG file");
  decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, lockstep_png_error, lockstep_png_warning);
  if (decoder.png != nullptr) decoder.info = png_create_info_struct(decoder.png);
  if (decoder.info == nullptr) throw Error(ErrorCode::resources, "libpng: out of memory");
  if (!read_png_header(decoder)) bad_png(decoder, name);
  // At one bit per pixel, the least PNG can store, `size` compressed bytes hold at most size * ratio * 8 pixels.
  const std::int64_t pixels = decoder.pixels.width * decoder.pixels.height;
  if (pixels > kMaxPixels || pixels / (8 * kMaxDeflation) > static_cast<std::int64_t>(bytes.size()))
    fail_data(name, 16,
              fmt::format("an image of {}x{} pixels in {} bytes is not believable", decoder.pixels.width,
                          decoder.pixels.height, bytes.size()));
}

void decode(Decoder& decoder, std::string_view name) {
  if (!start_decoding(decoder)) bad_png(decoder, name);
  const auto row_bytes = static_cast<std::int64_t>(png_get_rowbytes(decoder.png, decoder.info));
  if (row_bytes != decoder.pixels.width * decoder.pixels.channels) {
    throw Error(ErrorCode::bug,
                fmt::format("{}: PNG rows of {} bytes for {} pixels", name, row_bytes, decoder.pixels.width));
  }
  decoder.pixels.values.resize(static_cast<std::size_t>(row_bytes * decoder.pixels.height));
  for (std::int64_t y = 0; y < decoder.pixels.height; ++y)
    decoder.row_starts.push_back(decoder.pixels.values.data() + y * row_bytes);
  if (!read_rows(decoder)) bad_png(decoder, name);
}

}  // namespace

ImageShape parse_png_shape(std::span<const std::byte> bytes, std::string_view name) {
  Decoder decoder;
  open(decoder, bytes, name);
  return {decoder.pixels.channels, decoder.pixels.height, decoder.pixels.width};
}

Array parse_png(std::span<const std::byte> bytes, std::string_view name, ImageColour colour) {
  Decoder decoder;
  open(decoder, bytes, name);
  decode(decoder, name);
  return to_planes(decoder.pixels, colour);
}

Array read_png(const std::filesystem::path& path, ImageColour colour) {
  return parse_png(read_data_file(path), path.string(), colour);
}

Array to_planes(const Pixels& pixels, ImageColour colour) {
  const std::int64_t channels = colour == ImageColour::as_stored ? pixels.channels
                                : colour == ImageColour::grey    ? 1
                                                                 : 3;
  Array image = make_array(ElementType::uint8, {channels, pixels.height, pixels.width});
  const auto out = image.as<std::uint8_t>();
  const auto plane = static_cast<std::size_t>(pixels.height * pixels.width);
  const auto stored = static_cast<std::size_t>(pixels.channels);
  for (std::size_t i = 0; i < plane; ++i) {
    const std::uint8_t* pixel = pixels.values.data() + i * stored;
    if (channels == 1 && stored == 3) {
      out[i] = static_cast<std::uint8_t>((19595u * pixel[0] + 38470u * pixel[1] + 7471u * pixel[2] + 32768u) >> 16);
      continue;
    }
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c)
      out[c * plane + i] = pixel[stored == 3 ? c : 0];
  }
  return image;
}

}  // namespace lockstep
