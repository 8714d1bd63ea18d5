#include "cli/commands/inspect_data.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/cifar.hpp"
#include "lockstep/data/formats/csv.hpp"
#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/image.hpp"
#include "lockstep/data/formats/image_folder.hpp"
#include "lockstep/data/formats/jpeg.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/formats/ts.hpp"
#include "lockstep/data/pairs.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace {

constexpr std::int64_t kWholeFile = std::int64_t{1} << 30;

/// The smallest and largest finite number, and how many are not finite.
struct Range {
  double min = INFINITY, max = -INFINITY;
  std::int64_t not_finite = 0;

  void add(double value) {
    if (!std::isfinite(value))
      ++not_finite;
    else
      min = std::min(min, value), max = std::max(max, value);
  }
  std::string text() const {
    const std::string bad = not_finite > 0 ? fmt::format(", {} not finite", with_commas(not_finite)) : "";
    return min > max ? fmt::format("-{}", bad) : fmt::format("{:.6g} to {:.6g}{}", min, max, bad);
  }
  void put(Json& json) const {
    if (min <= max) json["min"] = min, json["max"] = max;
    if (not_finite > 0) json["not_finite"] = not_finite;
  }
};

Range range_of(const Array& array) {
  Range range;
  for (std::int64_t i = 0; i < array.elements(); ++i) range.add(array.value(i));
  return range;
}

std::string shape_text(const std::vector<std::int64_t>& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

/// Collects the arrays of a file.
class Arrays {
 public:
  explicit Arrays(std::string format) : format_(std::move(format)), table_("llll") {
    table_.row({"array", "type", "shape", "range"});
  }
  void add(const std::string& name, std::string_view type, const std::vector<std::int64_t>& dims,
           const std::optional<Range>& range, std::string_view remark = "") {
    table_.row({one_line(name), std::string(type), shape_text(dims), range ? range->text() : std::string(remark)});
    Json entry = {{"name", name}, {"type", type}, {"shape", dims}};
    if (range) range->put(entry);
    list_.push_back(std::move(entry));
  }
  void add(const NamedArray& named) {
    add(named.name, to_string(named.array.type), named.array.dims, range_of(named.array));
  }
  Inspection finish() const {
    return {fmt::format("{}\n\n{}", format_, table_.str()), Json{{"format", format_}, {"arrays", list_}}};
  }

 private:
  std::string format_;
  TextTable table_;
  Json list_ = Json::array();
};

Inspection inspect_mat(const std::string& path) {
  const std::vector<std::byte> bytes = read_data_file(path);
  const Mat5Reader reader(bytes, path);
  Arrays arrays("MATLAB level 5 file");
  for (const Mat5Entry& entry : reader.entries()) {
    if (entry.readable)
      arrays.add({entry.name, reader.read(entry)});
    else
      arrays.add(entry.name, entry.kind, entry.dims, std::nullopt, "not read");
  }
  return arrays.finish();
}

/// .npy and plain IDX: a file too large for memory is described by its header.
Inspection inspect_array(const std::string& path, FileFormat format) {
  const bool npy = format == FileFormat::npy;
  Arrays arrays(npy ? "NumPy array" : "IDX file");
  const File file(path);
  if (file.size() <= kWholeFile) {
    arrays.add({"-", npy ? read_npy(path) : read_idx(path)});
    return arrays.finish();
  }
  std::vector<std::byte> head(static_cast<std::size_t>(kNpyHeaderLimit));
  file.read_at(0, head);
  const ArrayHeader header = npy ? parse_npy_header(head, path) : parse_idx_header(head, path);
  arrays.add("-", to_string(header.type), header.dims, std::nullopt, "large: not read");
  return arrays.finish();
}

/// An array of numbers, of words, or one that is not read: objects of Python, for example.
void add_member(Arrays& arrays, const NpzReader& reader, const std::string& key) {
  try {
    if (const auto text = reader.read_text(key)) {
      std::set<std::string_view> words(text->words.begin(), text->words.end());
      arrays.add(key, "words", text->dims, std::nullopt,
                 printable_list(std::vector<std::string_view>(words.begin(), words.end())));
      return;
    }
    arrays.add({key, reader.read(key)});
  } catch (const Error& error) {
    if (std::string_view(error.what()).find("unsupported element type") == std::string_view::npos) throw;
    arrays.add(key, "objects", {}, std::nullopt, "not read");
  }
}

Inspection inspect_npz(const std::string& path) {
  Arrays arrays("NumPy archive");
  const std::vector<std::byte> bytes = read_data_file(path);
  const NpzReader reader(bytes, path);
  for (const std::string& key : reader.keys()) add_member(arrays, reader, key);
  return arrays.finish();
}

Inspection inspect_csv(const std::string& path) {
  const CsvTable table = read_csv(path);
  const std::int64_t lines = table.values.dims[0], columns = table.values.dims[1];
  TextTable text("lllr");
  text.row({"column", "name", "range", "missing"});
  Json list = Json::array();
  for (std::int64_t c = 0; c < columns; ++c) {
    const CsvColumn& cells = table.columns[static_cast<std::size_t>(c)];
    Range range;
    for (std::int64_t r = 0; r < lines; ++r)
      if (const double value = table.values.value(r * columns + c); !std::isnan(value)) range.add(value);
    const std::string name = table.names.empty() ? "" : table.names[static_cast<std::size_t>(c)];
    const std::vector<std::string_view> words(cells.words.begin(), cells.words.end());
    text.row({std::to_string(c), one_line(name),
              words.empty() ? range.text()
                            : fmt::format("{}: {}", count_of(std::ssize(words), "word"), printable_list(words)),
              cells.missing > 0 ? with_commas(cells.missing) : ""});
    Json entry = {{"name", name}};
    if (words.empty())
      range.put(entry);
    else
      entry["words"] = cells.words;
    if (cells.missing > 0) entry["missing"] = cells.missing;
    list.push_back(std::move(entry));
  }
  return {fmt::format("CSV table: {} lines, {} columns{}\n\n{}", with_commas(lines), columns,
                      table.names.empty() ? "" : ", with a header", text.str()),
          Json{{"format", "CSV table"}, {"lines", lines}, {"columns", list}}};
}

Inspection inspect_ts(const std::string& path) {
  const TsFile file = read_ts(path);
  const std::int64_t longest = file.values.dims[2];
  const std::int64_t shortest = file.lengths.empty() ? longest : *std::ranges::min_element(file.lengths);
  Arrays arrays(fmt::format("time series: {} sequences of {} dimensions, {} to {} steps{}",
                            with_commas(file.values.dims[0]), file.values.dims[1], shortest, longest,
                            file.class_names.empty() ? "" : fmt::format(", {} classes", file.class_names.size())));
  arrays.add({"values", file.values});
  if (file.targets) arrays.add({file.class_names.empty() ? "targets" : "classes", *file.targets});
  return arrays.finish();
}

Inspection inspect_image(const std::string& path) {
  const std::vector<std::byte> bytes = read_data_file(path);
  Arrays arrays(is_jpeg(bytes) ? "JPEG image" : "PNG image");
  arrays.add({"pixels", parse_image(bytes, path)});
  return arrays.finish();
}

Inspection inspect_cifar(const std::string& path) {
  const Cifar cifar = read_cifar(path);
  Arrays arrays(fmt::format("CIFAR-{}", cifar.train.targets.classes));
  arrays.add({"train", cifar.train.features});
  if (!cifar.test.features.bytes.empty()) arrays.add({"test", cifar.test.features});
  return arrays.finish();
}

Inspection inspect_folder(const std::string& path) {
  // Pictures of several sizes are only counted: any size will do to bring them together.
  const ImageFolder folder = read_image_folder(path, {.resize = 32});
  std::vector<std::int64_t> counts(folder.class_names.size(), 0);
  for (const std::int32_t label : folder.samples.targets.labels) ++counts[static_cast<std::size_t>(label)];
  TextTable table("rlr");
  table.row({"class", "folder", "images"});
  Json classes = Json::array();
  for (std::size_t k = 0; k < counts.size(); ++k) {
    table.row({std::to_string(k), one_line(folder.class_names[k]), with_commas(counts[k])});
    classes.push_back({{"name", folder.class_names[k]}, {"images", counts[k]}});
  }
  return {fmt::format("folder of {} images {}\n\n{}", with_commas(folder.samples.features.dims[0]),
                      folder.resized ? "of several sizes, for data.resize" : folder.samples.shape.str(), table.str()),
          Json{{"format", "image folder"}, {"shape", folder.samples.shape.extents()}, {"classes", classes}}};
}

}  // namespace

Inspection inspect_data(const std::string& path) {
  if (is_image_name(path)) return inspect_image(path);
  switch (const FileFormat format = format_of(path)) {
    case FileFormat::mat:
      return inspect_mat(path);
    case FileFormat::npz:
      return inspect_npz(path);
    case FileFormat::csv:
      return inspect_csv(path);
    case FileFormat::ts:
      return inspect_ts(path);
    case FileFormat::folder:
      return inspect_folder(path);
    case FileFormat::cifar:
      return inspect_cifar(path);
    case FileFormat::npy:
    case FileFormat::idx:
      return inspect_array(path, format);
  }
  throw Error(ErrorCode::bug, "inspect: unknown format");
}

}  // namespace lockstep::cli
