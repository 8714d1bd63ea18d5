#include "lockstep/data/formats/png.hpp"

#include "tests/data/png_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

Bytes raw(const std::vector<int>& values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Png, ReadsGreyOfEveryDepth) {
  EXPECT_EQ(parse_png(grey_png(3, 2, 10), "a.png").bytes, raw({10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(parse_png(grey_png(3, 2, 10), "a.png").describe(), "uint8 [1,2,3]");
  const PngFile one{.width = 9, .height = 1, .depth = 1, .rows = {raw({0xA0, 0x80})}};
  EXPECT_EQ(parse_png(write_png(one), "a.png").bytes, raw({255, 0, 255, 0, 0, 0, 0, 0, 255}));
  const PngFile two{.width = 4, .height = 1, .depth = 2, .rows = {raw({0x1B})}};
  EXPECT_EQ(parse_png(write_png(two), "a.png").bytes, raw({0, 85, 170, 255}));
  const PngFile four{.width = 2, .height = 1, .depth = 4, .rows = {raw({0x1F})}};
  EXPECT_EQ(parse_png(write_png(four), "a.png").bytes, raw({17, 255}));
  // 16 bits are scaled, not cut: round(0x0081 * 255 / 65535) = 1, its upper byte is 0.
  const PngFile sixteen{.width = 3, .height = 1, .depth = 16, .rows = {raw({0x80, 0xFF, 0x00, 0x7F, 0x00, 0x81})}};
  EXPECT_EQ(parse_png(write_png(sixteen), "a.png").bytes, raw({128, 0, 1}));
}

TEST(Png, ReadsColour) {
  const PngFile rgb{.width = 2, .height = 1, .colour_type = 2, .rows = {raw({1, 2, 3, 200, 100, 50})}};
  const Array image = parse_png(write_png(rgb), "a.png");
  EXPECT_EQ(image.describe(), "uint8 [3,1,2]");
  EXPECT_EQ(image.bytes, raw({1, 200, 2, 100, 3, 50}));
  // (19595 * 200 + 38470 * 100 + 7471 * 50 + 32768) >> 16 = 124
  EXPECT_EQ(parse_png(write_png(rgb), "a.png", ImageColour::grey).bytes, raw({2, 124}));
  EXPECT_EQ(parse_png(grey_png(2, 1, 7), "a.png", ImageColour::rgb).bytes, raw({7, 8, 7, 8, 7, 8}));
  EXPECT_EQ(parse_png(grey_png(2, 1, 7), "a.png", ImageColour::grey).bytes, raw({7, 8}));
}

TEST(Png, LooksUpPalettesAndIgnoresAlpha) {
  const PngFile palette{.width = 3,
                        .height = 1,
                        .depth = 2,
                        .colour_type = 3,
                        .rows = {raw({0x18})},
                        .palette = raw({1, 2, 3, 4, 5, 6, 7, 8, 9}),
                        .transparency = raw({0, 128})};
  EXPECT_EQ(parse_png(write_png(palette), "a.png").bytes, raw({1, 4, 7, 2, 5, 8, 3, 6, 9}));
  const PngFile grey_alpha{.width = 2, .height = 1, .colour_type = 4, .rows = {raw({9, 0, 8, 255})}};
  EXPECT_EQ(parse_png(write_png(grey_alpha), "a.png").bytes, raw({9, 8}));
  const PngFile rgba{.width = 1, .height = 2, .colour_type = 6, .rows = {raw({1, 2, 3, 0}), raw({4, 5, 6, 9})}};
  EXPECT_EQ(parse_png(write_png(rgba), "a.png").bytes, raw({1, 4, 2, 5, 3, 6}));
}

TEST(Png, KnowsTheShapeFromTheHeader) {
  EXPECT_EQ(parse_png_shape(grey_png(3, 2, 0), "a.png"), (ImageShape{1, 2, 3}));
  const PngFile rgb{.width = 2, .height = 1, .colour_type = 2, .rows = {raw({1, 2, 3, 4, 5, 6})}};
  EXPECT_EQ(parse_png_shape(write_png(rgb), "a.png"), (ImageShape{3, 1, 2}));
}

TEST(Png, RefusesBadFiles) {
  const Bytes good = grey_png(3, 2, 10);
  const auto refuse = [](std::string_view begin, const Bytes& bytes) {
    expect_data_error(begin, [&] { parse_png(bytes, "a.png"); });
  };
  refuse("a.png: byte 0: not a PNG file", {});
  refuse("a.png: byte 0: not a PNG file", to_bytes("GIF89a......"));
  refuse("a.png: byte 8: PNG: the file ends too early", {good.begin(), good.begin() + 12});
  refuse("a.png: byte 33: PNG: IHDR: CRC error", with_byte(good, 19, 4));
  refuse("a.png: byte " + std::to_string(good.size() - 12) + ": PNG: the file ends too early", shortened(good, 5));
  for (const auto& [width, height] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{65000, 65000}, {8000, 8000}}) {
    const PngFile bomb{.width = width, .height = height, .depth = 1, .rows = {raw({0})}};
    expect_data_error("a.png: byte 16: an image of " + std::to_string(width) + "x",
                      [&] { parse_png(write_png(bomb), "a.png"); });
  }
  const PngFile wide{.width = 1u << 20, .height = 1, .rows = {raw({0})}};
  refuse("a.png: byte 33: PNG: Invalid IHDR data", write_png(wide));
  const PngFile short_rows{.width = 4, .height = 4, .rows = {raw({0, 0, 0, 0})}};
  expect_data_error_with("PNG: ", [&] { parse_png(write_png(short_rows), "a.png"); });
  const PngFile no_palette{.width = 1, .height = 1, .colour_type = 3, .rows = {raw({0})}};
  expect_data_error_with("PNG: ", [&] { parse_png(write_png(no_palette), "a.png"); });
}

TEST(Png, ReadsFiles) {
  const TemporaryFolder folder;
  write_file(folder / "a.png", grey_png(2, 2, 1));
  EXPECT_EQ(read_png(folder / "a.png").bytes, raw({1, 2, 3, 4}));
}

}  // namespace
}  // namespace lockstep
