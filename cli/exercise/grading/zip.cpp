#include "cli/exercise/grading/zip.hpp"

#include <zlib.h>

#include "lockstep/core/error.hpp"

namespace lockstep::cli {

namespace {

constexpr std::uint16_t kVersion = 20, kMadeByUnix = 3 << 8;
constexpr std::uint32_t kDate = (2024 - 1980) << 25 | 1 << 21 | 1 << 16;  // the same archive for the same files

template <class Int>
void append(std::string& to, Int number) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) to += static_cast<char>(number >> (8 * i) & 0xFF);
}

/// Without the header and trailer of zlib's own format.
std::string deflated(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ErrorCode::resources, "zlib cannot start: no memory");
  std::string out(deflateBound(&stream, static_cast<uLong>(content.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int end = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (end != Z_STREAM_END) throw Error(ErrorCode::bug, "zlib did not end");
  return out;
}

}  // namespace

void ZipArchive::add(const std::string& name, std::string_view content, bool executable) {
  constexpr std::size_t kMost = 0xFFFFFFFFU;
  if (content.size() > kMost / 2 || body_.size() + content.size() > kMost / 2)
    throw Error(ErrorCode::resources, name + ": too large for the archive, which holds 2 GiB");
  const std::string packed = deflated(content);
  const bool smaller = packed.size() < content.size();
  const std::string_view stored = smaller ? std::string_view(packed) : content;
  std::string common;  // what the file's own header and the directory have alike
  append(common, kVersion);
  append(common, std::uint16_t{1 << 11});  // names are UTF-8
  append(common, static_cast<std::uint16_t>(smaller ? 8 : 0));
  append(common, kDate);
  append(common, static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()),
                                                    static_cast<z_size_t>(content.size()))));
  append(common, static_cast<std::uint32_t>(stored.size()));
  append(common, static_cast<std::uint32_t>(content.size()));
  append(common, static_cast<std::uint16_t>(name.size()));
  append(common, std::uint16_t{0});  // no extra fields
  const auto offset = static_cast<std::uint32_t>(body_.size());
  append(body_, std::uint32_t{0x04034b50});
  body_ += common + name;
  body_ += stored;
  append(directory_, std::uint32_t{0x02014b50});
  append(directory_, static_cast<std::uint16_t>(kMadeByUnix | kVersion));
  directory_ += common;
  append(directory_, std::uint16_t{0});  // no comment
  append(directory_, std::uint16_t{0});  // disk
  append(directory_, std::uint16_t{0});
  append(directory_, static_cast<std::uint32_t>(0100000 | (executable ? 0755 : 0644)) << 16);
  append(directory_, offset);
  directory_ += name;
  ++files_;
}

std::string ZipArchive::finish() && {
  const auto offset = static_cast<std::uint32_t>(body_.size()), bytes = static_cast<std::uint32_t>(directory_.size());
  body_ += directory_;
  append(body_, std::uint32_t{0x06054b50});
  append(body_, std::uint32_t{0});
  append(body_, files_);
  append(body_, files_);
  append(body_, bytes);
  append(body_, offset);
  append(body_, std::uint16_t{0});
  return std::move(body_);
}

}  // namespace lockstep::cli
