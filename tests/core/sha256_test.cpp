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
