#include "cli/commands/inspect_data.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/csv.hpp"
#include "lockstep/data/formats/idx.hpp"
#include "lockstep/data/formats/image_folder.hpp"
#include "lockstep/data/formats/mat5.hpp"
#include "lockstep/data/formats/npy.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/formats/png.hpp"
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

Inspection inspect_npz(const std::string& path) {
  Arrays arrays("NumPy archive");
  for (const NamedArray& named : read_npz(path)) arrays.add(named);
  return arrays.finish();
}

Inspection inspect_csv(const std::string& path) {
  const CsvTable table = read_csv(path);
  const std::int64_t lines = table.values.dims[0], columns = table.values.dims[1];
  TextTable text("llr");
  text.row({"column", "name", "range"});
  Json list = Json::array();
  for (std::int64_t c = 0; c < columns; ++c) {
    Range range;
    for (std::int64_t r = 0; r < lines; ++r) range.add(table.values.value(r * columns + c));
    const std::string name = table.columns.empty() ? "" : table.columns[static_cast<std::size_t>(c)];
    text.row({std::to_string(c), one_line(name), range.text()});
    Json entry = {{"name", name}};
    range.put(entry);
    list.push_back(std::move(entry));
  }
  return {fmt::format("CSV table: {} lines, {} columns{}\n\n{}", with_commas(lines), columns,
                      table.columns.empty() ? "" : ", with a header", text.str()),
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

Inspection inspect_png(const std::string& path) {
  Arrays arrays("PNG image");
  arrays.add({"pixels", read_png(path)});
  return arrays.finish();
}

Inspection inspect_folder(const std::string& path) {
  const ImageFolder folder = read_image_folder(path);
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
                      folder.samples.shape.str(), table.str()),
          Json{{"format", "image folder"}, {"shape", folder.samples.shape.extents()}, {"classes", classes}}};
}

}  // namespace

Inspection inspect_data(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".png") return inspect_png(path);
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
    case FileFormat::npy:
    case FileFormat::idx:
      return inspect_array(path, format);
  }
  throw Error(ExitCode::bug, "inspect: unknown format");
}

}  // namespace lockstep::cli
