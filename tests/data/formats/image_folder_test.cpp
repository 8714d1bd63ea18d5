#include "lockstep/data/formats/image_folder.hpp"

#include "lockstep/data/formats/npz.hpp"
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
  EXPECT_EQ(read_image_folder(folder.path(), {.classes = classes}).samples.targets.labels, (std::vector<std::int32_t>{1}));
  const std::vector<std::string> others{"ant"};
  expect_data_error((folder.path() / "cat").string() + ": the training set has no such class",
                    [&] { read_image_folder(folder.path(), {.classes = others}); });
}

TEST(ImageFolder, SkipsWhatIsNoPicture) {
  const TemporaryFolder folder;
  write_file(folder.path() / "0/a.png", grey_png(2, 2, 0));
  write_file(folder.path() / "0/Thumbs.db", to_bytes("x"));
  write_file(folder.path() / "0/.hidden.png", to_bytes("x"));
  write_file(folder.path() / "readme.txt", to_bytes("x"));
  const ImageFolder read = read_image_folder(folder.path());
  EXPECT_EQ(read.samples.features.dims.front(), 1);
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_NE(read.notes[0].find("2 files skipped, since they are no pictures of a class: 0/Thumbs.db, readme.txt"),
            std::string::npos)
      << read.notes[0];
}

TEST(ImageFolder, BringsPicturesToOneSize) {
  const TemporaryFolder folder;
  write_file(folder.path() / "0/a.png", grey_png(2, 2, 10));
  write_file(folder.path() / "0/b.png", grey_png(4, 4, 10));
  const ImageFolder read = read_image_folder(folder.path(), {.resize = 2});
  EXPECT_TRUE(read.resized);
  EXPECT_EQ(read.samples.shape, (Shape{1, 2, 2}));
  EXPECT_EQ(read.samples.features.value(0), 10) << "of that size already";
  EXPECT_EQ(read.samples.features.value(4), (10 + 11 + 14 + 15) / 4.0);
}

TEST(ImageFolder, ReadsArchives) {
  const TemporaryFolder folder;
  const std::vector<ZipMember> members = {{"pets/dog/b.png", grey_png(2, 2, 7)},
                                          {"pets/cat/a.png", grey_png(2, 2, 3)},
                                          {"__MACOSX/pets/cat/._a.png", to_bytes("x")}};
  write_file(folder.path() / "pets.zip", write_zip(members));
  for (const ZipMember& member : members) write_file(folder.path() / member.name, member.content);
  const ImageFolder zipped = read_image_folder(folder.path() / "pets.zip");
  const ImageFolder plain = read_image_folder(folder.path() / "pets");
  EXPECT_EQ(zipped.class_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(zipped.samples.features.bytes, plain.samples.features.bytes);
  EXPECT_EQ(zipped.samples.targets.labels, plain.samples.targets.labels);
}

TEST(ImageFolder, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  const std::string root = folder.path().string();
  expect_data_error(root + "/none: cannot read the folder: No such file", [&] { read_image_folder(root + "/none"); });
  expect_data_error(root + ": no pictures in it", [&] { read_image_folder(root); });
  write_file(root + "/0/a.png", grey_png(2, 2, 0));
  write_file(root + "/0/b.gif", to_bytes("x"));
  expect_data_error(root + "/0/b.gif: only PNG and JPEG images can be read", [&] { read_image_folder(root); });
  std::filesystem::remove(root + "/0/b.gif");
  write_file(root + "/0/c.png", grey_png(3, 2, 0));
  expect_data_error(root + "/0/c.png: 3x2 pixels, but " + root + "/0/a.png has 2x2; data.resize = 32",
                    [&] { read_image_folder(root); });
  write_file(root + "/0/c.png", to_bytes("not an image"));
  expect_data_error(root + "/0/c.png: byte 0: not a PNG or JPEG file", [&] { read_image_folder(root); });
}

}  // namespace
}  // namespace lockstep
