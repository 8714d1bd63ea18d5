#include "lockstep/data/pairs.hpp"

#include <array>
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
  if (!request.weights.empty() && !request.evaluation) pair.weights = reader.read(request.weights);
  return pair;
}

ArrayPair read_mat_pair(const PairRequest& request) {
  const std::vector<std::byte> bytes = read_data_file(request.path);
  const Mat5Reader reader(bytes, request.path);
  return read_archive(reader, request, choose_key(reader, request.x_key, {"X"}),
                      choose_key(reader, request.y_key, {"y"}));
}

ArrayPair read_npz_pair(const PairRequest& request) {
  const std::vector<std::byte> bytes = read_data_file(request.path);
  const NpzReader reader(bytes, request.path);
  if (request.test)
    return read_archive(reader, request, choose_key(reader, request.x_key, {"x_test", "x_train", "x", "X"}),
                        choose_key(reader, request.y_key, {"y_test", "y_train", "y"}));
  return read_archive(reader, request, choose_key(reader, request.x_key, {"x_train", "x", "X"}),
                      choose_key(reader, request.y_key, {"y_train", "y"}));
}

/// Takes the column of the weights out of the table. Nothing where there are to be none, or where an evaluation, which
/// does not use them, meets a table without the column.
std::optional<Array> take_weights(const PairRequest& request, CsvTable& table) {
  if (request.weights.empty()) return std::nullopt;
  const std::int64_t width = table.values.dims[1];
  std::int64_t column = -1;
  try {
    column = find_column(table.columns, width, request.weights, request.path);
  } catch (const Error&) {
    if (request.evaluation) return std::nullopt;
    throw Error(ExitCode::usage, fmt::format("data.weights: {} has no column \"{}\" among {}", request.path,
                                             printable(request.weights), width));
  }
  if (column == table.label.column)
    throw Error(
        ExitCode::usage,
        fmt::format("data.weights: {} of {} would be the label too; say in data.label_column which is the label",
                    column_name(table.columns, column), request.path));
  CsvParts parts = take_column(table, column);
  table.values = std::move(parts.features);
  if (!table.columns.empty()) table.columns.erase(table.columns.begin() + column);
  if (table.label.column > column) --table.label.column;
  return std::move(parts.column);
}

ArrayPair read_csv_pair(const PairRequest& request) {
  CsvTable table =
      read_csv(request.path, {.header = request.header, .label = request.label_column, .classes = !request.regression});
  std::optional<Array> weights = take_weights(request, table);
  const std::int64_t label = table.label.column;
  TableColumns columns{std::move(table.columns), std::move(table.label)};
  if (label < 0)
    return {std::move(table.values), std::nullopt,      request.path, request.path, {},
            std::move(columns),      std::move(weights)};
  if (table.values.dims[1] < 2) bad_pair(request.path, "a single column cannot hold features and a label");
  const std::string y_name = fmt::format("{}: {}", request.path, column_name(columns.names, label));
  CsvParts parts = take_column(table, label);
  return {std::move(parts.features), std::move(parts.column), request.path, y_name, "label_column",
          std::move(columns),        std::move(weights)};
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
  constexpr std::array<std::pair<std::string_view, FileFormat>, 5> kEndings{{{".mat", FileFormat::mat},
                                                                             {".npz", FileFormat::npz},
                                                                             {".npy", FileFormat::npy},
                                                                             {".csv", FileFormat::csv},
                                                                             {".tsv", FileFormat::csv}}};
  for (const auto& [known, format] : kEndings) {
    if (ending == known) return format;
  }
  const File file(path);
  std::array<std::byte, 2> head{};
  if (file.size() >= 4) file.read_at(0, head);
  const bool idx = head[0] == std::byte{0} && head[1] == std::byte{0} && file.size() >= 4;
  if (idx || is_gzip(head)) return FileFormat::idx;
  bad_pair(path, "unknown kind of data file, expected .mat, .npz, .npy, .csv, IDX (.gz) or a folder of PNG images");
}

ArrayPair read_pair(const PairRequest& request) {
  switch (format_of(request.path)) {
    case FileFormat::mat:
      return read_mat_pair(request);
    case FileFormat::npz:
      return read_npz_pair(request);
    case FileFormat::csv:
      return read_csv_pair(request);
    case FileFormat::npy:
      return {read_npy(request.path), read_labels(request), request.path, request.labels, "labels",
              std::nullopt,           read_weights(request)};
    case FileFormat::idx:
      return {read_idx(request.path), read_labels(request), request.path, labels_path(request), "labels",
              std::nullopt,           read_weights(request)};
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

std::optional<Array> read_weights(const PairRequest& request) {
  if (request.weights.empty() || request.evaluation) return std::nullopt;
  return read_label_file(request.weights);
}

bool has_default_test(const std::string& npz_path) {
  const std::vector<std::byte> bytes = read_data_file(npz_path);
  const NpzReader reader(bytes, npz_path);
  return reader.contains("x_test") && reader.contains("y_test");
}

}  // namespace lockstep
