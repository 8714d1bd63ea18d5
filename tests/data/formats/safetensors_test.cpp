#include "lockstep/data/formats/safetensors.hpp"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

/// A file with this header and so many bytes of data, each holding its position.
std::vector<std::byte> file_of(const std::string& header, std::int64_t data_bytes) {
  std::vector<std::byte> bytes(8 + header.size() + static_cast<std::size_t>(data_bytes));
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(data_bytes); ++i) bytes[8 + header.size() + i] = std::byte(i);
  return bytes;
}

std::string refusal(std::span<const std::byte> bytes) {
  try {
    parse_safetensors(bytes, "w.safetensors");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  ADD_FAILURE() << "was accepted";
  return "";
}

std::string refusal(const std::string& header, std::int64_t data_bytes) { return refusal(file_of(header, data_bytes)); }

std::string tensor(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& range) {
  return "\"" + name + R"(":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + range + "}";
}

TEST(Safetensors, GivesBackWhatWasWritten) {
  Safetensors contents;
  contents.metadata = {{"format", "pt"}, {"text", "quote \" line\nend \xc3\xa9"}};
  const std::vector<float> floats{1.5F, -0.0F, std::numeric_limits<float>::infinity(), 1e-45F, 3.25F, 7.0F};
  const std::vector<double> doubles{0.1, -2e300};
  const std::vector<std::int64_t> counts{std::numeric_limits<std::int64_t>::min()};
  const std::vector<std::uint8_t> pixels{0, 255, 7};
  contents.tensors = {{"0.weight", array_from<float>({2, 3}, floats)},
                      {"0.bias", array_from<double>({2}, doubles)},
                      {"scalar", array_from<std::int64_t>({}, counts)},
                      {"empty", array_from<float>({0, 4}, {})},
                      {"pixels", array_from<std::uint8_t>({3, 1}, pixels)}};
  const std::vector<std::byte> bytes = write_safetensors(contents);
  const Safetensors read = parse_safetensors(bytes, "memory");
  EXPECT_EQ(read.metadata, contents.metadata);
  ASSERT_EQ(read.tensors.size(), contents.tensors.size());
  // Tensors come in the order of their data; the empty one lies where the next one begins.
  const std::vector<std::string> order{"0.weight", "0.bias", "scalar", "empty", "pixels"};
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(read.tensors[i].name, order[i]);
    EXPECT_EQ(read.tensors[i].array.type, contents.tensors[i].array.type);
    EXPECT_EQ(read.tensors[i].array.dims, contents.tensors[i].array.dims);
    EXPECT_EQ(read.tensors[i].array.bytes, contents.tensors[i].array.bytes);
  }
  EXPECT_EQ(write_safetensors(read), bytes);
}

TEST(Safetensors, EveryElementTypeHasItsName) {
  for (const ElementType type :
       {ElementType::uint8, ElementType::int8, ElementType::uint16, ElementType::int16, ElementType::uint32,
        ElementType::int32, ElementType::uint64, ElementType::int64, ElementType::float32, ElementType::float64}) {
    const Safetensors contents{{}, {{"t", make_array(type, {3})}}};
    EXPECT_EQ(parse_safetensors(write_safetensors(contents), "memory").tensors.at(0).array.type, type);
  }
}

TEST(Safetensors, WritesTheDocumentedBytes) {
  const std::vector<float> one{1.0F};
  const std::vector<std::byte> bytes = write_safetensors({{}, {{"w", array_from<float>({1}, one)}}});
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  )";
  ASSERT_EQ(header.size() % 8, 0U);
  std::string wanted(1, static_cast<char>(header.size()));
  wanted += std::string(7, '\0') + header + std::string("\0\0\x80\x3f", 4);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), wanted);
}

TEST(Safetensors, ReadsAFileAndItsHeaderAlone) {
  const TemporaryFolder folder;
  const std::vector<double> values{1, 2, 3};
  write_file_atomically(folder / "w.safetensors",
                        write_safetensors({{{"a", "b"}}, {{"x", array_from<double>({3}, values)}}}));
  const Safetensors read = read_safetensors(folder / "w.safetensors");
  EXPECT_EQ(read.metadata.at("a"), "b");
  EXPECT_EQ(read.tensors.at(0).array.value(2), 3.0);
  const SafetensorsHeader header = read_safetensors_header(folder / "w.safetensors");
  ASSERT_EQ(header.tensors.size(), 1U);
  EXPECT_EQ(header.tensors[0].name, "x");
  EXPECT_EQ(header.tensors[0].bytes, 24);
  EXPECT_THROW(read_safetensors(folder / "absent"), Error);
}

TEST(Safetensors, AcceptsWhatTheFormatAllows) {
  EXPECT_TRUE(parse_safetensors(file_of("{}", 0), "m").tensors.empty());
  EXPECT_TRUE(parse_safetensors(file_of("{}   \n", 0), "m").tensors.empty());
  EXPECT_TRUE(parse_safetensors(file_of(R"({"__metadata__":{}})", 0), "m").metadata.empty());
  // The order of the header is free.
  const Safetensors swapped = parse_safetensors(
      file_of("{" + tensor("b", "U8", "[2]", "[4,6]") + "," + tensor("a", "U8", "[4]", "[0,4]") + "}", 6), "m");
  EXPECT_EQ(swapped.tensors.at(0).name, "a");
  EXPECT_EQ(swapped.tensors.at(1).array.value(0), 4.0);
}

TEST(Safetensors, RefusesWrongLengths) {
  EXPECT_EQ(refusal(std::vector<std::byte>(3)),
            "w.safetensors: byte 0: the file ends inside the header's length: 8 bytes wanted, 3 left");
  std::vector<std::byte> bytes = file_of("{}", 0);
  bytes[0] = std::byte{3};
  EXPECT_EQ(refusal(bytes),
            "w.safetensors: byte 0: the header's length is 3, but only 2 bytes follow: the file is cut "
            "off or no safetensors file");
  bytes[7] = std::byte{0xff};
  EXPECT_EQ(refusal(bytes),
            "w.safetensors: byte 0: the header's length is 18374686479671623683, at most 100000000 are "
            "read: no safetensors file?");
  EXPECT_EQ(refusal("", 0), "w.safetensors: byte 8: the header must begin with {");
  EXPECT_EQ(refusal(" {}", 0), "w.safetensors: byte 8: the header must begin with {");
}

TEST(Safetensors, RefusesWhatIsNotTheHeadersJson) {
  EXPECT_EQ(refusal(R"({"a":})", 0), "w.safetensors: byte 13: the header is not JSON here");
  EXPECT_EQ(refusal(R"({} x)", 0), "w.safetensors: byte 11: the header is not JSON here");
  EXPECT_EQ(refusal("{\"\xff\":{}}", 0), "w.safetensors: byte 10: the header is not JSON here");
  EXPECT_EQ(refusal(R"({"a":1})", 0), "w.safetensors: byte 14: a number was not expected");
  EXPECT_EQ(refusal(R"({"a":[1]})", 0), "w.safetensors: byte 13: an array was not expected");
  EXPECT_EQ(refusal(R"({"a":"b"})", 0), "w.safetensors: byte 15: a string was not expected");
  EXPECT_EQ(refusal(R"({"a":null})", 0), "w.safetensors: byte 16: null was not expected");
  EXPECT_EQ(refusal(R"({"a":{"b":{}}})", 0), "w.safetensors: byte 18: an object was not expected");
  EXPECT_EQ(refusal(R"({"__metadata__":{"a":1}})", 0), "w.safetensors: byte 30: a number was not expected");
  EXPECT_EQ(refusal(R"({"__metadata__":{"a":true}})", 0), "w.safetensors: byte 32: true or false were not expected");
  EXPECT_EQ(refusal(R"({"a":{"shape":[[1]]}})", 0), "w.safetensors: byte 23: an array was not expected");
  EXPECT_EQ(refusal(R"({"a":{"dtype":[]}})", 0), "w.safetensors: byte 22: an array was not expected");
  EXPECT_EQ(refusal(R"({"a":{"shape":[-1]}})", 0), "w.safetensors: byte 25: a number is negative");
  EXPECT_EQ(refusal(R"({"a":{"shape":[1.0]}})", 0), "w.safetensors: byte 26: a number is not an integer, or too large");
  EXPECT_EQ(refusal(R"({"a":{"shape":[9223372036854775808]}})", 0), "w.safetensors: byte 42: the number is too large");
  std::string many = R"({"a":{"shape":[1)";
  for (int i = 0; i < 64; ++i) many += ",1";
  EXPECT_NE(refusal(many + "]}}", 0).find("more than 64 numbers in a list"), std::string::npos);
  // Depth costs nothing: the second bracket already ends the reading.
  EXPECT_NE(refusal(R"({"a":{"shape":)" + std::string(1'000'000, '['), 0).find("byte 23"), std::string::npos);
}

TEST(Safetensors, RefusesWhatIsSaidTwice) {
  const std::string a = tensor("a", "U8", "[1]", "[0,1]");
  EXPECT_EQ(refusal("{" + a + "," + a + "}", 1), R"(w.safetensors: byte 63: "a" stands there twice)");
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","dtype":"U8"}})", 0),
            R"(w.safetensors: byte 33: "dtype" stands there twice)");
  EXPECT_EQ(refusal(R"({"__metadata__":{"k":"1","k":"2"}})", 0), R"(w.safetensors: byte 35: "k" stands there twice)");
  EXPECT_EQ(refusal(R"({"__metadata__":{},"__metadata__":{}})", 0),
            R"(w.safetensors: byte 40: "__metadata__" stands there twice)");
}

TEST(Safetensors, RefusesTensorsThatDoNotFit) {
  EXPECT_EQ(refusal(R"({"a":{"dtype":"U8","shape":[1]}})", 1),
            R"(w.safetensors: byte 38: "a" needs dtype, shape and data_offsets and nothing else)");
  EXPECT_EQ(refusal("{" + tensor("a", "F16", "[1]", "[0,2]") + "}", 2),
            R"(w.safetensors: byte 26: "a" has the element type "F16"; F32, F64 and integers are read, convert it to )"
            "one of them");
  EXPECT_EQ(refusal("{" + tensor("a", "F32", "[2]", "[0,4]") + "}", 4),
            R"(w.safetensors: byte 60: "a" of shape [2] needs 8 bytes, its data_offsets give it 4)");
  EXPECT_EQ(refusal("{" + tensor("a", "F32", "[2]", "[0,8]") + "}", 4),
            R"(w.safetensors: byte 60: "a" lies at [0, 8], but there are 4 bytes of data)");
  EXPECT_EQ(refusal("{" + tensor("a", "F32", "[2]", "[4,0]") + "}", 4),
            R"(w.safetensors: byte 60: "a" lies at [4, 0], but there are 4 bytes of data)");
  EXPECT_EQ(refusal("{" + tensor("a", "U8", "[1]", "[0]") + "}", 1),
            R"(w.safetensors: byte 56: data_offsets of "a" are not two numbers)");
  EXPECT_EQ(refusal("{" + tensor("a", "F32", "[4294967296,2147483648]", "[0,0]") + "}", 0),
            R"(w.safetensors: byte 80: the shape [4294967296,2147483648] of "a" is too large)");
  EXPECT_EQ(refusal("{" + tensor("a", "F64", "[2305843009213693952]", "[0,0]") + "}", 0),
            R"(w.safetensors: byte 78: the shape [2305843009213693952] of "a" is too large)");
}

TEST(Safetensors, RefusesHolesAndOverlaps) {
  const std::string a = tensor("a", "U8", "[4]", "[0,4]");
  EXPECT_EQ(refusal("{" + a + "," + tensor("b", "U8", "[4]", "[3,7]") + "}", 7),
            R"(w.safetensors: byte 116: "b" overlaps the tensor before it)");
  EXPECT_EQ(refusal("{" + a + "," + tensor("b", "U8", "[4]", "[5,9]") + "}", 9),
            R"(w.safetensors: byte 117: 1 bytes before "b" belong to no tensor)");
  EXPECT_EQ(refusal("{" + a + "," + tensor("b", "U8", "[4]", "[0,4]") + "}", 4),
            R"(w.safetensors: byte 113: "b" overlaps the tensor before it)");
  EXPECT_EQ(refusal("{" + a + "}", 6), "w.safetensors: byte 65: 2 bytes at the end belong to no tensor");
  EXPECT_EQ(refusal("{}", 1), "w.safetensors: byte 10: 1 bytes at the end belong to no tensor");
}

// A name of the file goes into a message of one line, without its control characters and not at any length.
TEST(Safetensors, MessagesQuoteNamesSafely) {
  EXPECT_NE(refusal(R"({"a\n\u001b":{}})", 0).find(R"("a\x0a\x1b" needs)"), std::string::npos);
  EXPECT_LT(refusal("{\"" + std::string(5000, 'x') + "\":{}}", 0).size(), 300U);
}

TEST(Safetensors, RefusesToWriteNonsense) {
  const Array one = make_array(ElementType::float32, {1});
  Array wrong = one;
  wrong.dims = {2};
  EXPECT_THROW(write_safetensors({{}, {{"a", wrong}}}), Error);
  EXPECT_THROW(write_safetensors({{}, {{"a", one}, {"a", one}}}), Error);
  EXPECT_THROW(write_safetensors({{}, {{"__metadata__", one}}}), Error);
  EXPECT_THROW(write_safetensors({{}, {{"\xff", one}}}), Error);
}

}  // namespace
}  // namespace lockstep
