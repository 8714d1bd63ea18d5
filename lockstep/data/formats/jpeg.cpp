#include "lockstep/data/formats/jpeg.hpp"

#include <csetjmp>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include <jpeglib.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {
namespace {

constexpr long kMostMemory = 512L << 20;  // of libjpeg: a progressive picture of 2^26 pixels needs 400 MB
constexpr int kMostScans = 200;           // a progressive file may go over its pixels again and again

// libjpeg reports errors by a function that must not return: it jumps. Nothing with a destructor may stand between its
// frames and the setjmp, so each function that calls setjmp works on this state and on plain pointers only.
struct JpegDecoder {
  jpeg_decompress_struct state{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf jump{};
  char message[JMSG_LENGTH_MAX] = {};
  bool made = false;
  Pixels pixels{};

  JpegDecoder() = default;
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() {
    if (made) jpeg_destroy_decompress(&state);
  }
};

extern "C" {

void lockstep_jpeg_error(j_common_ptr state) {
  auto* decoder = static_cast<JpegDecoder*>(state->client_data);
  state->err->format_message(state, decoder->message);
  std::longjmp(decoder->jump, 1);
}

/// Level -1 is a warning about damaged data, higher ones are only news.
void lockstep_jpeg_message(j_common_ptr state, int level) {
  if (level < 0) lockstep_jpeg_error(state);
}

void lockstep_jpeg_progress(j_common_ptr state) {
  auto* decoder = static_cast<JpegDecoder*>(state->client_data);
  if (decoder->state.input_scan_number <= kMostScans) return;
  std::snprintf(decoder->message, sizeof(decoder->message), "more than %d scans", kMostScans);
  std::longjmp(decoder->jump, 1);
}

}  // extern "C"

bool read_jpeg_header(JpegDecoder& decoder, const unsigned char* bytes, unsigned long size) {
  if (setjmp(decoder.jump) != 0) return false;
  decoder.state.err = jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = lockstep_jpeg_error;
  decoder.errors.emit_message = lockstep_jpeg_message;
  decoder.state.client_data = &decoder;
  jpeg_create_decompress(&decoder.state);
  decoder.made = true;
  decoder.state.mem->max_memory_to_use = kMostMemory;
  decoder.progress.progress_monitor = lockstep_jpeg_progress;
  decoder.state.progress = &decoder.progress;
  jpeg_mem_src(&decoder.state, const_cast<unsigned char*>(bytes), size);
  jpeg_read_header(&decoder.state, TRUE);
  decoder.pixels.width = decoder.state.image_width;
  decoder.pixels.height = decoder.state.image_height;
  decoder.pixels.channels = decoder.state.num_components == 1 ? 1 : 3;
  return true;
}

bool read_scanlines(JpegDecoder& decoder, unsigned char* out, std::int64_t row_bytes) {
  if (setjmp(decoder.jump) != 0) return false;
  decoder.state.out_color_space = decoder.pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  decoder.state.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&decoder.state);
  if (decoder.state.output_components != decoder.pixels.channels) {
    std::snprintf(decoder.message, sizeof(decoder.message), "an unknown kind of colour");
    return false;
  }
  while (decoder.state.output_scanline < decoder.state.output_height) {
    JSAMPROW row = out + static_cast<std::int64_t>(decoder.state.output_scanline) * row_bytes;
    jpeg_read_scanlines(&decoder.state, &row, 1);
  }
  jpeg_finish_decompress(&decoder.state);
  return true;
}

[[noreturn]] void bad_jpeg(const JpegDecoder& decoder, std::string_view name) {
  throw Error(ErrorCode::data, fmt::format("{}: JPEG: {}", name, printable(decoder.message)));
}

void open_jpeg(JpegDecoder& decoder, std::span<const std::byte> bytes, std::string_view name) {
  if (!is_jpeg(bytes)) fail_data(name, 0, "not a JPEG file");
  if (!read_jpeg_header(decoder, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()))
    bad_jpeg(decoder, name);
  if (decoder.state.num_components != 1 && decoder.state.num_components != 3)
    fail_data(name, 0, "JPEG: four colours (CMYK); save it as RGB");
  // A block of 8x8 pixels takes at least one bit of one scan.
  const std::int64_t count = decoder.pixels.width * decoder.pixels.height;
  if (count > kMaxPixels || decoder.pixels.width > kMaxSide || decoder.pixels.height > kMaxSide ||
      count / (8 * 64 * 4) > static_cast<std::int64_t>(bytes.size()))
    fail_data(name, 0,
              fmt::format("an image of {}x{} pixels in {} bytes is not believable", decoder.pixels.width,
                          decoder.pixels.height, bytes.size()));
}

}  // namespace

bool is_jpeg(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0xFF} && bytes[1] == std::byte{0xD8} && bytes[2] == std::byte{0xFF};
}

ImageShape parse_jpeg_shape(std::span<const std::byte> bytes, std::string_view name) {
  JpegDecoder decoder;
  open_jpeg(decoder, bytes, name);
  return {decoder.pixels.channels, decoder.pixels.height, decoder.pixels.width};
}

Array parse_jpeg(std::span<const std::byte> bytes, std::string_view name, ImageColour colour) {
  JpegDecoder decoder;
  open_jpeg(decoder, bytes, name);
  const std::int64_t row_bytes = decoder.pixels.width * decoder.pixels.channels;
  decoder.pixels.values.resize(static_cast<std::size_t>(row_bytes * decoder.pixels.height));
  if (!read_scanlines(decoder, decoder.pixels.values.data(), row_bytes)) bad_jpeg(decoder, name);
  return to_planes(decoder.pixels, colour);
}

}  // namespace lockstep
