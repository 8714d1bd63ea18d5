#include "lockstep/data/formats/image_folder.hpp"

#include "tests/data/png_file.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

TEST(ImageFolder, ReadsClassesInOrder) {
  const TemporaryFolder folder;
  write_file(folder.path() / "cat/b.png", grey_png(2, 2, 10));
  write_file(folder.path() / "cat/a.png", grey_png(2, 2, 20));
  write_file(folder.path() / "ant/z.PNG", grey_png(2, 2, 30));
  write_file(folder.path() / "ant/.hidden", to_bytes("x"));
  const ImageFolder read = read_image_folder(folder.path());
  EXPECT_EQ(read.class_names, (std::vector<std::string>{"ant", "cat"}));
  EXPECT_EQ(read.samples.targets.labels, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_EQ(read.samples.targets.classes, 2);
  EXPECT_EQ(read.samples.features.describe(), "uint8 [3,1,2,2]");
  EXPECT_EQ(read.samples.features.value(0), 30);
  EXPECT_EQ(read.samples.features.value(4), 20);
  EXPECT_EQ(read.samples.features.value(8), 10);
}

TEST(ImageFolder, SortsNumbersAsNumbers) {
  const TemporaryFolder folder;
  for (const char* name : {"10", "9", "0"}) write_file(folder.path() / name / "a.png", grey_png(1, 1, 0));
  EXPECT_EQ(read_image_folder(folder.path()).class_names, (std::vector<std::string>{"0", "9", "10"}));
}

TEST(ImageFolder, OneColourImageMakesAllColour) {
  const TemporaryFolder folder;
  const PngFile rgb{.width = 1, .height = 1, .colour_type = 2, .rows = {to_bytes("abc")}};
  write_file(folder.path() / "0/a.png", grey_png(1, 1, 5));
  write_file(folder.path() / "0/b.png", write_png(rgb));
  const ImageFolder read = read_image_folder(folder.path());
  EXPECT_EQ(read.samples.shape, (Shape{3, 1, 1}));
  EXPECT_EQ(read.samples.features.bytes, to_bytes("\x05\x05\x05"
                                                  "abc"));
}

TEST(ImageFolder, UsesTheClassesOfTheTrainingSet) {
  const TemporaryFolder folder;
  write_file(folder.path() / "cat/a.png", grey_png(1, 1, 0));
  const std::vector<std::string> classes{"ant", "cat", "dog"};
  EXPECT_EQ(read_image_folder(folder.path(), classes).samples.targets.labels, (std::vector<std::int32_t>{1}));
  const std::vector<std::string> others{"ant"};
  expect_data_error((folder.path() / "cat").string() + ": the training set has no such class",
                    [&] { read_image_folder(folder.path(), others); });
}

TEST(ImageFolder, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  const std::string root = folder.path().string();
  expect_data_error(root + "/none: cannot read the folder: No such file", [&] { read_image_folder(root + "/none"); });
  expect_data_error(root + ": no PNG images in it", [&] { read_image_folder(root); });
  write_file(root + "/0/a.png", grey_png(2, 2, 0));
  write_file(root + "/readme.txt", to_bytes("x"));
  expect_data_error(root + "/readme.txt: expected a sub-folder", [&] { read_image_folder(root); });
  std::filesystem::remove(root + "/readme.txt");
  write_file(root + "/0/b.jpg", to_bytes("x"));
  expect_data_error(root + "/0/b.jpg: not a .png file", [&] { read_image_folder(root); });
  std::filesystem::remove(root + "/0/b.jpg");
  write_file(root + "/0/c.png", grey_png(3, 2, 0));
  expect_data_error(root + "/0/c.png: 3x2 pixels, but " + root + "/0/a.png has 2x2", [&] { read_image_folder(root); });
  write_file(root + "/0/c.png", to_bytes("not an image"));
  expect_data_error(root + "/0/c.png: byte 0: not a PNG file", [&] { read_image_folder(root); });
}

}  // namespace
}  // namespace lockstep
