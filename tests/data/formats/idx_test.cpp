#include "lockstep/data/formats/idx.hpp"

#include "lockstep/data/formats/inflate.hpp"
#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

template <class T>
Array counting(std::vector<std::int64_t> dims) {
  Array array = make_array(element_type_of<T>(), std::move(dims));
  auto values = array.as<T>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<T>(i * 3) - T{5});
  return array;
}

void expect_same(const Array& a, const Array& b) {
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.dims, b.dims);
  EXPECT_EQ(a.bytes, b.bytes);
}

template <class T>
void expect_round_trip() {
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{5}, {3, 4}, {2, 3, 5}, {2, 1, 3, 1}, {0, 7}}) {
    const Array array = counting<T>(dims);
    const Bytes plain = write_idx(array);
    expect_same(parse_idx(plain, "a.idx"), array);
    expect_same(parse_idx(deflate_bytes(plain, Deflate::gzip), "a.idx.gz"), array);
  }
}

TEST(Idx, GivesBackEveryType) {
  expect_round_trip<std::uint8_t>();
  expect_round_trip<std::int8_t>();
  expect_round_trip<std::int16_t>();
  expect_round_trip<std::int32_t>();
  expect_round_trip<float>();
  expect_round_trip<double>();
}

TEST(Idx, ReadsTheBytesOfTheSpecification) {
  const Bytes bytes = to_bytes({"\0\0\x0B\x02\0\0\0\x01\0\0\0\x02\x01\x02\xFF\xFE", 16});
  const Array array = parse_idx(bytes, "a.idx");
  EXPECT_EQ(array.describe(), "int16 [1,2]");
  EXPECT_EQ(array.value(0), 258);
  EXPECT_EQ(array.value(1), -2);
}

TEST(Idx, RefusesBadHeaders) {
  const Bytes good = write_idx(counting<std::uint8_t>({2, 3}));
  const auto parse = [](const Bytes& bytes) { return [bytes] { parse_idx(bytes, "a.idx"); }; };
  expect_data_error("a.idx: byte 0: the file ends inside the magic number: 4 bytes wanted, 0 left", parse({}));
  expect_data_error("a.idx: byte 0: not an IDX file", parse(with_byte(good, 0, 1)));
  expect_data_error("a.idx: byte 0: not an IDX file", parse(with_byte(good, 1, 1)));
  expect_data_error("a.idx: byte 2: unknown IDX element type 0x0a", parse(with_byte(good, 2, 0x0A)));
  expect_data_error("a.idx: byte 3: IDX rank 0", parse(with_byte(good, 3, 0)));
  expect_data_error("a.idx: byte 16: the file ends inside the sizes", parse(with_byte(good, 3, 200)));
  expect_data_error("a.idx: byte 12: 6 bytes of data follow the header, its sizes [2,131] need 262",
                    parse(with_byte(good, 11, 131)));
  expect_data_error("a.idx: byte 12: 5 bytes of data follow the header, its sizes [2,3] need 6",
                    parse(shortened(good, 1)));
  expect_data_error("a.idx: byte 12: 7 bytes of data", parse(joined(good, to_bytes("x"))));
}

TEST(Idx, RefusesSizesThatOverflow) {
  Bytes bytes = to_bytes({"\0\0\x0E\x02\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 12});
  expect_data_error("a.idx: byte 4: the sizes [4294967295,4294967295] overflow", [&] { parse_idx(bytes, "a.idx"); });
  // A zero makes the array empty, but the others must fit all the same: nothing that multiplies sizes later may
  // overflow.
  bytes = to_bytes({"\0\0\x0E\x03\xFF\xFF\xFF\xFF\x40\0\0\0\0\0\0\0", 16});
  expect_data_error("a.idx: byte 4: the sizes [4294967295,1073741824,0] overflow", [&] { parse_idx(bytes, "a.idx"); });
}

TEST(Idx, RefusesBadGzip) {
  const Bytes plain = write_idx(counting<std::uint8_t>({2, 3}));
  const auto parse = [](const Bytes& bytes) { return [bytes] { parse_idx(bytes, "a.gz"); }; };
  expect_data_error_with("ends too early", parse(shortened(deflate_bytes(plain, Deflate::gzip), 9)));
  expect_data_error_with("the data ends inside the array: 6 bytes wanted, 5 found",
                         parse(deflate_bytes(shortened(plain, 1), Deflate::gzip)));
  expect_data_error_with("more data than the header promises",
                         parse(deflate_bytes(joined(plain, to_bytes("x")), Deflate::gzip)));
  expect_data_error_with("the array claims 6392119302 bytes, more than",
                         parse(deflate_bytes(with_byte(plain, 4, 0x7F), Deflate::gzip)));
  expect_data_error_with("IDX rank 0", parse(deflate_bytes(with_byte(plain, 3, 0), Deflate::gzip)));
}

TEST(Idx, ReadsFiles) {
  const TemporaryFolder folder;
  const Array array = counting<float>({4, 2});
  write_file(folder / "a.idx", write_idx(array));
  expect_same(read_idx(folder / "a.idx"), array);
}

TEST(Idx, RefusesToWriteWhatIdxLacks) {
  expect_error(ErrorCode::bug, "write_idx: IDX cannot hold uint16 [2]",
               [] { write_idx(counting<std::uint16_t>({2})); });
  expect_error(ErrorCode::bug, "write_idx: IDX cannot hold uint8 []", [] { write_idx(counting<std::uint8_t>({})); });
  expect_error(ErrorCode::bug, "write_idx: IDX cannot hold uint8 [0,4294967296]", [] {
    write_idx(counting<std::uint8_t>({0, 4294967296}));
  });
}

}  // namespace
}  // namespace lockstep
