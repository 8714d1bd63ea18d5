#include "lockstep/data/bytes.hpp"

#include <cstring>

#include "lockstep/core/checked.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

TEST(Bytes, SwapsOnlyForeignOrder) {
  Bytes bytes = to_bytes("abcdefgh");
  to_native_order(bytes, 4, std::endian::native);
  EXPECT_EQ(bytes, to_bytes("abcdefgh"));
  const auto foreign = std::endian::native == std::endian::little ? std::endian::big : std::endian::little;
  to_native_order(bytes, 4, foreign);
  EXPECT_EQ(bytes, to_bytes("dcbahgfe"));
  to_native_order(bytes, 1, foreign);
  EXPECT_EQ(bytes, to_bytes("dcbahgfe"));
  to_native_order(bytes, 8, foreign);
  EXPECT_EQ(bytes, to_bytes("efghabcd"));
}

TEST(Bytes, MakesTextPrintable) {
  EXPECT_EQ(printable("X_1 y"), "X_1 y");
  EXPECT_EQ(printable("a\nb\x01\xff"), "a\\x0ab\\x01\\xff");
  EXPECT_EQ(printable(std::string(100, 'a')), std::string(80, 'a') + "...");
}

TEST(Bytes, ReaderStopsAtTheEnd) {
  const Bytes bytes = to_bytes("\x01\x02\x03\x04\x05\x06\x07");
  ByteReader reader(bytes, "f.bin", std::endian::big);
  EXPECT_EQ(reader.u32("a word"), 0x01020304u);
  EXPECT_EQ(reader.u16("a half"), 0x0506);
  EXPECT_EQ(reader.remaining(), 1);
  expect_data_error("f.bin: byte 6: the file ends inside a word: 4 bytes wanted, 1 left",
                    [&] { reader.u32("a word"); });
  expect_data_error("f.bin: byte 6: the file ends inside x: -1 bytes wanted", [&] { reader.take(-1, "x"); });
}

/// The definition: every index tuple, first index fastest in the input, last index fastest in the output.
Bytes turned_by_definition(const Bytes& in, const std::vector<std::int64_t>& dims, std::int64_t size) {
  Bytes out(in.size());
  const std::int64_t elements = *checked_product_of(dims);
  for (std::int64_t i = 0; i < elements; ++i) {
    std::int64_t rest = i, row_major = 0;
    for (const std::int64_t extent : dims) {
      row_major = row_major * extent + rest % extent;
      rest /= extent;
    }
    std::memcpy(out.data() + row_major * size, in.data() + i * size, static_cast<std::size_t>(size));
  }
  return out;
}

TEST(Bytes, TurnsColumnMajorToRowMajor) {
  const std::vector<std::vector<std::int64_t>> shapes{
      {1},       {7},          {1, 1},       {5, 1},          {1, 5}, {2, 3},  {33, 65},
      {2, 3, 4}, {1, 3, 1, 4}, {5, 1, 2, 3}, {2, 2, 2, 2, 2}, {0, 3}, {64, 32}};
  for (const auto& dims : shapes) {
    for (const std::int64_t size : {1, 2, 4, 8}) {
      Bytes in(static_cast<std::size_t>(*checked_product_of(dims) * size));
      for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 7 + i / 251);
      EXPECT_EQ(column_to_row_major(in, dims, size), turned_by_definition(in, dims, size))
          << testing::PrintToString(dims);
    }
  }
}

}  // namespace
}  // namespace lockstep
