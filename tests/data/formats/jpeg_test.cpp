#include "lockstep/data/formats/jpeg.hpp"

#include <numeric>

#include "lockstep/data/file.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

/// The seeds of the fuzz target, whose pixels Pillow 12 gave.
std::vector<std::byte> picture(const char* name) {
  return read_data_file(std::filesystem::path(LOCKSTEP_TEST_SOURCES) / "fuzz/corpus/jpeg" / name);
}

std::int64_t sum_of(const Array& array) {
  std::int64_t sum = 0;
  for (const std::uint8_t value : array.as<std::uint8_t>()) sum += value;
  return sum;
}

TEST(Jpeg, ReadsGreyAndColour) {
  const Array grey = parse_jpeg(picture("grey"), "a.jpg");
  EXPECT_EQ(grey.describe(), "uint8 [1,8,8]");
  EXPECT_EQ(sum_of(grey), 6720);
  EXPECT_EQ(grey.value(4), 121);
  for (const char* name : {"rgb", "progressive"}) {
    const Array image = parse_jpeg(picture(name), name);
    EXPECT_EQ(image.describe(), "uint8 [3,16,12]");
    EXPECT_EQ(sum_of(image), 62536) << name;
    EXPECT_EQ(image.value(1), 14);
    EXPECT_EQ(image.value(16 * 12 + 1), 2);
  }
  EXPECT_EQ(parse_jpeg(picture("grey"), "a.jpg", ImageColour::rgb).describe(), "uint8 [3,8,8]");
  EXPECT_EQ(parse_jpeg(picture("rgb"), "a.jpg", ImageColour::grey).describe(), "uint8 [1,16,12]");
  const ImageShape shape = parse_jpeg_shape(picture("rgb"), "a.jpg");
  EXPECT_EQ(shape.shape(), (Shape{3, 16, 12}));
}

TEST(Jpeg, RefusesWhatIsDamaged) {
  expect_data_error("a.jpg: byte 0: not a JPEG file", [] { parse_jpeg(to_bytes("hello"), "a.jpg"); });
  expect_data_error("a.jpg: byte 0: JPEG: four colours (CMYK); save it as RGB",
                    [] { parse_jpeg(picture("cmyk"), "a.jpg"); });
  expect_data_error("a.jpg: JPEG: ", [] { parse_jpeg(picture("cut"), "a.jpg"); });
  std::vector<std::byte> huge = picture("rgb");
  for (std::size_t i = 0; i + 8 < huge.size(); ++i)
    if (huge[i] == std::byte{0xFF} && huge[i + 1] == std::byte{0xC0})
      std::fill_n(huge.begin() + static_cast<std::ptrdiff_t>(i) + 5, 4, std::byte{0xF0});
  expect_data_error("a.jpg: byte 0: an image of 61680x61680 pixels in 663 bytes is not believable",
                    [&] { parse_jpeg(huge, "a.jpg"); });
}

}  // namespace
}  // namespace lockstep
