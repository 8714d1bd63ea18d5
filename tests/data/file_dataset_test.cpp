#include "lockstep/data/file_dataset.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "lockstep/core/random.hpp"
#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/inflate.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "tests/data/support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lockstep {
namespace {

Array random_floats(std::vector<std::int64_t> dims) {
  Array array = make_array(ElementType::float32, std::move(dims));
  auto values = array.as<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(uniform({.seed = 9, .purpose = Purpose::data}, i));
  }
  return array;
}

TEST(FileDataset, EqualsTheDataSetInMemory) {
  const TemporaryFolder folder;
  const Array array = random_floats({50, 3, 5});
  write_file(folder / "a.npy", write_npy(array));
  write_file(folder / "a.idx", write_idx(array));  // big-endian
  const MemoryDataset memory(array, {1, 3, 5}, {});
  std::vector<std::int64_t> ids{7, 8, 9, 3, 49, 0, 0, 1};
  for (std::int64_t i = 0; i < 30; ++i) ids.push_back(i * 11 % 50);
  for (const char* name : {"a.npy", "a.idx"}) {
    const FileDataset file(folder / name, {});
    EXPECT_EQ(file.describe(), "50 samples [1,3,5] float32, no targets, read by slices");
    EXPECT_EQ(gathered<float>(file, ids), gathered<float>(memory, ids));
    EXPECT_EQ(gathered<double>(file, ids), gathered<double>(memory, ids));
    const Scaling scaling(0.5, 0.25);
    EXPECT_EQ(gathered<float>(*file.scaled(scaling), ids), gathered<float>(*memory.scaled(scaling), ids));
  }
}

/// What is read ahead, in part or whole or for others, changes nothing.
TEST(FileDataset, PrefetchChangesNothing) {
  const TemporaryFolder folder;
  const Array array = random_floats({200, 3, 5});
  write_file(folder / "a.npy", write_npy(array));
  const MemoryDataset memory(array, {1, 3, 5}, {});
  const FileDataset file(folder / "a.npy", {});
  EXPECT_TRUE(file.reads_ahead());
  EXPECT_FALSE(memory.reads_ahead());
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < 64; ++i) ids.push_back(i * 7 % 200);
  for (int round = 0; round < 20; ++round) {
    file.prefetch(std::span(ids).subspan(round % 2 == 0 ? 0 : 32));
    if (round % 3 == 0) std::this_thread::yield();
    ASSERT_EQ(gathered<float>(file, ids), gathered<float>(memory, ids));
    std::ranges::reverse(ids);
  }
}

TEST(FileDataset, PrefetchLeavesErrorsToTheReader) {
  const TemporaryFolder folder;
  write_file(folder / "a.npy", write_npy(random_floats({50, 4})));
  const FileDataset file(folder / "a.npy", {});
  std::filesystem::resize_file(folder / "a.npy", 200);
  const std::vector<std::int64_t> ids = ids_from(20, 20);
  file.prefetch(ids);
  expect_error(ErrorCode::data, (folder / "a.npy").string(), [&] { gathered<float>(file, ids); });
}

/// A stored array of a .npz archive is a file of its own.
TEST(FileDataset, ReadsAPartOfAFile) {
  const TemporaryFolder folder;
  const Array array = random_floats({50, 3, 5});
  const NamedArray arrays[] = {{"other", random_floats({7})}, {"x", array}};
  write_file(folder / "a.npz", write_npz(arrays));
  const NpzReader reader(folder / "a.npz");
  const ZipEntry& entry = reader.find_stored("x");
  const FileDataset file(folder / "a.npz", {}, std::nullopt, false,
                         FilePart{entry.data_offset, entry.size, "a.npz(x)"});
  const std::vector<std::int64_t> ids{7, 8, 9, 3, 49, 0};
  EXPECT_EQ(gathered<float>(file, ids), gathered<float>(MemoryDataset(array, {1, 3, 5}, {}), ids));
}

TEST(FileDataset, HasTargetsAndAnotherShape) {
  const TemporaryFolder folder;
  write_file(folder / "a.npy", write_npy(random_floats({4, 6})));
  Targets targets;
  targets.classes = 2;
  targets.labels = {0, 1, 1, 0};
  const FileDataset file(folder / "a.npy", targets, Shape{1, 2, 3});
  EXPECT_EQ(file.sample_shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(all_labels(file), targets.labels);
  const FileDataset real(folder / "a.npy", make_values(random_floats({4, 2}), "t"));
  EXPECT_EQ(real.target_size(), 2);
  std::vector<float> t(2);
  real.targets(ids_from(3, 1), dense_matrix(t.data(), 2, 1));
  EXPECT_EQ(t[1], random_floats({4, 2}).as<float>()[7]);
}

TEST(FileDataset, RefusesWhatItCannotSlice) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& name, const Bytes& bytes, const std::string& what) {
    write_file(folder / name, bytes);
    expect_data_error((folder / name).string() + what, [&] { FileDataset(folder / name, {}); });
  };
  const Bytes good = write_npy(random_floats({4, 6}));
  refuse("a.idx.gz", deflate_bytes(write_idx(random_floats({4, 6})), Deflate::gzip), ": byte 0: a compressed file");
  refuse("short.npy", shortened(good, 1), ": byte 128: 95 bytes of data follow the header, its sizes [4,6] need 96");
  refuse("long.npy", joined(good, to_bytes("x")), ": byte 128: 97 bytes");
  refuse("none.npy", {}, ": byte 0: the file ends inside the magic number");
  refuse("empty.npy", write_npy(random_floats({0, 6})), ": features [0,6] hold no samples");
  refuse("deep.npy", write_npy(random_floats({1, 1, 1, 1, 1})), ": features [1,1,1,1,1], expected");
  std::string fortran(reinterpret_cast<const char*>(good.data()), good.size());
  fortran.replace(fortran.find("False"), 5, "True ");
  refuse("fortran.npy", to_bytes(fortran), ": byte 0: an array in Fortran order cannot be read by slices");
  write_file(folder / "a.npy", good);
  expect_error(ErrorCode::usage, "data: shape [5] does not fit samples [6]",
               [&] { FileDataset(folder / "a.npy", {}, Shape{5}); });
  Targets targets;
  targets.classes = 1;
  targets.labels = {0};
  expect_data_error((folder / "a.npy").string() + ": 4 samples but 1 targets",
                    [&] { FileDataset(folder / "a.npy", targets); });
}

TEST(FileDataset, ReportsATruncationWhileTraining) {
  const TemporaryFolder folder;
  write_file(folder / "a.npy", write_npy(random_floats({100, 6})));
  const FileDataset file(folder / "a.npy", {});
  std::filesystem::resize_file(folder / "a.npy", 200);
  EXPECT_EQ(gathered<float>(file, ids_from(0, 2)).size(), 12u);
  expect_data_error((folder / "a.npy").string() + ": byte 200: the file ends here",
                    [&] { gathered<float>(file, ids_from(0, 90)); });
}

TEST(FileDataset, IsReadByManyThreads) {
  const TemporaryFolder folder;
  write_file(folder / "a.npy", write_npy(random_floats({100, 6})));
  const FileDataset file(folder / "a.npy", {});
  const std::vector<float> expected = gathered<float>(file, ids_from(0, 100));
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) {
    threads.emplace_back([&file, &result] { result = gathered<float>(file, ids_from(0, 100)); });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, expected);
}

/// A line like "VmHWM:     1234 kB" of /proc/self/status, in bytes.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  }
  return -1;
}

constexpr std::int64_t kMemoryBound = std::int64_t{32} << 20;

/// Runs in a child process, so that its high-water mark is its own. 0: the bound holds.
int measure_memory(const std::filesystem::path& path, std::int64_t samples) {
  const std::int64_t before = status_bytes("VmRSS");
  const FileDataset file(path, {});
  if (file.size() != samples) return 2;
  std::vector<float> x(static_cast<std::size_t>(file.features() * 64));
  for (std::int64_t i = 0; i < 200; ++i) {
    const std::int64_t first = i * (samples - 64) / 199;  // from the first sample to the last
    file.gather(ids_from(first, 64), dense_matrix(x.data(), file.features(), 64));
  }
  const std::int64_t peak = status_bytes("VmHWM");
  return before > 0 && peak > 0 && peak - before < kMemoryBound ? 0 : 3;
}

TEST(FileDataset, NeedsLittleMemoryForAHugeFile) {
  const TemporaryFolder folder;
  const std::int64_t samples = 5'000'000, features = 784;  // 15.7 GB of float32, all of it a hole
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (5000000, 784), }";
  header.resize(118, ' ');
  Bytes head = to_bytes({"\x93NUMPY\x01\0\x76\0", 10});
  head = joined(head, to_bytes(header));
  write_file(folder / "huge.npy", head);
  std::error_code error;
  std::filesystem::resize_file(folder / "huge.npy", static_cast<std::uintmax_t>(128 + samples * features * 4), error);
  if (error) GTEST_SKIP() << "no sparse file of 16 GB can be made here: " << error.message();
  if (status_bytes("VmHWM") < 0) GTEST_SKIP() << "this system has no /proc/self/status with VmHWM";
  const ::pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(measure_memory(folder / "huge.npy", samples));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "more than 32 MB were used, or the file was not read";
}

}  // namespace
}  // namespace lockstep
