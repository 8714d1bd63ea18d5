#include "lockstep/data/formats/inflate.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <zlib.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"

namespace lockstep {
namespace {

// One deflate byte yields at most 1032 bytes (zlib's technical notes): a larger claim is false before it is tried.
constexpr std::int64_t kMaxRatio = 1032;
constexpr std::int64_t kFirstPiece = 1 << 20;

int window_bits(Deflate wrapper) {
  switch (wrapper) {
    case Deflate::zlib:
      return MAX_WBITS;
    case Deflate::gzip:
      return MAX_WBITS + 16;
    case Deflate::raw:
      break;
  }
  return -MAX_WBITS;
}

}  // namespace

struct Inflater::State {
  z_stream stream{};
  Deflate wrapper{};
  bool finished = false;  // the current member has ended
};

Inflater::Inflater(std::span<const std::byte> compressed, Deflate wrapper, std::string_view name, std::int64_t start)
    : state_(std::make_unique<State>()),
      name_(name),
      start_(start),
      size_(static_cast<std::int64_t>(compressed.size())) {
  if (compressed.size() > std::numeric_limits<uInt>::max())
    fail("compressed data beyond 4 GiB is not supported, decompress the file first");
  state_->wrapper = wrapper;
  // zlib's interface is not const-correct; it does not write to its input.
  state_->stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(compressed.data()));
  state_->stream.avail_in = static_cast<uInt>(compressed.size());
  if (inflateInit2(&state_->stream, window_bits(wrapper)) != Z_OK)
    throw Error(ErrorCode::resources, "zlib: out of memory");
}

Inflater::~Inflater() { inflateEnd(&state_->stream); }

void Inflater::fail(std::string_view what) const {
  fail_data(name_, start_ + size_ - static_cast<std::int64_t>(state_->stream.avail_in), what);
}

bool Inflater::at_end() {
  if (!state_->finished) return false;
  if (state_->stream.avail_in == 0) return true;
  if (state_->wrapper != Deflate::gzip) fail("bytes behind the end of the compressed data");
  inflateReset(&state_->stream);
  state_->finished = false;
  return false;
}

std::int64_t Inflater::read(std::span<std::byte> out) {
  z_stream& stream = state_->stream;
  std::int64_t written = 0;
  while (static_cast<std::size_t>(written) < out.size() && !at_end()) {
    const auto piece = std::min<std::size_t>(out.size() - static_cast<std::size_t>(written), 1u << 30);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + written);
    stream.avail_out = static_cast<uInt>(piece);
    const int result = inflate(&stream, Z_NO_FLUSH);
    written += static_cast<std::int64_t>(piece - stream.avail_out);
    if (result == Z_STREAM_END) {
      state_->finished = true;
    } else if (result == Z_MEM_ERROR) {
      throw Error(ErrorCode::resources, "zlib: out of memory");
    } else if (result == Z_BUF_ERROR) {
      fail("the compressed data ends too early, the file is truncated");
    } else if (result != Z_OK) {
      fail(fmt::format("the compressed data is damaged ({})",
                       stream.msg != nullptr ? stream.msg : "needs a dictionary"));
    }
  }
  return written;
}

std::vector<std::byte> Inflater::read_exactly(std::int64_t count, std::string_view what) {
  if (count / kMaxRatio > size_)
    fail(fmt::format("{} claims {} bytes, more than {} compressed bytes can hold", what, count, size_));
  std::vector<std::byte> out;
  std::int64_t have = 0;
  while (have < count) {
    const std::int64_t want = std::min(count, std::max(kFirstPiece, 2 * have));
    out.resize(static_cast<std::size_t>(want));
    have += read(std::span(out).subspan(static_cast<std::size_t>(have)));
    if (have < want) fail(fmt::format("the data ends inside {}: {} bytes wanted, {} found", what, count, have));
  }
  return out;
}

void Inflater::expect_end() {
  // The end mark and the checksum may still be unread when the last data byte has been delivered.
  std::byte extra{};
  if (read(std::span(&extra, 1)) != 0) fail("more data than the header promises");
}

std::vector<std::byte> deflate_bytes(std::span<const std::byte> bytes, Deflate wrapper) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits(wrapper), 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ErrorCode::resources, "zlib: out of memory");
  std::vector<std::byte> out(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(out.size() - stream.avail_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw Error(ErrorCode::bug, "zlib: deflate did not finish");
  return out;
}

}  // namespace lockstep
