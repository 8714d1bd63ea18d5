#include "lockstep/data/formats/npy.hpp"

#include <fmt/format.h>

#include "lockstep/data/bytes.hpp"
#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

Bytes file_of(std::string_view header, const Bytes& data, int version = 1) {
  Bytes bytes = to_bytes("\x93NUMPY");
  bytes.push_back(static_cast<std::byte>(version));
  bytes.push_back(std::byte{0});
  if (version == 1) {
    append_number(bytes, static_cast<std::uint16_t>(header.size()));
  } else {
    append_number(bytes, static_cast<std::uint32_t>(header.size()));
  }
  return joined(joined(bytes, to_bytes(header)), data);
}

std::string header_of(std::string_view descr, std::string_view shape, std::string_view fortran = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, fortran, shape);
}

template <class T>
void expect_round_trip() {
  for (const std::vector<std::int64_t>& dims : {std::vector<std::int64_t>{}, {5}, {3, 4}, {2, 3, 5}, {4, 0, 2}}) {
    Array array = make_array(element_type_of<T>(), dims);
    auto values = array.as<T>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 7 + 1);
    const Bytes bytes = write_npy(array);
    EXPECT_EQ((bytes.size() - array.bytes.size()) % 64, 0u);
    const Array back = parse_npy(bytes, "a.npy");
    EXPECT_EQ(back.type, array.type);
    EXPECT_EQ(back.dims, array.dims);
    EXPECT_EQ(back.bytes, array.bytes);
  }
}

TEST(Npy, GivesBackEveryType) {
  expect_round_trip<std::uint8_t>();
  expect_round_trip<std::int8_t>();
  expect_round_trip<std::uint16_t>();
  expect_round_trip<std::int16_t>();
  expect_round_trip<std::uint32_t>();
  expect_round_trip<std::int32_t>();
  expect_round_trip<std::uint64_t>();
  expect_round_trip<std::int64_t>();
  expect_round_trip<float>();
  expect_round_trip<double>();
}

TEST(Npy, ReadsVersionsAndSpellings) {
  const Bytes two = to_bytes({"\x01\0\x02\0", 4});
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(parse_npy(file_of(header_of("<i2", "(2,)"), two, version), "a.npy").value(1), 2);
  }
  EXPECT_EQ(parse_npy(file_of(header_of(">i2", "(2,)"), two), "a.npy").value(1), 512);
  EXPECT_EQ(parse_npy(file_of(header_of("=i2", "(2,)"), two), "a.npy").value(1), 2);
  EXPECT_EQ(parse_npy(file_of(header_of("|b1", "(4,)"), two), "a.npy").describe(), "uint8 [4]");
  EXPECT_EQ(parse_npy(file_of(header_of("<i2", "(1L, 2L)"), two), "a.npy").describe(), "int16 [1,2]");
  EXPECT_EQ(parse_npy(file_of("{\"shape\":(2,1),\"fortran_order\":False,\"descr\":\"<i2\"}\n", two), "a").describe(),
            "int16 [2,1]");
}

TEST(Npy, TurnsFortranOrder) {
  const Bytes data = to_bytes({"\x01\x04\x02\x05\x03\x06", 6});  // [[1,2,3],[4,5,6]], columns first
  const Array array = parse_npy(file_of(header_of("|u1", "(2, 3)", "True"), data), "a.npy");
  EXPECT_EQ(array.bytes, to_bytes({"\x01\x02\x03\x04\x05\x06", 6}));
}

TEST(Npy, ReadsWords) {
  const Bytes letters = to_bytes({"a\0\0\0\xE9\0\0\0b\0\0\0\0\0\0\0", 16});
  const auto text = parse_npy_text(file_of(header_of("<U2", "(2,)"), letters), "a.npy");
  ASSERT_TRUE(text.has_value());
  EXPECT_EQ(text->dims, (std::vector<std::int64_t>{2}));
  EXPECT_EQ(text->words, (std::vector<std::string>{"a\xC3\xA9", "b"}));
  EXPECT_EQ(parse_npy_text(file_of(header_of("|S3", "(2,)"), to_bytes({"abcd\0\0", 6})), "a.npy")->words,
            (std::vector<std::string>{"abc", "d"}));
  EXPECT_FALSE(parse_npy_text(file_of(header_of("|u1", "(2,)"), to_bytes("ab")), "a.npy").has_value());
  expect_data_error("a.npy: byte ", [] { parse_npy_text(file_of(header_of("<U2", "(2,)"), to_bytes("ab")), "a.npy"); });
  expect_data_error("a.npy: byte ",
                    [] { parse_npy_text(file_of(header_of("<U1", "(1,)"), to_bytes("\xFF\xFF\xFF\xFF")), "a.npy"); });
  expect_data_error("a.npy: the array holds words, numbers were expected",
                    [&] { parse_npy(file_of(header_of("<U2", "(2,)"), letters), "a.npy"); });
}

TEST(Npy, RefusesBadFiles) {
  const Bytes two = to_bytes("ab");
  const auto refuse = [&](std::string_view begin, const Bytes& bytes) {
    expect_data_error(begin, [&] { parse_npy(bytes, "a.npy"); });
  };
  const auto refuse_header = [&](std::string_view what, std::string_view header) {
    const Bytes bytes = file_of(header, two);
    try {
      parse_npy(bytes, "a.npy");
      ADD_FAILURE() << "accepted: " << header;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(what), std::string_view::npos) << error.what();
      EXPECT_EQ(std::string_view(error.what()).substr(0, 12), "a.npy: byte ") << error.what();
    }
  };
  const Bytes good = file_of(header_of("|u1", "(2,)"), two);
  refuse("a.npy: byte 0: the file ends inside the magic string", {});
  refuse("a.npy: byte 0: not a .npy file", with_byte(good, 0, 'N'));
  refuse("a.npy: byte 6: version 4 of .npy is unknown", with_byte(good, 6, 4));
  refuse("a.npy: byte 6: version 0 of .npy is unknown", with_byte(good, 6, 0));
  refuse("a.npy: byte 10: the file ends inside the header", with_byte(good, 9, 0x70));
  refuse("a.npy: byte 8: a header of", with_byte(with_byte(good, 6, 2), 11, 0x70));
  refuse("a.npy: byte 67: 1 bytes of data follow the header, its shape (2) needs 2", shortened(good, 1));
  refuse("a.npy: byte 67: 3 bytes of data follow", joined(good, to_bytes("c")));
  refuse_header("overflows", header_of("<f8", "(4611686018427387904, 2)"));
  refuse_header("overflows", header_of("<f8", "(4611686018427387904,)"));
  refuse_header("no size", header_of("|u1", "(-1,)"));
  refuse_header("no size", header_of("|u1", "(99999999999999999999,)"));
  refuse_header("no size", header_of("|u1", "(x)"));
  refuse_header("'(' expected", header_of("|u1", "2"));
  refuse_header("')' expected", header_of("|u1", "(2 3)"));
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  refuse_header("more than 32", header_of("|u1", many + ")"));
  for (const char* type : {"<c8", "|O", "<f2", "|i2", "<f16", "", "<"}) {
    refuse_header("unsupported element type", header_of(type, "(2,)"));
  }
  refuse_header("structured", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }");
  refuse_header("neither True nor False", header_of("|u1", "(2,)", "Maybe"));
  refuse_header("lacks one of", "{'descr': '|u1', 'shape': (2,), }");
  refuse_header("unknown key", "{'descr': '|u1', 'colour': (2,), }");
  refuse_header("stands twice", "{'descr': '|u1', 'descr': '|u1'}");
  refuse_header("quoted string", "{descr: '|u1'}");
  refuse_header("has no end", "{'descr: ");
  refuse_header("'{' expected", "descr");
  refuse_header("'}' expected", "{'descr': '|u1' 'shape'");
  refuse_header("text behind", header_of("|u1", "(2,)") + "x");
}

TEST(Npy, ReadsFiles) {
  const TemporaryFolder folder;
  const Array array = array_from<float>({2, 2}, std::vector<float>{1, 2, 3, 4.5f});
  write_file(folder / "a.npy", write_npy(array));
  EXPECT_EQ(read_npy(folder / "a.npy").bytes, array.bytes);
}

}  // namespace
}  // namespace lockstep
