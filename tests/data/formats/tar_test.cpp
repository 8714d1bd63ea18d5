#include "lockstep/data/formats/tar.hpp"

#include "lockstep/data/file.hpp"
#include "tests/data/support.hpp"

namespace lockstep {
namespace {

std::vector<std::byte> archive(const char* name) {
  return read_data_file(std::filesystem::path(LOCKSTEP_TEST_SOURCES) / "fuzz/corpus/tar" / name);
}

TEST(Tar, ReadsShortAndLongNames) {
  const std::vector<std::byte> bytes = archive("gnu");
  const std::vector<TarEntry> files = parse_tar(bytes, "a.tar");
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].name, "a/1.png");
  EXPECT_EQ(files[0].size, 5);
  EXPECT_EQ(static_cast<char>(bytes[static_cast<std::size_t>(files[0].offset)]), 'h');
  EXPECT_EQ(files[1].name, "a/" + std::string(120, 'x') + ".png");
  EXPECT_EQ(parse_tar(archive("pax"), "a.tar")[0].name, "b/\xC3\xA9" + std::string(120, 'y') + ".png");
  EXPECT_EQ(parse_tar(archive("pax"), "a.tar")[1].name, "b/2.png");
}

TEST(Tar, RefusesWhatIsDamaged) {
  expect_data_error("a.tar: byte 0: not a tar archive", [] { parse_tar(to_bytes(std::string(600, 'x')), "a.tar"); });
  std::vector<std::byte> bytes = archive("gnu");
  bytes.resize(516);
  expect_data_error("a.tar: byte 0: the member does not fit the archive", [&] { parse_tar(bytes, "a.tar"); });
  bytes = archive("gnu");
  bytes[1024 + 124] = std::byte{'7'};
  expect_data_error("a.tar: byte 1024: the checksum of a header is wrong", [&] { parse_tar(bytes, "a.tar"); });
}

}  // namespace
}  // namespace lockstep
