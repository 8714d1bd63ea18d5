#include "lockstep/data/formats/mat5.hpp"

#include <ctime>
#include <functional>

#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/inflate.hpp"
#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

/// Builds level 5 files element by element, in either byte order.
struct Builder {
  std::endian order = std::endian::little;

  Bytes file(const Bytes& elements) const {
    Bytes out = to_bytes("MATLAB 5.0 MAT-file");
    out.resize(124);
    append_number<std::uint16_t>(out, 0x0100, order);
    append_number<std::uint16_t>(out, 0x4D49, order);
    return joined(out, elements);
  }
  Bytes element(std::uint32_t type, const Bytes& data) const {
    Bytes out;
    append_number(out, type, order);
    append_number(out, static_cast<std::uint32_t>(data.size()), order);
    out.insert(out.end(), data.begin(), data.end());
    while (out.size() % 8 != 0) out.push_back(std::byte{0});
    return out;
  }
  Bytes small(std::uint32_t type, const Bytes& data) const {
    Bytes out;
    append_number(out, static_cast<std::uint32_t>(data.size() << 16) | type, order);
    out.insert(out.end(), data.begin(), data.end());
    out.resize(8);
    return out;
  }
  template <class T>
  Bytes numbers(const std::vector<T>& values) const {
    Bytes out;
    for (const T value : values) append_number(out, value, order);
    return out;
  }
  Bytes header(std::uint32_t flags, const std::vector<std::int32_t>& dims, const Bytes& name_element) const {
    Bytes out = element(6, numbers<std::uint32_t>({flags, 0}));
    out = joined(out, element(5, numbers(dims)));
    return joined(out, name_element);
  }
  Bytes matrix(std::uint32_t flags, const std::vector<std::int32_t>& dims, std::string_view name,
               const Bytes& data_element) const {
    return element(14, joined(header(flags, dims, element(1, to_bytes(name))), data_element));
  }
  Bytes compressed(const Bytes& matrix) const {
    const Bytes packed = deflate_bytes(matrix, Deflate::zlib);
    Bytes out;
    append_number<std::uint32_t>(out, 15, order);
    append_number(out, static_cast<std::uint32_t>(packed.size()), order);
    return joined(out, packed);
  }
};

constexpr std::uint32_t kDouble = 6;

std::vector<double> values_of(const Array& array) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < array.elements(); ++i) values.push_back(array.value(i));
  return values;
}

TEST(Mat5, ReadsBothOrdersPlainAndCompressed) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    const Builder b{order};
    const Bytes x = b.matrix(kDouble, {2, 3}, "X", b.element(9, b.numbers<double>({1, 4, 2, 5, 3, 6.5})));
    const Bytes y = b.matrix(9, {2, 1}, "y", b.small(2, b.numbers<std::uint8_t>({10, 3})));
    for (const bool packed : {false, true}) {
      const Bytes bytes = packed ? b.file(joined(b.compressed(x), b.compressed(y))) : b.file(joined(x, y));
      const Mat5Reader reader(bytes, "a.mat");
      ASSERT_EQ(reader.entries().size(), 2u);
      EXPECT_EQ(reader.read("X").describe(), "float64 [2,3]");
      EXPECT_EQ(values_of(reader.read("X")), (std::vector<double>{1, 2, 3, 4, 5, 6.5}));
      EXPECT_EQ(reader.read("y").describe(), "uint8 [2,1]");
      EXPECT_EQ(values_of(reader.read("y")), (std::vector<double>{10, 3}));
    }
  }
}

TEST(Mat5, ReadsEveryNumericClassFromEveryStorage) {
  const Builder b;
  const std::vector<std::pair<std::uint32_t, Bytes>> stored{
      {1, b.numbers<std::int8_t>({1, 100})},   {2, b.numbers<std::uint8_t>({1, 100})},
      {3, b.numbers<std::int16_t>({1, 100})},  {4, b.numbers<std::uint16_t>({1, 100})},
      {5, b.numbers<std::int32_t>({1, 100})},  {6, b.numbers<std::uint32_t>({1, 100})},
      {7, b.numbers<float>({1, 100})},         {9, b.numbers<double>({1, 100})},
      {12, b.numbers<std::int64_t>({1, 100})}, {13, b.numbers<std::uint64_t>({1, 100})}};
  for (std::uint32_t array_class = 6; array_class <= 15; ++array_class) {
    for (const auto& [type, data] : stored) {
      const Bytes bytes = b.file(b.matrix(array_class, {1, 2}, "v", b.element(type, data)));
      EXPECT_EQ(values_of(Mat5Reader(bytes, "a.mat").read("v")), (std::vector<double>{1, 100}))
          << array_class << " from " << type;
    }
  }
}

TEST(Mat5, TurnsThreeDimensions) {
  const Builder b;
  const Bytes data = b.numbers<std::uint8_t>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Bytes bytes = b.file(b.matrix(9, {2, 3, 2}, "v", b.element(2, data)));
  EXPECT_EQ(values_of(Mat5Reader(bytes, "a.mat").read("v")),
            (std::vector<double>{0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11}));
}

TEST(Mat5, ListsOtherClassesAndRefusesThem) {
  const Builder b;
  const Bytes body = b.element(9, b.numbers<double>({1}));
  const std::vector<std::pair<std::uint32_t, std::string>> kinds{{1, "cell"},
                                                                 {2, "struct"},
                                                                 {3, "object"},
                                                                 {4, "char"},
                                                                 {5, "sparse"},
                                                                 {16, "function"},
                                                                 {0x0806, "complex double"}};
  for (const auto& [flags, kind] : kinds) {
    const Bytes bytes = b.file(joined(b.matrix(flags, {1, 1}, "other", body), b.matrix(kDouble, {1, 1}, "X", body)));
    const Mat5Reader reader(bytes, "a.mat");
    EXPECT_EQ(reader.entries()[0].kind, kind);
    EXPECT_FALSE(reader.entries()[0].readable);
    EXPECT_EQ(reader.read("X").value(0), 1);
    expect_data_error("a.mat: byte 128: \"other\" is a " + kind + " array, only real numeric arrays can be read",
                      [&] { reader.read("other"); });
  }
  const Bytes logical = b.file(b.matrix(0x0209, {1, 1}, "flag", b.small(2, b.numbers<std::uint8_t>({1}))));
  EXPECT_EQ(Mat5Reader(logical, "a.mat").read("flag").describe(), "uint8 [1,1]");
}

TEST(Mat5, ListsWhatThereIs) {
  const Builder b;
  const Bytes bytes = b.file(b.matrix(kDouble, {1, 1}, "X\n", b.element(9, b.numbers<double>({1}))));
  expect_data_error("a.mat: no variable \"y\", there are: X\\x0a", [&] { Mat5Reader(bytes, "a.mat").read("y"); });
}

TEST(Mat5, RefusesBadFileHeaders) {
  const Builder b;
  const Bytes good = b.file({});
  const auto refuse = [](std::string_view begin, const Bytes& bytes) {
    expect_data_error(begin, [&] { Mat5Reader(bytes, "a.mat"); });
  };
  EXPECT_TRUE(Mat5Reader(good, "a.mat").entries().empty());
  refuse("a.mat: byte 0: the file ends inside the header", shortened(good, 10));
  refuse("a.mat: byte 126: not a MATLAB level 5 file", with_byte(good, 126, 'X'));
  refuse("a.mat: byte 124: version 0x0200", with_byte(good, 125, 2));
  Bytes hdf5 = to_bytes("MATLAB 7.3 MAT-file");
  hdf5.resize(128);
  refuse("a.mat: byte 0: a version 7.3 file (HDF5), save it with -v7", hdf5);
}

/// Every bad element, plain and compressed: the same refusal.
TEST(Mat5, RefusesBadVariables) {
  const Builder b;
  const Bytes data = b.element(9, b.numbers<double>({1, 2}));
  const Bytes name = b.element(1, to_bytes("X"));
  const auto refuse = [&](std::string_view what, const Bytes& content) {
    for (const bool packed : {false, true}) {
      const Bytes matrix = b.element(14, content);
      const Bytes bytes = b.file(packed ? b.compressed(matrix) : matrix);
      expect_data_error("a.mat: byte 128: " + std::string(what), [&] { Mat5Reader(bytes, "a.mat").read("X"); });
    }
  };
  refuse("unknown array class 99", joined(b.header(99, {1, 2}, name), data));
  refuse("a variable does not begin with its array flags", b.element(5, b.numbers<std::int32_t>({6, 0})));
  refuse("the array flags has 16 bytes, at most 8", b.element(6, b.numbers<std::uint32_t>({6, 0, 0, 0})));
  refuse("a variable without dimensions", joined(b.header(6, {2}, name), data));
  refuse("the dimensions has 132 bytes", b.header(6, std::vector<std::int32_t>(33, 1), name));
  refuse("a negative dimension -2", joined(b.header(6, {1, -2}, name), data));
  refuse("the dimensions [2147483647,2147483647] overflow", joined(b.header(6, {0x7FFFFFFF, 0x7FFFFFFF}, name), data));
  refuse("a variable without a name", b.header(6, {1, 2}, b.element(2, to_bytes("X"))));
  refuse("the name has 5000 bytes", b.header(6, {1, 2}, b.element(1, Bytes(5000))));
  refuse("16 bytes of float64 data, the dimensions [1,3] need 24", joined(b.header(6, {1, 3}, name), data));
  refuse("the data has 16 bytes, at most 8", joined(b.header(6, {1, 1}, name), data));
  refuse("data of unknown type 8", joined(b.header(6, {1, 2}, name), b.element(8, Bytes(16))));
  refuse("a small data element of 5 bytes", joined(b.header(6, {1, 2}, name), b.numbers<std::uint32_t>({0x50002, 0})));
  refuse("8 bytes behind the variable's data", joined(joined(b.header(6, {1, 2}, name), data), Bytes(8)));
  refuse("element 1 does not fit the array's class",
         joined(b.header(9, {1, 2}, name), b.element(9, b.numbers<double>({1, 256}))));
  refuse("element 0 does not fit the array's class",
         joined(b.header(12, {1, 2}, name), b.element(13, b.numbers<std::uint64_t>({~0ull, 1}))));
}

TEST(Mat5, RefusesBadElements) {
  const Builder b;
  const Bytes matrix = b.matrix(kDouble, {1, 2}, "X", b.element(9, b.numbers<double>({1, 2})));
  const auto refuse = [&](std::string_view begin, const Bytes& bytes) {
    expect_data_error(begin, [&] { Mat5Reader(bytes, "a.mat").read("X"); });
  };
  refuse("a.mat: byte 128: a variable of 72 bytes, the file has 71 left", shortened(b.file(matrix), 1));
  refuse("a.mat: byte 128: an element of type 9, expected an array", b.file(b.element(9, b.numbers<double>({1}))));
  refuse("a.mat: byte " + std::to_string(128 + matrix.size()) + ": two variables have the same name",
         b.file(joined(matrix, matrix)));
  refuse("a.mat: byte 128: the compressed element is not an array",
         b.file(b.compressed(b.element(9, b.numbers<double>({1})))));
  refuse("a.mat: byte 132: the file ends inside a tag", shortened(b.file(matrix), 76));
  const Bytes packed = b.compressed(matrix);
  refuse("a.mat: byte 136: the file ends inside a compressed variable", shortened(b.file(packed), 3));
  expect_data_error_with("damaged", [&] {
    const Bytes bytes = with_byte(b.file(packed), 136, 0);
    Mat5Reader(bytes, "a.mat").read("X");
  });
}

TEST(Mat5, GivesBackWhatWasWritten) {
  const std::vector<NamedArray> arrays{
      {"Theta1", array_from<double>({2, 3}, std::vector<double>{1, 2, 3, 4, 5, 6.25})},
      {"b", array_from<float>({3}, std::vector<float>{1, 2, 3})},
      {"cube", array_from<std::uint8_t>({2, 3, 2}, std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})},
      {"empty", make_array(ElementType::float64, {0, 4})}};
  const Bytes bytes = write_mat5(arrays);
  EXPECT_EQ(bytes.size() % 8, 0u);
  const Mat5Reader reader(bytes, "a.mat");
  for (const NamedArray& entry : arrays) {
    const Array back = reader.read(entry.name);
    EXPECT_EQ(back.type, ElementType::float64);
    EXPECT_EQ(values_of(back), values_of(entry.array)) << entry.name;
  }
  EXPECT_EQ(reader.read("b").dims, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(reader.read("cube").dims, (std::vector<std::int64_t>{2, 3, 2}));
  const TemporaryFolder folder;
  write_file(folder / "a.mat", bytes);
  EXPECT_EQ(read_mat5(folder / "a.mat").size(), 4u);
}

TEST(Mat5, RefusesToWriteOtherNames) {
  for (const char* name : {"", "1x", "_x", "a b", "layer.weight"}) {
    const std::vector<NamedArray> arrays{{name, make_array(ElementType::float64, {1, 1})}};
    expect_error(ErrorCode::usage, "write_mat5: \"" + std::string(name) + "\" is no MATLAB name",
                 [&] { write_mat5(arrays); });
  }
}

/// 14 MB of small variables: the time to open the file and to read every one is a matter of seconds, not of minutes.
TEST(Mat5, FindsOneOfManyVariables) {
  constexpr int kVariables = 200'000;
  const Builder build;
  Bytes elements;
  for (int i = 0; i < kVariables; ++i) {
    const Bytes matrix = build.matrix(kDouble, {1, 1}, "v" + std::to_string(i),
                                      build.small(2, {std::byte{static_cast<unsigned char>(i)}}));
    elements.insert(elements.end(), matrix.begin(), matrix.end());
  }
  const Bytes bytes = build.file(elements);
  EXPECT_GT(bytes.size(), 12u << 20);
  const std::clock_t start = std::clock();
  const Mat5Reader reader(bytes, "m.mat");
  double sum = 0;
  for (const Mat5Entry& entry : reader.entries()) sum += reader.read(entry.name).value(0);
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC) << "processor time: work that grows with the square";
  EXPECT_EQ(sum, 781 * 32640.0 + 2016);
  EXPECT_TRUE(reader.contains("v199999"));
  expect_data_error("m.mat: no variable \"w\", there are: v0, v1, v2, v3", [&] { reader.read("w"); });
}

}  // namespace
}  // namespace lockstep
