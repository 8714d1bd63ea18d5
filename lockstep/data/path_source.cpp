#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file_dataset.hpp"
#include "lockstep/data/formats/image_folder.hpp"
#include "lockstep/data/opened_source.hpp"
#include "lockstep/data/pairs.hpp"

namespace lockstep {
namespace {

/// One file, or one pair of arrays of it, on its way to a data set.
struct Reading {
  const DataConfig& config;
  DataUse use;
  OpenedSource& opened;
  // Settled by the training set and used for the test set as well.
  LabelRule rule = LabelRule::as_stored;
  std::int64_t classes = 0;
  std::vector<std::string> columns{};  // CSV: the names in the header
};

/// A row or a column is a vector with one element per sample.
bool is_vector(const Array& array) {
  return array.rank() == 1 || (array.rank() == 2 && (array.dims[0] == 1 || array.dims[1] == 1));
}

/// Labels, one per sample, have the shape [n], [n,1] or [1,n]; real targets also [n,k].
Array one_per_sample(Array y, std::int64_t samples, bool regression, const std::string& name) {
  const bool one_sample = regression && samples == 1 && y.rank() == 2 && y.dims[0] == 1;  // [1,k]
  if (is_vector(y) && !one_sample) {
    y.dims = {y.elements()};
    return y;
  }
  if (regression && y.rank() == 2) return y;
  throw Error(ExitCode::data, fmt::format("{}: targets {}, expected one per sample{}", name, y.describe(),
                                          y.rank() == 2 ? "; for real target vectors set data.regression" : ""));
}

/// Programs that know matrices only write a list of n numbers as [1,n]: n samples of one feature, if there are n
/// targets.
void turn_row(ArrayPair& pair, Reading& reading) {
  Array& x = pair.x;
  const bool row = x.rank() == 2 && x.dims[0] == 1 && x.dims[1] > 1 && reading.config.shape.empty();
  if (!row || !pair.y || !is_vector(*pair.y) || pair.y->elements() != x.dims[1]) return;
  reading.opened.notes.push_back(
      fmt::format("{}: a row of {} numbers for as many targets is taken as {} samples of one; data.shape = [{}] makes "
                  "it one sample",
                  pair.x_name, x.dims[1], x.dims[1], x.dims[1]));
  x.dims = {x.dims[1]};
}

LabelRule rule_of(const Array& labels, const DataConfig& config, FileFormat format) {
  if (!config.label_rule.empty()) return parse_label_rule(config.label_rule);
  return format == FileFormat::mat ? mat_label_rule(labels, config.classes) : LabelRule::as_stored;
}

void check_several_classes(const Targets& targets, const Array& stored, const std::string& name,
                           const std::string& key) {
  if (targets.labels.size() < 2) return;
  const bool one = std::all_of(targets.labels.begin(), targets.labels.end(),
                               [&](std::int32_t label) { return label == targets.labels.front(); });
  if (one)
    throw Error(ExitCode::data,
                fmt::format("{}: every label is {}, and from one class nothing can be learnt; data.{} says where the "
                            "labels are",
                            name, stored.value(0), key));
}

struct LabelSource {
  std::optional<Array> y;
  std::int64_t samples = 0;
  std::string name, key;  // of the array; of the setting
};

Targets targets_of(LabelSource source, FileFormat format, Reading& reading, bool is_train) {
  if (!source.y) return {};
  const DataConfig& config = reading.config;
  Array flat = one_per_sample(std::move(*source.y), source.samples, config.regression, source.name);
  if (config.regression) return make_values(std::move(flat), source.name);
  if (is_train) {
    reading.rule = rule_of(flat, config, format);
    const auto named = static_cast<std::int64_t>(reading.opened.class_names.size());  // of a .ts file
    reading.classes = config.classes != 0 ? config.classes : named;
    reading.opened.label_rule = label_rule_names()[static_cast<std::size_t>(reading.rule)];
    if (config.label_rule.empty() && reading.rule != LabelRule::as_stored)
      reading.opened.notes.push_back(fmt::format("{}: {}; data.label_rule decides otherwise", source.name,
                                                 reading.rule == LabelRule::digits
                                                     ? "labels 1 to 10 are digits, and 10 is class 0"
                                                     : "labels count from 1, and class 0 is label 1"));
  }
  Targets targets = make_labels(flat, reading.classes, reading.rule, source.name);
  reading.classes = targets.classes;
  if (is_train && reading.use == DataUse::training) check_several_classes(targets, flat, source.name, source.key);
  return targets;
}

std::shared_ptr<const StoredDataset> open_stream(const PairRequest& request, Reading& reading) {
  const DataConfig& config = reading.config;
  const FileFormat format = format_of(request.path);
  require_setting(format == FileFormat::idx || format == FileFormat::npy, config, "stream",
                  "stream reads IDX and .npy files only");
  require_setting(!config.transpose && config.resize.size == 0 && config.as_sequence.empty() && config.steps == 0,
                  config, "stream", "stream cannot transpose or resize images, nor make sequences of them");
  std::optional<Shape> shape;
  if (!config.shape.empty()) shape = Shape{std::span<const std::int64_t>(config.shape)};
  Targets targets = targets_of({read_labels(request), 0, request.labels, "labels"}, format, reading, !request.test);
  return std::make_shared<FileDataset>(request.path, std::move(targets), shape, is_channels_last(config));
}

/// Integers in columns called pixel are pictures that were not divided by 255: suggests data.scale.
void suggest_scale(const ArrayPair& pair, Reading& reading) {
  if (reading.config.scale != 0 || reading.config.standardise) return;
  std::vector<std::int64_t> pixels;
  std::int64_t feature = 0;
  for (std::size_t c = 0; c < pair.columns->names.size(); ++c) {
    if (static_cast<std::int64_t>(c) == pair.columns->label.column) continue;
    if (plain_name(pair.columns->names[c]).starts_with("pixel")) pixels.push_back(feature);
    ++feature;
  }
  if (pixels.empty()) return;
  const auto values = pair.x.as<double>();
  double largest = 0;
  for (std::size_t row = 0; row < values.size(); row += static_cast<std::size_t>(feature))
    for (const std::int64_t p : pixels) {
      const double value = values[row + static_cast<std::size_t>(p)];
      if (value < 0 || value > 255 || value != std::floor(value)) return;
      largest = std::max(largest, value);
    }
  if (largest > 1)
    reading.opened.notes.push_back(fmt::format(
        "{}: the columns called pixel hold integers from 0 to {}; data.scale = 255 divides them, and training likes "
        "numbers from 0 to 1",
        pair.x_name, largest));
}

/// The columns of the test table must be those of the training table.
void settle_columns(const ArrayPair& pair, Reading& reading, bool is_train) {
  const TableColumns& columns = *pair.columns;
  if (is_train) {
    reading.columns = columns.names;
    if (!columns.label.note.empty()) reading.opened.notes.push_back(columns.label.note);
    if (columns.label.column >= 0)
      reading.opened.label_column = columns.names.empty()
                                        ? std::to_string(columns.label.column)
                                        : columns.names[static_cast<std::size_t>(columns.label.column)];
    suggest_scale(pair, reading);
    return;
  }
  if (reading.columns.empty() || columns.names.empty() || reading.columns == columns.names) return;
  const auto [here, there] =
      std::mismatch(columns.names.begin(), columns.names.end(), reading.columns.begin(), reading.columns.end());
  const auto shown = [](auto at, auto end) { return at == end ? "nothing" : fmt::format("\"{}\"", printable(*at)); };
  throw Error(ExitCode::data, fmt::format("{}: column {} is {}, but {} in the training table", pair.x_name,
                                          here - columns.names.begin(), shown(here, columns.names.end()),
                                          shown(there, reading.columns.end())));
}

/// Most programs but PyTorch keep the colours of a pixel together; the shape gives such pictures away.
void note_layout(const ArrayPair& pair, Reading& reading) {
  const std::vector<std::int64_t>& dims = pair.x.dims;
  const bool told = !reading.config.layout.empty() || !reading.config.shape.empty();
  if (told || dims.size() != 4 || (dims[3] != 3 && dims[3] != 4) || dims[1] <= 4) return;
  reading.opened.notes.push_back(
      fmt::format("{}: samples [{},{},{}] are taken as channels, height, width; for height, width, channels set "
                  "data.layout = \"nhwc\"",
                  pair.x_name, dims[1], dims[2], dims[3]));
}

/// The classes that a file names are those of its test set too.
void settle_classes(const ArrayPair& pair, Reading& reading, bool is_train) {
  if (pair.class_names.empty()) return;
  if (is_train)
    reading.opened.class_names = pair.class_names;
  else if (reading.opened.class_names != pair.class_names)
    throw Error(ExitCode::data, fmt::format("{}: @classLabel has other classes, or in another order, than the "
                                            "training file",
                                            pair.x_name));
}

std::shared_ptr<const StoredDataset> open_file(const PairRequest& request, Reading& reading) {
  if (reading.config.stream) return open_stream(request, reading);
  ArrayPair pair = read_pair(request);
  if (pair.columns) settle_columns(pair, reading, !request.test);
  turn_row(pair, reading);
  if (!request.test) note_layout(pair, reading);
  Samples samples;
  samples.shape = sample_shape_of(pair.x.dims, pair.x_name);
  if (pair.sequences) samples.shape = {pair.x.dims[1], pair.x.dims[2]};
  settle_classes(pair, reading, !request.test);
  samples.targets = targets_of({std::move(pair.y), pair.x.dims[0], pair.y_name, pair.y_key}, format_of(request.path),
                               reading, !request.test);
  samples.features = std::move(pair.x);
  samples.lengths = std::move(pair.lengths);
  return finish_samples(std::move(samples), reading.config, pair.x_name);
}

OpenedSource open_folder(const DataConfig& config, DataUse use) {
  require_setting(!config.stream, config, "stream", "stream reads IDX and .npy files only");
  require_setting(!is_channels_last(config), config, "layout", "images of a folder have their channels first already");
  OpenedSource opened;
  opened.label_rule = label_rule_names()[static_cast<std::size_t>(LabelRule::as_stored)];
  ImageFolder train = read_image_folder(config.source);
  if (train.class_names.size() < 2 && use == DataUse::training)
    throw Error(ExitCode::data, fmt::format("{}: it has one class, {}, and from one class nothing can be learnt",
                                            config.source, train.class_names.front()));
  opened.class_names = std::move(train.class_names);
  opened.train = finish_samples(std::move(train.samples), config, config.source);
  if (!config.test.empty()) {
    opened.test = at_setting(config, "test", [&] {
      return finish_samples(read_image_folder(config.test, opened.class_names).samples, config, config.test);
    });
  }
  return opened;
}

/// Where the test set is, if there is one: another file, other arrays of the same file, or .npz's x_test and y_test.
std::optional<PairRequest> test_request(const DataConfig& config, const PairRequest& train, FileFormat format,
                                        const std::string& label_column) {
  PairRequest request = train;
  request.test = true;
  if (!label_column.empty()) request.label_column = label_column;
  if (!config.test_x_key.empty()) request.x_key = config.test_x_key;
  if (!config.test_y_key.empty()) request.y_key = config.test_y_key;
  if (!config.test.empty()) {
    request.path = config.test;
    request.labels = config.test_labels;
    if (train.labels == "none" && request.labels.empty()) request.labels = "none";
    return request;
  }
  const bool archive = format == FileFormat::mat || format == FileFormat::npz;
  if (archive && !config.test_x_key.empty()) return request;
  const bool by_default = format == FileFormat::npz && config.x_key.empty() && config.y_key.empty();
  if (by_default && has_default_test(config.source)) return request;
  return std::nullopt;
}

}  // namespace

OpenedSource open_path(const DataConfig& config, DataUse use) {
  const FileFormat format = format_of(config.source);
  if (format == FileFormat::folder) return open_folder(config, use);
  const PairRequest request{.path = config.source,
                            .labels = config.labels,
                            .x_key = config.x_key,
                            .y_key = config.y_key,
                            .label_column = config.label_column,
                            .header = config.header,
                            .regression = config.regression};
  OpenedSource opened;
  Reading reading{.config = config, .use = use, .opened = opened};
  opened.train = open_file(request, reading);
  if (const auto test = test_request(config, request, format, opened.label_column))
    opened.test =
        at_setting(config, config.test.empty() ? "source" : "test", [&] { return open_file(*test, reading); });
  return opened;
}

}  // namespace lockstep
