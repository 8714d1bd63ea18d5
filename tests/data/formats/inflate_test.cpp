#include "lockstep/data/formats/inflate.hpp"

#include "tests/data/support.hpp"

namespace lockstep {
namespace {

Bytes sample(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((i * i) >> 7);
  return bytes;
}

TEST(Inflate, GivesBackWhatWasCompressed) {
  for (const Deflate wrapper : {Deflate::zlib, Deflate::gzip, Deflate::raw}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, std::size_t{3} << 20}) {
      const Bytes packed = deflate_bytes(sample(size), wrapper);
      Inflater stream(packed, wrapper, "f.gz");
      EXPECT_EQ(stream.read_exactly(static_cast<std::int64_t>(size), "it"), sample(size));
      stream.expect_end();
    }
  }
}

TEST(Inflate, ReadsGzipMembersAsOneStream) {
  const Bytes packed =
      joined(deflate_bytes(to_bytes("first "), Deflate::gzip), deflate_bytes(to_bytes("second"), Deflate::gzip));
  Inflater stream(packed, Deflate::gzip, "f.gz");
  EXPECT_EQ(stream.read_exactly(12, "it"), to_bytes("first second"));
  stream.expect_end();
}

TEST(Inflate, ReportsTruncation) {
  const Bytes packed = deflate_bytes(sample(1000), Deflate::gzip);
  const Bytes cut = shortened(packed, 20);
  Inflater stream(cut, Deflate::gzip, "f.gz");
  expect_data_error("f.gz: byte " + std::to_string(cut.size()) + ": the compressed data ends too early",
                    [&] { stream.read_exactly(1000, "it"); });
  const Bytes without_checksum = shortened(packed, 4);
  Inflater almost(without_checksum, Deflate::gzip, "f.gz");
  EXPECT_EQ(almost.read_exactly(1000, "it"), sample(1000));
  expect_data_error_with("ends too early", [&] { almost.expect_end(); });
}

TEST(Inflate, ReportsDamage) {
  Bytes packed = deflate_bytes(sample(1000), Deflate::gzip);
  packed[packed.size() - 6] ^= std::byte{1};  // the checksum
  Inflater stream(packed, Deflate::gzip, "f.gz");
  expect_data_error_with("the compressed data is damaged (incorrect data check)", [&] {
    stream.read_exactly(1000, "it");
    stream.expect_end();
  });
  Inflater nonsense(to_bytes("no gzip at all"), Deflate::gzip, "f.gz");
  expect_data_error("f.gz: byte 2: the compressed data is damaged (incorrect header check)",
                    [&] { nonsense.read_exactly(1, "it"); });
}

TEST(Inflate, ReportsTooMuchAndTooLittle) {
  const Bytes packed = deflate_bytes(to_bytes("hello"), Deflate::zlib);
  Inflater longer(packed, Deflate::zlib, "f.mat", 100);
  longer.read_exactly(3, "it");
  expect_data_error_with("more data than the header promises", [&] { longer.expect_end(); });
  Inflater shorter(packed, Deflate::zlib, "f.mat", 100);
  expect_data_error(
      "f.mat: byte " + std::to_string(100 + packed.size()) + ": the data ends inside it: 6 bytes wanted, 5 found",
      [&] { shorter.read_exactly(6, "it"); });
  const Bytes followed = joined(packed, to_bytes("x"));
  Inflater more(followed, Deflate::zlib, "f.mat");
  more.read_exactly(5, "it");
  expect_data_error("f.mat: byte " + std::to_string(packed.size()) + ": bytes behind the end of the compressed data",
                    [&] { more.expect_end(); });
}

TEST(Inflate, RefusesImpossibleClaimsWithoutAllocating) {
  const Bytes packed = deflate_bytes(to_bytes("hello"), Deflate::zlib);
  Inflater stream(packed, Deflate::zlib, "f.mat");
  expect_data_error("f.mat: byte 0: it claims 4611686018427387904 bytes, more than",
                    [&] { stream.read_exactly(std::int64_t{1} << 62, "it"); });
}

}  // namespace
}  // namespace lockstep
