#include "lockstep/core/file.hpp"

#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::int64_t entries(const fs::path& folder) {
  return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
}

/// The code and message of the Error that `action` must throw.
template <class Action>
std::pair<ErrorCode, std::string> error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  ADD_FAILURE() << "no Error was thrown";
  return {ErrorCode::done, ""};
}

TEST(WriteFileAtomically, WritesAndReplaces) {
  const TemporaryFolder folder;
  const fs::path path = folder / "model.bin";
  write_file_atomically(path, "first");
  EXPECT_EQ(text_of(path), "first");
  write_file_atomically(path, "the second is longer");
  EXPECT_EQ(text_of(path), "the second is longer");
  write_file_atomically(path, "");
  EXPECT_EQ(text_of(path), "");
  EXPECT_EQ(entries(folder.path()), 1);
}

TEST(WriteFileAtomically, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  std::vector<std::byte> bytes(100'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 31 % 251);
  write_file_atomically(folder / "a", bytes);
  EXPECT_EQ(read_file(folder / "a", 100'000), bytes);
}

TEST(WriteFileAtomically, TakesANameInTheCurrentFolder) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  write_file_atomically("bare", "x");
  fs::current_path(before);
  EXPECT_EQ(text_of(folder / "bare"), "x");
}

TEST(WriteFileAtomically, TakesTheLongestLegalName) {
  const TemporaryFolder folder;
  write_file_atomically(folder / std::string(255, 'n'), "x");
  EXPECT_EQ(text_of(folder / std::string(255, 'n')), "x");
}

TEST(WriteFileAtomically, KeepsPermissionsAndLinks) {
  const TemporaryFolder folder;
  const fs::path file = folder / "file", link = folder / "link";
  write_file_atomically(file, "old");
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  fs::create_symlink("file", link);
  write_file_atomically(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(text_of(file), "new");
  EXPECT_EQ(fs::status(file).permissions(), fs::perms(0640));
}

TEST(WriteFileAtomically, LeavesWhatIsNoFileAlone) {
  const TemporaryFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& path : {pipe, folder.path()}) {
    const auto [code, message] = error_of([&] { write_file_atomically(path, "x"); });
    EXPECT_EQ(code, ErrorCode::resources);
    EXPECT_EQ(message, path.string() + ": not a regular file, it is left alone");
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(WriteFileAtomically, NamesAMissingFolder) {
  const TemporaryFolder folder;
  const fs::path path = folder / "absent/model.bin";
  const auto [code, message] = error_of([&] { write_file_atomically(path, "x"); });
  EXPECT_EQ(code, ErrorCode::usage);
  EXPECT_EQ(message, path.string() + ": cannot create a file in this folder: No such file or directory");
}

// A limit on the size of files stands in for a full disk: the write fails half-way through.
TEST(WriteFileAtomically, FullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const fs::path path = folder / "model.bin";
  write_file_atomically(path, "old");
  const auto write_under_limit = [&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const ::rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) std::_Exit(2);
    try {
      write_file_atomically(path, std::string(5000, 'x'));
    } catch (const Error& error) {
      const bool right = error.code() == ErrorCode::resources &&
                         std::string(error.what()) == path.string() + ": cannot write: File too large";
      std::_Exit(right ? 0 : 3);
    }
    std::_Exit(4);
  };
  EXPECT_EXIT(write_under_limit(), testing::ExitedWithCode(0), "");
  EXPECT_EQ(text_of(path), "old");
  EXPECT_EQ(entries(folder.path()), 1);
}

// Readers that come at any instant see one of the two versions, whole.
TEST(WriteFileAtomically, IsNeverSeenHalfWritten) {
  const TemporaryFolder folder;
  const fs::path path = folder / "model.bin";
  const std::string a(200'000, 'a'), b(300'000, 'b');
  write_file_atomically(path, a);
  std::thread writer([&] {
    for (int i = 0; i < 40; ++i) write_file_atomically(path, i % 2 == 0 ? b : a);
  });
  int torn = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string seen = text_of(path);
    torn += seen != a && seen != b;
  }
  writer.join();
  EXPECT_EQ(torn, 0);
}

TEST(TemporaryTarget, KnowsItsOwnNamesOnly) {
  EXPECT_EQ(temporary_target(".a.txt.123.0.tmp"), "a.txt");
  EXPECT_EQ(temporary_target(".7.8.9.tmp"), "7");
  for (const char* name : {"", ".", ".tmp", "a.txt.123.0.tmp", ".a.txt.123.0", ".a.txt.123.tmp", ".a..0.tmp",
                           ".a.1..tmp", ".1.2.tmp", "..1.2.tmp", ".a.1.b.tmp", ".a1.2.tmp"})
    EXPECT_EQ(temporary_target(name), std::nullopt) << name;
}

// What a kill leaves behind has a name that is recognised: seen while the file is being written.
TEST(TemporaryTarget, KnowsWhatIsBeingWritten) {
  const TemporaryFolder folder;
  const auto write_and_be_killed = [&] {
    const ::rlimit limit{1000, 1000};
    std::signal(SIGXFSZ, SIG_DFL);  // ends the process in the middle of the write
    if (::setrlimit(RLIMIT_FSIZE, &limit) == 0) write_file_atomically(folder / "model.bin", std::string(5000, 'x'));
  };
  EXPECT_EXIT(write_and_be_killed(), testing::KilledBySignal(SIGXFSZ), "");
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (const auto target = temporary_target(entry.path().filename().string())) left.push_back(*target);
  EXPECT_EQ(left, std::vector<std::string>{"model.bin"});
}

TEST(ReadFile, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  write_file_atomically(folder / "ten", "0123456789");
  const std::string ten = (folder / "ten").string();
  EXPECT_EQ(read_file(ten, 10).size(), 10U);
  EXPECT_EQ(error_of([&] { read_file(ten, 9); }), std::pair(ErrorCode::data, ten + ": 10 bytes, at most 9 are read"));
  const std::string absent = (folder / "absent").string();
  EXPECT_EQ(error_of([&] { read_file(absent, 9, ErrorCode::usage); }),
            std::pair(ErrorCode::usage, absent + ": cannot open: No such file or directory"));
  EXPECT_EQ(error_of([&] { read_file(folder.path(), 9); }),
            std::pair(ErrorCode::data, folder.path().string() + ": not a regular file"));
}

}  // namespace
}  // namespace lockstep
