#include "lockstep/data/pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/cifar.hpp"
#include "lockstep/data/formats/csv.hpp"
#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/image_folder.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/formats/ts.hpp"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kNone = "none";

[[noreturn]] void bad_pair(std::string_view path, std::string_view what) {
  throw Error(ErrorCode::data, fmt::format("{}: {}", path, what));
}

/// Words as indices of the different ones, which are sorted.
LabelArray labels_of_words(const NpyText& text) {
  LabelArray labels;
  labels.names = text.words;
  sort_words(labels.names);
  labels.names.erase(std::unique(labels.names.begin(), labels.names.end()), labels.names.end());
  std::map<std::string_view, std::int32_t> indices;
  for (const std::string& name : labels.names) indices.emplace(name, static_cast<std::int32_t>(indices.size()));
  labels.y = make_array(ElementType::int32, text.dims);
  const auto y = labels.y->as<std::int32_t>();
  for (std::size_t i = 0; i < text.words.size(); ++i) y[i] = indices.at(text.words[i]);
  return labels;
}

/// The given key, or the first of the candidates that is there; nothing: none is.
template <class Reader>
std::optional<std::string> choose_key(const Reader& reader, const std::string& given,
                                      std::initializer_list<const char*> candidates) {
  if (!given.empty()) return given;
  for (const char* candidate : candidates)
    if (reader.contains(candidate)) return candidate;
  return std::nullopt;
}

/// The key must be there: the error says which ones are, and which setting names another.
template <class Reader>
std::string require_key(const Reader& reader, const std::string& path, std::optional<std::string> key,
                        std::initializer_list<const char*> candidates, const char* setting) {
  if (key && (*key == kNone || reader.contains(*key))) return *key;
  const std::vector<std::string> keys = reader.keys();
  const std::vector<std::string_view> names(keys.begin(), keys.end());
  bad_pair(path, fmt::format(
                     "no array \"{}\"{}; there are: {}; data.{} names it", printable(key.value_or(*candidates.begin())),
                     key ? ""
                         : fmt::format(" (nor {})",
                                       fmt::join(std::span(candidates.begin(), candidates.size()).subspan(1), ", ")),
                     printable_list(names), setting));
}

/// The array of the samples' weights; nothing where there is to be none.
template <class Reader>
std::optional<Array> weights_in(const Reader& reader, const PairRequest& request) {
  if (request.weights.empty()) return std::nullopt;
  return reader.read(request.weights);
}

ArrayPair read_mat_pair(const PairRequest& request) {
  const std::vector<std::byte> bytes = read_data_file(request.path);
  const Mat5Reader reader(bytes, request.path);
  const std::string x_key = choose_key(reader, request.x_key, {"X", "x"}).value_or("X");
  std::string y = choose_key(reader, request.y_key, {"y", "Y"}).value_or("y");
  if (request.predicting && !reader.contains(y)) y = kNone;
  ArrayPair pair{reader.read(x_key), std::nullopt, fmt::format("{}({})", request.path, x_key),
                 fmt::format("{}({})", request.path, y), "y_key"};
  if (y != kNone) pair.y = reader.read(y);
  pair.weights = weights_in(reader, request);
  return pair;
}

/// The names of the classes, as scikit-learn calls them, where they are words.
std::vector<std::string> class_names_in(const NpzReader& reader) {
  for (const char* key : {"target_names", "class_names"})
    if (reader.contains(key))
      if (auto text = reader.read_text(key)) return std::move(text->words);
  return {};
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

/// The arrays of a .npz file that a request means.
struct NpzKeys {
  std::string x, y;  // y may be "none"
};

NpzKeys npz_keys(const NpzReader& reader, const PairRequest& request) {
  const auto train_x = {"x_train", "X_train", "x", "X", "data", "images"};
  const auto train_y = {"y_train", "Y_train", "y", "Y", "target", "labels", "label"};
  const auto test_x = {"x_test", "X_test", "x_train", "X_train", "x", "X", "data", "images"};
  const auto test_y = {"y_test", "Y_test", "y_train", "Y_train", "y", "Y", "target", "labels", "label"};
  const auto& x_keys = request.test ? std::initializer_list<const char*>(test_x) : train_x;
  const auto& y_keys = request.test ? std::initializer_list<const char*>(test_y) : train_y;
  NpzKeys keys;
  keys.x = require_key(reader, request.path, choose_key(reader, request.x_key, x_keys), x_keys, "x_key");
  std::optional<std::string> y_key = choose_key(reader, request.y_key, y_keys);
  if (request.predicting && (!y_key || !reader.contains(*y_key))) y_key = kNone;
  keys.y = require_key(reader, request.path, y_key, y_keys, "y_key");
  return keys;
}

LabelArray npz_labels(const NpzReader& reader, const std::string& key) {
  if (key == kNone) return {};
  if (const auto text = reader.read_text(key)) return labels_of_words(*text);
  return {reader.read(key), {}};
}

ArrayPair read_npz_pair(const PairRequest& request) {
  const NpzReader reader{std::filesystem::path(request.path)};
  const NpzKeys keys = npz_keys(reader, request);
  ArrayPair pair{reader.read(keys.x), std::nullopt, fmt::format("{}({})", request.path, keys.x),
                 fmt::format("{}({})", request.path, keys.y), "y_key"};
  pair.weights = weights_in(reader, request);
  pair.lengths = read_lengths(reader, keys.x, request.path);
  LabelArray labels = npz_labels(reader, keys.y);
  if (labels.y && labels.names.empty()) pair.class_names = class_names_in(reader);
  pair.y = std::move(labels.y);
  pair.y_names = std::move(labels.names);
  return pair;
}

ArrayPair read_ts_pair(const PairRequest& request) {
  TsFile file = read_ts(request.path);
  if (request.regression && !file.class_names.empty())
    bad_pair(request.path, "its sequences have classes, not the targets of data.regression");
  if (!request.regression && !request.predicting && file.targets && file.class_names.empty())
    bad_pair(request.path, "its targets are real numbers; set data.regression = true");
  ArrayPair pair{std::move(file.values), std::nullopt, request.path, request.path, "y_key"};
  if (request.y_key != kNone) pair.y = std::move(file.targets);
  pair.y_names = std::move(file.class_names);
  pair.sequences = true;
  pair.lengths = std::move(file.lengths);
  return pair;
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
  if (request.predicting) return std::string(kNone);
  throw Error(ErrorCode::usage,
              fmt::format("data: {} holds no labels; name their file in data.labels, or \"none\"", request.path));
}

LabelArray read_label_file(const std::string& path) {
  switch (format_of(path)) {
    case FileFormat::npy: {
      const std::vector<std::byte> bytes = read_data_file(path);
      if (const auto text = parse_npy_text(bytes, path)) return labels_of_words(*text);
      return {parse_npy(bytes, path), {}};
    }
    case FileFormat::idx:
      return {read_idx(path), {}};
    case FileFormat::csv: {
      CsvTable table = read_csv(path);
      if (table.values.dims[1] != 1) bad_pair(path, "a file of labels has one column");
      if (const CsvColumn& labels = table.columns[0]; labels.missing > 0)
        bad_pair(path, fmt::format("line {}: the label is missing", labels.first_missing.line));
      return {std::move(table.values), std::move(table.columns[0].words)};
    }
    default:
      bad_pair(path, "labels are read from .npy, IDX or one-column .csv files");
  }
}

/// Tables of other programs, and the function of pandas that reads them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kForeignTables = {{{".parquet", "read_parquet"},
                                                                                          {".feather", "read_feather"},
                                                                                          {".xlsx", "read_excel"},
                                                                                          {".xls", "read_excel"},
                                                                                          {".json", "read_json"}}};

}  // namespace

FileFormat format_of(const std::string& path) {
  if (path == "-") return FileFormat::csv;  // standard input
  std::error_code ignored;
  if (is_cifar(path)) return FileFormat::cifar;
  if (fs::is_directory(path, ignored) || is_image_archive(path)) return FileFormat::folder;
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
  for (const auto& [foreign, reader] : kForeignTables) {
    if (ending == foreign)
      bad_pair(path, fmt::format("{} files are not read; save it as CSV, with pandas: "
                                 "pandas.{}(\"{}\").to_csv(\"{}.csv\", index=False)",
                                 foreign, reader, printable(fs::path(path).filename().string()),
                                 printable(fs::path(path).stem().string())));
  }
  const File file(path);
  std::array<std::byte, 2> head{};
  if (file.size() >= 4) file.read_at(0, head);
  const bool idx = head[0] == std::byte{0} && head[1] == std::byte{0} && file.size() >= 4;
  if (idx || is_gzip(head)) return FileFormat::idx;
  bad_pair(
      path,
      "unknown kind of data file, expected .mat, .npz, .npy, .csv, .ts, IDX (.gz), CIFAR (.bin), or a folder, .zip or "
      ".tar of pictures");
}

ArrayPair read_pair(const PairRequest& request) {
  switch (format_of(request.path)) {
    case FileFormat::mat:
      return read_mat_pair(request);
    case FileFormat::npz:
      return read_npz_pair(request);
    case FileFormat::ts:
      return read_ts_pair(request);
    case FileFormat::npy:
    case FileFormat::idx: {
      const std::string labels = labels_path(request);
      LabelArray y = read_labels(request);
      return {format_of(request.path) == FileFormat::npy ? read_npy(request.path) : read_idx(request.path),
              std::move(y.y),
              request.path,
              labels,
              "labels",
              std::move(y.names),
              {},
              read_weights(request)};
    }
    case FileFormat::csv:
    case FileFormat::cifar:
    case FileFormat::folder:
      break;
  }
  throw Error(ErrorCode::bug, fmt::format("{}: tables and folders are no pairs of arrays", request.path));
}

LabelArray read_labels(const PairRequest& request) {
  const std::string path = labels_path(request);
  if (path == kNone) return {};
  return read_label_file(path);
}

std::optional<Array> read_weights(const PairRequest& request) {
  if (request.weights.empty()) return std::nullopt;
  LabelArray weights = read_label_file(request.weights);
  if (!weights.names.empty()) bad_pair(request.weights, "weights are numbers");
  return std::move(weights.y);
}

StreamedPair open_npz_stream(const PairRequest& request) {
  const NpzReader reader{std::filesystem::path(request.path)};
  const NpzKeys keys = npz_keys(reader, request);
  const ZipEntry& x = reader.find_stored(keys.x);
  if (!read_lengths(reader, keys.x, request.path).empty())
    bad_pair(request.path, "sequences of different lengths cannot be read by slices; leave out data.stream");
  StreamedPair pair{.x = {x.data_offset, x.size, fmt::format("{}({})", request.path, keys.x)},
                    .labels = npz_labels(reader, keys.y),
                    .y_name = fmt::format("{}({})", request.path, keys.y),
                    .weights = weights_in(reader, request)};
  if (pair.labels.y && pair.labels.names.empty()) pair.class_names = class_names_in(reader);
  return pair;
}

bool has_default_test(const std::string& npz_path) {
  const NpzReader reader{std::filesystem::path(npz_path)};
  return (reader.contains("x_test") && reader.contains("y_test")) ||
         (reader.contains("X_test") && (reader.contains("y_test") || reader.contains("Y_test")));
}

}  // namespace lockstep
