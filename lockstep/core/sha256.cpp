#include "lockstep/core/sha256.hpp"

#include <algorithm>
#include <bit>

namespace lockstep {
namespace {

constexpr std::size_t kBlock = 64;

std::uint32_t load_big_endian(const std::byte* bytes) {
  return (std::to_integer<std::uint32_t>(bytes[0]) << 24) | (std::to_integer<std::uint32_t>(bytes[1]) << 16) |
         (std::to_integer<std::uint32_t>(bytes[2]) << 8) | std::to_integer<std::uint32_t>(bytes[3]);
}

void compress(Sha256State& state, const std::byte* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = load_big_endian(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha256Rounds[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const Sha256State delta = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += delta[i];
}

void compress_blocks(Sha256State& state, const std::byte* bytes, std::size_t blocks) {
  static const Sha256Blocks fastest = [] {
    const Sha256Blocks hardware = sha256_blocks_hardware();
    return hardware != nullptr ? hardware : sha256_blocks_portable;
  }();
  fastest(state, bytes, blocks);
}

}  // namespace

void sha256_blocks_portable(Sha256State& state, const std::byte* bytes, std::size_t blocks) {
  for (; blocks > 0; --blocks, bytes += kBlock) compress(state, bytes);
}

void Sha256::update(std::span<const std::byte> bytes) {
  const std::size_t held = static_cast<std::size_t>(length_ % kBlock);
  length_ += bytes.size();
  if (held > 0) {
    const std::size_t taken = std::min(kBlock - held, bytes.size());
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(taken);
    if (held + taken < kBlock) return;
    compress_blocks(state_, pending_.data(), 1);
  }
  const std::size_t blocks = bytes.size() / kBlock;
  compress_blocks(state_, bytes.data(), blocks);
  bytes = bytes.subspan(blocks * kBlock);
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
}

Sha256Digest Sha256::finish() {
  const std::uint64_t bits = length_ * 8;
  // A one bit, zeros up to 8 bytes before the end of a block, then the length: at most 72 bytes.
  std::array<std::byte, 72> padding{};
  padding[0] = std::byte{0x80};
  const std::size_t zeros = static_cast<std::size_t>((kBlock + 55 - length_ % kBlock) % kBlock);
  for (std::size_t i = 0; i < 8; ++i) padding[1 + zeros + i] = static_cast<std::byte>(bits >> (56 - 8 * i));
  update(std::span(padding).first(1 + zeros + 8));

  Sha256Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  *this = Sha256();
  return digest;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash;
  hash.update(bytes);
  return to_hex(hash.finish());
}

std::string short_hash(const std::string& digest) { return digest.substr(0, 8); }

}  // namespace lockstep
