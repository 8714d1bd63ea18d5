#include "lockstep/data/formats/cifar.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kPixelBytes = 3072, kMostTen = 10, kMostHundred = 100;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

void append_samples(Samples& all, Samples more, const fs::path& path) {
  if (all.features.bytes.empty()) {
    all = std::move(more);
    return;
  }
  if (all.targets.classes != more.targets.classes)
    throw Error(ErrorCode::data, fmt::format("{}: has {} classes, the file before it {}", path.string(),
                                             more.targets.classes, all.targets.classes));
  all.features.dims[0] += more.features.dims[0];
  all.features.bytes.insert(all.features.bytes.end(), more.features.bytes.begin(), more.features.bytes.end());
  all.targets.labels.insert(all.targets.labels.end(), more.targets.labels.begin(), more.targets.labels.end());
}

Samples read_records(const fs::path& path) { return parse_cifar(read_data_file(path), path.string()); }

/// The lines of a file that are not empty.
std::vector<std::string> lines_of(const fs::path& path) {
  const std::vector<std::byte> bytes = read_data_file(path);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const std::string_view line = trimmed(text.substr(0, end)); !line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Samples parse_cifar(std::span<const std::byte> bytes, std::string_view name) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  const bool ten = size > 0 && size % (kPixelBytes + 1) == 0, hundred = size > 0 && size % (kPixelBytes + 2) == 0;
  if (!ten && !hundred)
    throw Error(ErrorCode::data,
                fmt::format("{}: {} bytes are no records of 3073 (CIFAR-10) or 3074 bytes (CIFAR-100)", name, size));
  const std::int64_t labels = ten ? 1 : 2, record = kPixelBytes + labels, count = size / record;
  Samples samples;
  samples.shape = {3, 32, 32};
  samples.features = make_array(ElementType::uint8, {count, 3, 32, 32});
  samples.targets.classes = ten ? kMostTen : kMostHundred;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto one = bytes.subspan(static_cast<std::size_t>(i * record), static_cast<std::size_t>(record));
    const auto label = std::to_integer<std::int32_t>(one[static_cast<std::size_t>(labels - 1)]);
    if (label >= samples.targets.classes)
      fail_data(name, i * record + labels - 1,
                fmt::format("label {}, but CIFAR-{} has classes 0 to {}", label, samples.targets.classes,
                            samples.targets.classes - 1));
    samples.targets.labels.push_back(label);
    std::copy(one.begin() + labels, one.end(), samples.features.bytes.begin() + i * kPixelBytes);
  }
  return samples;
}

bool is_cifar(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return lower_case(path.extension().string()) == ".bin";
  return is_file(path / "data_batch_1.bin") || (is_file(path / "train.bin") && is_file(path / "test.bin"));
}

Cifar read_cifar(const fs::path& path) {
  Cifar cifar;
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    cifar.train = read_records(path);
    return cifar;
  }
  if (is_file(path / "train.bin")) {
    cifar.train = read_records(path / "train.bin");
    cifar.test = read_records(path / "test.bin");
  } else {
    for (int batch = 1; is_file(path / fmt::format("data_batch_{}.bin", batch)); ++batch) {
      const fs::path file = path / fmt::format("data_batch_{}.bin", batch);
      append_samples(cifar.train, read_records(file), file);
    }
    if (is_file(path / "test_batch.bin")) cifar.test = read_records(path / "test_batch.bin");
  }
  for (const char* names : {"batches.meta.txt", "fine_label_names.txt"})
    if (is_file(path / names)) cifar.class_names = lines_of(path / names);
  if (static_cast<std::int64_t>(cifar.class_names.size()) != cifar.train.targets.classes) cifar.class_names.clear();
  return cifar;
}

}  // namespace lockstep
