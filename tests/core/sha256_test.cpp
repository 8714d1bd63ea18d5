#include "lockstep/core/sha256.hpp"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

namespace lockstep {
namespace {

std::string hash_of(std::string_view text) { return sha256_hex(std::as_bytes(std::span(text))); }

// FIPS 180-4 examples and the NIST long message.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmn"
                    "opqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(hash_of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesDoNotMatter) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 37);
  const std::string whole = hash_of(text);
  for (const std::size_t piece : {1U, 7U, 55U, 63U, 64U, 65U, 128U, 299U}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      hash.update(std::as_bytes(std::span(text)).subspan(at, std::min(piece, text.size() - at)));
      hash.update({});
    }
    EXPECT_EQ(to_hex(hash.finish()), whole) << "pieces of " << piece;
  }
}

// Every place of the end within a block, against a digest of digests computed once with Python's hashlib.
TEST(Sha256, EveryPaddingLength) {
  Sha256 all;
  for (std::size_t length = 0; length <= 130; ++length) {
    const std::string digest = hash_of(std::string(length, 'x'));
    all.update(std::as_bytes(std::span(digest)));
  }
  EXPECT_EQ(to_hex(all.finish()), "87aca1c44bc7ba8897768170211f0a02063de70801131ff86c7edb9ce32c6a50");
}

// The tests above run whichever this processor prefers.
TEST(Sha256, HardwareAndPlainCodeAgree) {
  const Sha256Blocks hardware = sha256_blocks_hardware();
  if (hardware == nullptr) GTEST_SKIP() << "this processor has no SHA instructions";
  std::string bytes;
  for (int i = 0; i < 64 * 5 + 3; ++i) bytes += static_cast<char>(i * i * 31 + i);
  for (const std::size_t blocks : {0U, 1U, 2U, 5U}) {
    Sha256State by_hardware = {1, 2, 3, 4, 0xfffffff5, 6, 0x80000007, 8}, by_code = by_hardware;
    const std::byte* const odd = std::as_bytes(std::span(bytes)).data() + 3;
    hardware(by_hardware, odd, blocks);
    sha256_blocks_portable(by_code, odd, blocks);
    EXPECT_EQ(by_hardware, by_code) << blocks << " blocks";
  }
}

TEST(Sha256, FinishStartsANewMessage) {
  const std::string_view text = "abc";
  Sha256 hash;
  hash.update(std::as_bytes(std::span(text)));
  const Sha256Digest first = hash.finish();
  hash.update(std::as_bytes(std::span(text)));
  EXPECT_EQ(hash.finish(), first);
}

}  // namespace
}  // namespace lockstep
