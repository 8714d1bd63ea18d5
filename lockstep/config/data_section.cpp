#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "lockstep/config/reader.hpp"
#include "lockstep/config/sections.hpp"
#include "lockstep/config/suggest.hpp"
#include "lockstep/data/targets.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kMaxExtent = 65536;

const std::vector<std::string> kResizeMethods = {"average", "bicubic"};
const std::vector<std::string> kLayouts = {"nchw", "nhwc"};
const std::vector<std::string> kReaders = {"each", "rank0"};  // of the ranks
const std::vector<std::string> kSplitKeys = {"train", "validation", "test"};

/// A share below 1, or a whole number of samples.
double as_share(const Value& value, std::string_view path) {
  const double share = as_number(value, path, kNotNegative);
  if (share >= 1 && share != std::floor(share))
    fail_at(value, path, fmt::format("must be a fraction below 1 or a whole number of samples, got {}", share));
  return share;
}

/// {train = 50000, validation = 10000, test = 10000} or [50000, 10000, 10000].
SplitConfig read_split(const Value& value, const std::string& path) {
  SplitConfig split;
  double* const parts[] = {&split.train, &split.validation, &split.test};
  if (const ValueArray* list = value.array()) {
    if (list->size() != 3)
      fail_at(value, path, fmt::format("must have 3 numbers, train, validation, test, not {}", list->size()));
    for (std::size_t i = 0; i < 3; ++i) *parts[i] = as_share((*list)[i], fmt::format("{}[{}]", path, i));
  } else {
    const TableReader table(value, path, kSplitKeys);
    for (std::size_t i = 0; i < 3; ++i)
      if (const Value* part = table.find(kSplitKeys[i])) *parts[i] = as_share(*part, table.path_of(kSplitKeys[i]));
  }
  double fractions = 0;
  for (const double* part : parts)
    if (*part < 1) fractions += *part;
  if (fractions > 1 + 1e-9)
    fail_at(value, path, fmt::format("the fractions must not exceed 1 together, got {}", fractions));
  return split;
}

/// 20 or {size = 20, method = "bicubic"}.
ResizeConfig read_resize(const Value& value, const std::string& path) {
  ResizeConfig resize;
  if (value.table() == nullptr) {
    resize.size = as_integer(value, path, {0, kMaxExtent});
    return resize;
  }
  const TableReader table(value, path, {"size", "method"});
  resize.size = as_integer(table.require("size", "the new height and width, for example 20"), table.path_of("size"),
                           {0, kMaxExtent});
  if (const auto method = table.choice("method", kResizeMethods)) resize.method = kResizeMethods[*method];
  return resize;
}

std::vector<std::int64_t> read_shape(const Value& value, const std::string& path) {
  const ValueArray& list = as_array(value, path);
  if (list.empty() || list.size() > 3) fail_at(value, path, "must have 1 to 3 extents, for example [1, 28, 28]");
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < list.size(); ++i)
    shape.push_back(as_integer(list[i], fmt::format("{}[{}]", path, i), {1, kMaxExtent * kMaxExtent}));
  return shape;
}

std::optional<bool> read_flag(const TableReader& table, std::string_view key) {
  const Value* value = table.find(key);
  if (value == nullptr) return std::nullopt;
  return as_bool(*value, table.path_of(key));
}

void read_files(const TableReader& table, DataConfig& data) {
  for (const auto& [key, field] : {std::pair{"test", &data.test},
                                   {"labels", &data.labels},
                                   {"test_labels", &data.test_labels},
                                   {"x_key", &data.x_key},
                                   {"y_key", &data.y_key},
                                   {"test_x_key", &data.test_x_key},
                                   {"test_y_key", &data.test_y_key}})
    table.read(key, *field);
  data.header = read_flag(table, "header");
  if (const Value* column = table.find("label_column")) {
    const bool index = std::holds_alternative<std::int64_t>(column->data);
    const std::string path = table.path_of("label_column");
    data.label_column = index ? std::to_string(as_integer(*column, path, {0, kMaxExtent})) : as_string(*column, path);
  }
  if (const auto rule = table.choice("label_rule", label_rule_names())) data.label_rule = label_rule_names()[*rule];
  table.read("regression", data.regression);
  table.read("stream", data.stream);
}

/// A name that is nearly one of ours, and no file, is a slip of the fingers.
void check_source(const Value& value, const std::string& source) {
  std::error_code ignored;
  if (is_named_source(source) || std::filesystem::exists(source, ignored)) return;
  if (const auto near = nearest(source, source_names()))
    fail_at(value, "data.source",
            fmt::format("there is no data set and no file called \"{}\"; did you mean {}?", source, *near));
}

void read_generator(const TableReader& table, DataConfig& data) {
  table.read("count", data.count, {1, 1'000'000'000});
  table.read("test_count", data.test_count, {0, 1'000'000'000});
  table.read("noise", data.noise, kNotNegative);
  table.read("factor", data.factor, kProperFraction);
  table.read("classes", data.classes, {1, 1'000'000});
  table.read("features", data.features, {1, 1'000'000});
  table.read("seed", data.seed, {0});
}

}  // namespace

const std::vector<std::string>& data_keys() {
  static const std::vector<std::string> keys = {
      "source",  "limit",      "test_limit", "test",      "labels",       "test_labels", "x_key",
      "y_key",   "test_x_key", "test_y_key", "header",    "label_column", "label_rule",  "regression",
      "stream",  "shape",      "layout",     "transpose", "resize",       "scale",       "standardise",
      "one_hot", "shuffle",    "stratify",   "split",     "count",        "test_count",  "noise",
      "factor",  "classes",    "features",   "seed",      "from"};
  return keys;
}

DataConfig read_data(const Value& section) {
  const TableReader table(section, "data", data_keys(), all_keys());
  DataConfig data;
  const Value& source = table.require("source", "for example \"fashion-mnist\", \"moons\" or a file");
  data.source = as_string(source, "data.source");
  if (data.source.empty()) table.fail("source", "is empty; for example \"fashion-mnist\", \"moons\" or a file");
  check_source(source, data.source);
  for (const Entry& entry : *section.table()) data.places[entry.key] = entry.value.origin;
  table.read("limit", data.limit, {0});
  table.read("test_limit", data.test_limit, {0});
  read_files(table, data);
  if (const Value* shape = table.find("shape")) data.shape = read_shape(*shape, "data.shape");
  if (const auto layout = table.choice("layout", kLayouts)) data.layout = kLayouts[*layout];
  table.read("transpose", data.transpose);
  if (const Value* resize = table.find("resize")) data.resize = read_resize(*resize, "data.resize");
  table.read("scale", data.scale, kPositive);
  table.read("standardise", data.standardise);
  table.read("one_hot", data.one_hot);
  data.shuffle = read_flag(table, "shuffle");
  data.stratify = read_flag(table, "stratify");
  if (const Value* split = table.find("split")) data.split = read_split(*split, "data.split");
  read_generator(table, data);
  if (const auto from = table.choice("from", kReaders)) data.from_rank0 = *from == 1;
  return data;
}

}  // namespace lockstep
