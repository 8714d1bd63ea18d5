#pragma once
// PNG files for the tests, written chunk by chunk: any colour type and depth, valid or not.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <zlib.h>

#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/inflate.hpp"
#include "tests/data/support.hpp"

namespace lockstep {

struct PngFile {
  std::uint32_t width = 0, height = 0;
  int depth = 8, colour_type = 0;  // 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGB with alpha
  std::vector<Bytes> rows;         // packed samples, without the filter byte
  Bytes palette, transparency;     // PLTE and tRNS, left out when empty
};

inline void append_chunk(Bytes& out, std::string_view type, const Bytes& data) {
  append_number(out, static_cast<std::uint32_t>(data.size()), std::endian::big);
  const Bytes body = joined(to_bytes(type), data);
  out.insert(out.end(), body.begin(), body.end());
  append_number(out, static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size())),
                std::endian::big);
}

inline Bytes write_png(const PngFile& file) {
  Bytes out = to_bytes("\x89PNG\r\n\x1a\n"), header, data;
  append_number(header, file.width, std::endian::big);
  append_number(header, file.height, std::endian::big);
  for (const int value : {file.depth, file.colour_type, 0, 0, 0}) header.push_back(static_cast<std::byte>(value));
  append_chunk(out, "IHDR", header);
  if (!file.palette.empty()) append_chunk(out, "PLTE", file.palette);
  if (!file.transparency.empty()) append_chunk(out, "tRNS", file.transparency);
  for (const Bytes& row : file.rows) {
    data.push_back(std::byte{0});
    data.insert(data.end(), row.begin(), row.end());
  }
  append_chunk(out, "IDAT", deflate_bytes(data, Deflate::zlib));
  append_chunk(out, "IEND", {});
  return out;
}

/// A grey image whose pixel (y, x) is first + y * width + x.
inline Bytes grey_png(std::uint32_t width, std::uint32_t height, int first) {
  PngFile file{.width = width, .height = height};
  for (std::uint32_t y = 0; y < height; ++y) {
    Bytes row;
    for (std::uint32_t x = 0; x < width; ++x)
      row.push_back(static_cast<std::byte>(first + static_cast<int>(y * width + x)));
    file.rows.push_back(row);
  }
  return write_png(file);
}

}  // namespace lockstep
