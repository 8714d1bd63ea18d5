#include "lockstep/lab/report/picture.hpp"

#include <zlib.h>

#include <string_view>

#include "lockstep/core/error.hpp"

namespace lockstep::report {

namespace {

using Bytes = std::vector<std::uint8_t>;

void append_big_endian(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

void append_chunk(Bytes& out, std::string_view kind, std::span<const std::uint8_t> data) {
  append_big_endian(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t from = out.size();
  out.insert(out.end(), kind.begin(), kind.end());
  out.insert(out.end(), data.begin(), data.end());
  append_big_endian(out, static_cast<std::uint32_t>(crc32(0, out.data() + from, static_cast<uInt>(out.size() - from))));
}

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) { return at + i < bytes.size() ? std::uint32_t{bytes[at + i]} : 0U; };
    const std::uint32_t group = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::size_t i = 0; i < 4; ++i) out += at + i > bytes.size() ? '=' : kDigits[group >> (18 - 6 * i) & 63];
  }
  return out;
}

std::string png_base64(const Pixels& pixels) {
  const auto stride = static_cast<std::size_t>(pixels.width * pixels.channels);
  const std::size_t height = static_cast<std::size_t>(pixels.height);
  if (pixels.values.size() != stride * height)
    throw Error(ErrorCode::bug, "a picture has another number of pixels than its size says");
  Bytes rows;
  for (std::size_t y = 0; y < height; ++y) {
    rows.push_back(0);  // no filter
    const auto row = pixels.values.begin() + static_cast<std::ptrdiff_t>(y * stride);
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(stride));
  }
  uLongf size = compressBound(rows.size());
  Bytes packed(size);
  if (compress(packed.data(), &size, rows.data(), rows.size()) != Z_OK)
    throw Error(ErrorCode::resources, "a picture could not be compressed");
  Bytes head;
  append_big_endian(head, static_cast<std::uint32_t>(pixels.width));
  append_big_endian(head, static_cast<std::uint32_t>(pixels.height));
  for (const int value : {8, pixels.channels == 3 ? 2 : 0, 0, 0, 0}) head.push_back(static_cast<std::uint8_t>(value));
  Bytes file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  append_chunk(file, "IHDR", head);
  append_chunk(file, "IDAT", std::span(packed).first(size));
  append_chunk(file, "IEND", {});
  return base64(file);
}

}  // namespace lockstep::report
