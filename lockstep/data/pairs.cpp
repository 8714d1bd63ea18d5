#include "lockstep/data/pairs.hpp"

#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/csv.hpp"
#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/formats/ts.hpp"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kNone = "none";

[[noreturn]] void bad_pair(std::string_view path, std::string_view what) {
  throw Error(ExitCode::data, fmt::format("{}: {}", path, what));
}

/// The given key, or the first of the candidates that is there, or the first one (reading it names what is there).
template <class Reader>
std::string choose_key(const Reader& reader, const std::string& given, std::initializer_list<const char*> candidates) {
  if (!given.empty()) return given;
  for (const char* candidate : candidates) {
    if (reader.contains(candidate)) return candidate;
  }
  return *candidates.begin();
}

template <class Reader>
ArrayPair read_archive(const Reader& reader, const PairRequest& request, const std::string& x_key,
                       const std::string& y_key) {
  ArrayPair pair{reader.read(x_key),
                 std::nullopt,
                 fmt::format("{}({})", request.path, x_key),
                 fmt::format("{}({})", request.path, y_key),
                 "y_key",
                 std::nullopt};
  if (y_key != kNone) pair.y = reader.read(y_key);
  return pair;
}

ArrayPair read_mat_pair(const PairRequest& request) {
  const std::vector<std::byte> bytes = read_data_file(request.path);
  const Mat5Reader reader(bytes, request.path);
  return read_archive(reader, request, choose_key(reader, request.x_key, {"X"}),
                      choose_key(reader, request.y_key, {"y"}));
}

/// The array `lengths` beside `x`, `lengths_train` beside `x_train`, `lengths_test` beside `x_test`: whole numbers, one
/// per sample. What they may be is checked where the samples are (memory_dataset.cpp).
std::vector<std::int64_t> read_lengths(const NpzReader& reader, const std::string& x_key, const std::string& path) {
  const std::size_t part = x_key.find('_');
  const std::string key = part == std::string::npos ? "lengths" : "lengths" + x_key.substr(part);
  const bool others = reader.contains("lengths") || reader.contains("lengths_train") || reader.contains("lengths_test");
  if (!reader.contains(key)) {
    if (others) bad_pair(path, fmt::format("it holds lengths, but no array {} for {}", key, x_key));
    return {};
  }
  const Array array = reader.read(key);
  if (array.rank() != 1) bad_pair(path, fmt::format("{} is {}, expected one number per sample", key, array.describe()));
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const double value = array.value(i);
    if (!(value >= 0 && value <= 1 << 24) || value != std::floor(value))
      bad_pair(path, fmt::format("{}: sample {}: {} is no number of steps", key, i, value));
    lengths.push_back(static_cast<std::int64_t>(value));
  }
  return lengths;
}

ArrayPair read_npz_pair(const PairRequest& request) {
  const std::vector<std::byte> bytes = read_data_file(request.path);
  const NpzReader reader(bytes, request.path);
  const std::string x_key = request.test ? choose_key(reader, request.x_key, {"x_test", "x_train", "x", "X"})
                                         : choose_key(reader, request.x_key, {"x_train", "x", "X"});
  const std::string y_key = request.test ? choose_key(reader, request.y_key, {"y_test", "y_train", "y"})
                                         : choose_key(reader, request.y_key, {"y_train", "y"});
  ArrayPair pair = read_archive(reader, request, x_key, y_key);
  pair.lengths = read_lengths(reader, x_key, request.path);
  return pair;
}

ArrayPair read_ts_pair(const PairRequest& request) {
  TsFile file = read_ts(request.path);
  if (request.regression && !file.class_names.empty())
    bad_pair(request.path, "its sequences have classes, not the targets of data.regression");
  if (!request.regression && file.targets && file.class_names.empty())
    bad_pair(request.path, "its targets are real numbers; set data.regression = true");
  ArrayPair pair{std::move(file.values), std::nullopt, request.path, request.path, "y_key", std::nullopt};
  if (request.y_key != kNone) pair.y = std::move(file.targets);
  pair.sequences = true;
  pair.lengths = std::move(file.lengths);
  pair.class_names = std::move(file.class_names);
  return pair;
}

ArrayPair read_csv_pair(const PairRequest& request) {
  CsvTable table =
      read_csv(request.path, {.header = request.header, .label = request.label_column, .classes = !request.regression});
  const std::int64_t label = table.label.column;
  TableColumns columns{std::move(table.columns), std::move(table.label)};
  if (label < 0) return {std::move(table.values), std::nullopt, request.path, request.path, {}, std::move(columns)};
  if (table.values.dims[1] < 2) bad_pair(request.path, "a single column cannot hold features and a label");
  const std::string y_name = fmt::format("{}: {}", request.path, column_name(columns.names, label));
  CsvParts parts = take_column(table, label);
  return {std::move(parts.features), std::move(parts.column), request.path, y_name, "label_column", std::move(columns)};
}

/// train-images-idx3-ubyte.gz -> train-labels-idx1-ubyte.gz, if that file exists.
std::string sibling_labels(const std::string& images) {
  constexpr std::string_view kImages = "images-idx3", kLabels = "labels-idx1";
  const std::size_t at = images.rfind(kImages);
  if (at == std::string::npos) return {};
  std::string labels = images;
  labels.replace(at, kImages.size(), kLabels);
  std::error_code ignored;
  return fs::is_regular_file(labels, ignored) ? labels : std::string{};
}

std::string labels_path(const PairRequest& request) {
  if (!request.labels.empty()) return request.labels;
  std::string sibling = sibling_labels(request.path);
  if (!sibling.empty()) return sibling;
  throw Error(ExitCode::usage,
              fmt::format("data: {} holds no labels; name their file in data.labels, or \"none\"", request.path));
}

Array read_label_file(const std::string& path) {
  switch (format_of(path)) {
    case FileFormat::npy:
      return read_npy(path);
    case FileFormat::idx:
      return read_idx(path);
    case FileFormat::csv: {
      CsvTable table = read_csv(path);
      if (table.values.dims[1] != 1) bad_pair(path, "a file of labels has one column");
      return std::move(table.values);
    }
    default:
      bad_pair(path, "labels are read from .npy, IDX or one-column .csv files");
  }
}

}  // namespace

FileFormat format_of(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return FileFormat::folder;
  const std::string ending = lower_case(fs::path(path).extension().string());
  constexpr std::array<std::pair<std::string_view, FileFormat>, 6> kEndings{{{".mat", FileFormat::mat},
                                                                             {".npz", FileFormat::npz},
                                                                             {".npy", FileFormat::npy},
                                                                             {".csv", FileFormat::csv},
                                                                             {".tsv", FileFormat::csv},
                                                                             {".ts", FileFormat::ts}}};
  for (const auto& [known, format] : kEndings) {
    if (ending == known) return format;
  }
  const File file(path);
  std::array<std::byte, 2> head{};
  if (file.size() >= 4) file.read_at(0, head);
  const bool idx = head[0] == std::byte{0} && head[1] == std::byte{0} && file.size() >= 4;
  if (idx || is_gzip(head)) return FileFormat::idx;
  bad_pair(path,
           "unknown kind of data file, expected .mat, .npz, .npy, .csv, .ts, IDX (.gz) or a folder of PNG images");
}

ArrayPair read_pair(const PairRequest& request) {
  switch (format_of(request.path)) {
    case FileFormat::mat:
      return read_mat_pair(request);
    case FileFormat::npz:
      return read_npz_pair(request);
    case FileFormat::csv:
      return read_csv_pair(request);
    case FileFormat::ts:
      return read_ts_pair(request);
    case FileFormat::npy:
      return {read_npy(request.path), read_labels(request), request.path, request.labels, "labels", std::nullopt};
    case FileFormat::idx:
      return {read_idx(request.path), read_labels(request), request.path, labels_path(request), "labels", std::nullopt};
    case FileFormat::folder:
      break;
  }
  throw Error(ExitCode::bug, fmt::format("{}: a folder is not a pair of arrays", request.path));
}

std::optional<Array> read_labels(const PairRequest& request) {
  const std::string path = labels_path(request);
  if (path == kNone) return std::nullopt;
  return read_label_file(path);
}

bool has_default_test(const std::string& npz_path) {
  const std::vector<std::byte> bytes = read_data_file(npz_path);
  const NpzReader reader(bytes, npz_path);
  return reader.contains("x_test") && reader.contains("y_test");
}

}  // namespace lockstep
