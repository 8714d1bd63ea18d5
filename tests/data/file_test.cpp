#include "lockstep/data/file.hpp"

#include <sys/stat.h>

#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

TEST(File, ReadsSlices) {
  const TemporaryFolder folder;
  write_file(folder / "a.bin", to_bytes("0123456789"));
  const File file(folder / "a.bin");
  EXPECT_EQ(file.size(), 10);
  Bytes slice(3);
  file.read_at(4, slice);
  EXPECT_EQ(slice, to_bytes("456"));
  EXPECT_EQ(read_data_file(folder / "a.bin"), to_bytes("0123456789"));
}

TEST(File, RefusesWhatIsNoFile) {
  const TemporaryFolder folder;
  const std::string missing = (folder / "missing").string(), pipe = (folder / "pipe").string();
  expect_data_error(missing + ": cannot open: No such file or directory", [&] { File file(missing); });
  expect_data_error(folder.path().string() + ": not a regular file", [&] { File file(folder.path()); });
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_data_error(pipe + ": not a regular file", [&] { File file(pipe); });
}

TEST(File, ReportsATruncationAfterOpening) {
  const TemporaryFolder folder;
  const auto path = folder / "a.bin";
  write_file(path, to_bytes("0123456789"));
  const File file(path);
  std::filesystem::resize_file(path, 6);
  Bytes slice(4);
  expect_data_error(path.string() + ": byte 6: the file ends here, 2 more bytes were expected; it had 10 bytes",
                    [&] { file.read_at(4, slice); });
}

}  // namespace
}  // namespace lockstep
