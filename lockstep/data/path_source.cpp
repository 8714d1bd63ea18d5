#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file_dataset.hpp"
#include "lockstep/data/folder_dataset.hpp"
#include "lockstep/data/formats/cifar.hpp"
#include "lockstep/data/formats/image_folder.hpp"
#include "lockstep/data/opened_source.hpp"
#include "lockstep/data/pairs.hpp"
#include "lockstep/data/table.hpp"

namespace lockstep {
namespace {

constexpr const char* kStreams =
    "stream reads IDX, .npy and .npz files and folders of pictures; save other arrays as .npy";

/// One file, or one pair of arrays of it, on its way to a data set.
struct Reading {
  DataConfig config;
  DataUse use;
  const TrainedData& trained;
  OpenedSource& opened;
  // Settled by the training set and used for the test set as well.
  LabelRule rule = LabelRule::as_stored;
  std::int64_t classes = 0;
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
  throw Error(ErrorCode::data, fmt::format("{}: targets {}, expected one per sample{}", name, y.describe(),
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

struct LabelSource {
  std::optional<Array> y;
  std::vector<std::string> names{};  // not empty: y holds indices of these
  std::int64_t samples = 0;
  std::string name, key;                   // of the array; of the setting
  std::vector<std::string> class_names{};  // of labels that are numbers; empty: the file does not say
};

void check_several_classes(const Targets& targets, const Array& stored, const LabelSource& source) {
  if (targets.labels.size() < 2) return;
  const bool one = std::all_of(targets.labels.begin(), targets.labels.end(),
                               [&](std::int32_t label) { return label == targets.labels.front(); });
  if (!one) return;
  const std::string label = source.names.empty() ? fmt::format("{}", stored.value(0))
                                                 : fmt::format("\"{}\"", printable(source.names.front()));
  throw Error(ErrorCode::data,
              fmt::format("{}: every label is {}, and from one class nothing can be learnt; data.{} says where the "
                          "labels are",
                          source.name, label, source.key));
}

/// Labels that count from 1 leave class 0 without a sample: seldom what is meant.
void note_first_label(const Array& labels, const Reading& reading, const LabelSource& source) {
  double smallest = INFINITY, largest = 0;
  for (std::int64_t i = 0; i < labels.elements(); ++i) {
    smallest = std::min(smallest, labels.value(i));
    largest = std::max(largest, labels.value(i));
  }
  if (smallest != 1 || !reading.config.label_rule.empty() || reading.rule != LabelRule::as_stored) return;
  reading.opened.notes.push_back(
      fmt::format("{}: labels start at 1 and go to {}, so class 0 has no sample and there are {} classes; "
                  "data.label_rule = \"from-one\" makes label 1 class 0",
                  source.name, largest, largest + 1));
}

/// Whether targets of numbers are meant where data.regression does not say so: a network of one output can tell two
/// classes apart, not more.
bool are_numbers(const LabelSource& source, const Reading& reading) {
  const DataConfig& config = reading.config;
  const bool open = config.wanted_outputs == 1 && source.names.empty() && config.classes == 0 &&
                    config.label_rule.empty() && !config.one_hot;
  if (!open || reading.use != DataUse::training || reading.opened.regression || !is_vector(*source.y)) return false;
  std::set<double> values;
  for (std::int64_t i = 0; i < source.y->elements() && values.size() <= 2; ++i) values.insert(source.y->value(i));
  return values.size() > 2;
}

/// The first name that is no class of training; nothing: all are. Without names of training, none is.
std::optional<std::string> foreign_name(const LabelSource& source, const std::vector<std::string>& classes) {
  for (const std::string& name : source.names)
    if (std::find(classes.begin(), classes.end(), name) == classes.end()) return name;
  return std::nullopt;
}

/// The classes of labels that are names: those of training, or in the order of the names.
Targets named_targets(const LabelSource& source, const Array& flat, Reading& reading, bool is_train) {
  OpenedSource& opened = reading.opened;
  if (is_train && reading.use == DataUse::training) opened.class_names = source.names;
  if (const auto foreign = foreign_name(source, opened.class_names)) {
    if (reading.use == DataUse::prediction) {
      opened.notes.push_back(fmt::format("{}: the label \"{}\" is no class of training, so labels are not read",
                                         source.name, printable(*foreign)));
      return {};
    }
    const std::vector<std::string_view> known(opened.class_names.begin(), opened.class_names.end());
    throw Error(ErrorCode::data, fmt::format("{}: the label \"{}\" is no class of training; classes: {}", source.name,
                                             printable(*foreign), known.empty() ? "numbers" : printable_list(known)));
  }
  opened.named_labels = true;
  opened.label_rule = label_rule_names()[static_cast<std::size_t>(LabelRule::as_stored)];
  std::map<std::string_view, double> classes;
  for (const std::string& name : opened.class_names) classes.emplace(name, static_cast<double>(classes.size()));
  Array labels = make_array(ElementType::float64, flat.dims);
  for (std::int64_t i = 0; i < flat.elements(); ++i) {
    const std::string& name = source.names[static_cast<std::size_t>(flat.value(i))];
    labels.as<double>()[static_cast<std::size_t>(i)] = classes.at(name);
  }
  return make_labels(labels, static_cast<std::int64_t>(opened.class_names.size()), LabelRule::as_stored, source.name);
}

Targets targets_of(LabelSource source, FileFormat format, Reading& reading, bool is_train) {
  if (!source.y) return {};
  const DataConfig& config = reading.config;
  if (is_train && are_numbers(source, reading)) {
    reading.opened.regression = true;
    reading.opened.notes.push_back(
        fmt::format("{}: the model has one output, so the numbers are targets of a regression (data.regression); "
                    "classes need one output each",
                    source.name));
  }
  const bool regression = reading.opened.regression;
  const Array flat = one_per_sample(std::move(*source.y), source.samples, regression, source.name);
  if (regression) return make_values(flat, source.name);
  Targets targets;
  if (!source.names.empty()) {
    targets = named_targets(source, flat, reading, is_train);
  } else {
    if (reading.trained.named_labels && reading.use == DataUse::evaluation)
      throw Error(ErrorCode::data, fmt::format("{}: labels are numbers, but the classes of training have names: {}",
                                               source.name, fmt::join(reading.opened.class_names, ", ")));
    if (is_train) {
      reading.rule = rule_of(flat, config, format);
      reading.classes = config.classes;
      reading.opened.label_rule = label_rule_names()[static_cast<std::size_t>(reading.rule)];
      if (config.label_rule.empty() && reading.rule != LabelRule::as_stored)
        reading.opened.notes.push_back(fmt::format("{}: {}; data.label_rule decides otherwise", source.name,
                                                   reading.rule == LabelRule::digits
                                                       ? "labels 1 to 10 are digits, and 10 is class 0"
                                                       : "labels count from 1, and class 0 is label 1"));
      if (reading.use == DataUse::training) note_first_label(flat, reading, source);
    }
    targets = make_labels(flat, reading.classes, reading.rule, source.name);
    if (is_train && reading.opened.class_names.empty() && std::ssize(source.class_names) >= targets.classes) {
      reading.opened.class_names = std::move(source.class_names);
      if (!reading.opened.class_names.empty()) targets.classes = std::ssize(reading.opened.class_names);
    }
  }
  reading.classes = targets.classes;
  if (is_train && reading.use == DataUse::training) check_several_classes(targets, flat, source);
  return targets;
}

/// One number per sample; check_targets judges them.
std::vector<double> weights_of(const std::optional<Array>& stored, const std::string& key) {
  if (!stored) return {};
  if (!is_vector(*stored))
    throw Error(ErrorCode::data, fmt::format("data.weights: {} is {}, expected one number per sample", printable(key),
                                             stored->describe()));
  std::vector<double> weights;
  for (std::int64_t i = 0; i < stored->elements(); ++i) weights.push_back(stored->value(i));
  return weights;
}

std::shared_ptr<const StoredDataset> open_stream(const PairRequest& request, Reading& reading) {
  const DataConfig& config = reading.config;
  const FileFormat format = format_of(request.path);
  const bool archive = format == FileFormat::npz;
  require_setting(format == FileFormat::idx || format == FileFormat::npy || archive, config, "stream", kStreams);
  require_setting(!config.transpose && config.resize.size == 0 && config.as_sequence.empty() && config.steps == 0,
                  config, "stream", "stream cannot transpose or resize images, nor make sequences of them");
  std::optional<Shape> shape;
  if (!config.shape.empty()) shape = Shape{std::span<const std::int64_t>(config.shape)};
  if (archive) {
    StreamedPair pair = open_npz_stream(request);
    Targets targets = targets_of(
        {std::move(pair.labels.y), std::move(pair.labels.names), 0, pair.y_name, "y_key", std::move(pair.class_names)},
        format, reading, !request.test);
    targets.weights = weights_of(pair.weights, config.weights);
    return std::make_shared<FileDataset>(request.path, std::move(targets), shape, is_channels_last(config), pair.x);
  }
  LabelArray labels = read_labels(request);
  Targets targets = targets_of({std::move(labels.y), std::move(labels.names), 0, request.labels, "labels", {}}, format,
                               reading, !request.test);
  targets.weights = weights_of(read_weights(request), config.weights);
  return std::make_shared<FileDataset>(request.path, std::move(targets), shape, is_channels_last(config));
}

/// Most programs but PyTorch keep the colours of a pixel together; the shape gives such pictures away. They are turned
/// where the network takes them so, and only spoken of elsewhere.
void settle_layout(const ArrayPair& pair, Reading& reading) {
  const std::vector<std::int64_t>& dims = pair.x.dims;
  const bool told = !reading.config.layout.empty() || !reading.config.shape.empty();
  if (told || dims.size() != 4) return;
  const std::vector<std::int64_t>& wanted = reading.config.wanted_shape;
  const std::vector<std::int64_t> stored(dims.begin() + 1, dims.end()), turned = {dims[3], dims[1], dims[2]};
  if (stored != wanted && turned == wanted) {
    reading.config.layout = "nhwc";
    reading.opened.layout = reading.config.layout;
    reading.opened.notes.push_back(
        fmt::format("{}: samples [{},{},{}] are taken as height, width, channels, since the network takes [{},{},{}]; "
                    "data.layout decides",
                    pair.x_name, dims[1], dims[2], dims[3], wanted[0], wanted[1], wanted[2]));
    return;
  }
  if ((dims[3] != 3 && dims[3] != 4) || dims[1] <= 4) return;
  reading.opened.notes.push_back(
      fmt::format("{}: samples [{},{},{}] are taken as channels, height, width; for height, width, channels set "
                  "data.layout = \"nhwc\"",
                  pair.x_name, dims[1], dims[2], dims[3]));
}

std::shared_ptr<const StoredDataset> open_pair(const PairRequest& request, Reading& reading) {
  if (reading.config.stream) return open_stream(request, reading);
  ArrayPair pair = read_pair(request);
  turn_row(pair, reading);
  if (!request.test) settle_layout(pair, reading);
  Samples samples;
  samples.shape = sample_shape_of(pair.x.dims, pair.x_name);
  if (pair.sequences) samples.shape = {pair.x.dims[1], pair.x.dims[2]};
  samples.targets = targets_of({std::move(pair.y), std::move(pair.y_names), pair.x.dims[0], pair.y_name, pair.y_key,
                                std::move(pair.class_names)},
                               format_of(request.path), reading, !request.test);
  samples.targets.weights = weights_of(pair.weights, reading.config.weights);
  samples.features = std::move(pair.x);
  samples.lengths = std::move(pair.lengths);
  return finish_samples(std::move(samples), reading.config, pair.x_name);
}

std::shared_ptr<const StoredDataset> open_table(const PairRequest& request, Reading& reading) {
  OpenedSource& opened = reading.opened;
  const DataConfig& config = reading.config;
  require_setting(!config.stream, config, "stream", kStreams);
  const bool first = !request.test;
  const TableRules rules{.plan = opened.table ? &*opened.table : nullptr,
                         .named_labels = first ? reading.trained.named_labels : opened.named_labels};
  TableSamples table =
      read_table(request.path, config, first ? request.label_column : opened.label_column, reading.use, rules);
  opened.notes.insert(opened.notes.end(), table.notes.begin(), table.notes.end());
  if (first) {
    opened.table = table.plan;
    opened.label_column = table.label;
    opened.regression = table.regression;
    opened.regrouped = config.transpose || is_channels_last(config) || config.resize.size != 0;
  }
  const auto values = table.x.as<double>();
  const bool missing = std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
  opened.missing = opened.missing || missing;
  Samples samples;
  samples.shape = sample_shape_of(table.x.dims, table.name);
  samples.targets =
      targets_of({std::move(table.y), std::move(table.y_names), table.x.dims[0], table.y_name, "label_column", {}},
                 FileFormat::csv, reading, first);
  samples.targets.weights = weights_of(table.weights, config.weights);
  samples.features = std::move(table.x);
  return finish_samples(std::move(samples), config, table.name, missing);
}

std::shared_ptr<const StoredDataset> open_file(const PairRequest& request, Reading& reading) {
  return format_of(request.path) == FileFormat::csv ? open_table(request, reading) : open_pair(request, reading);
}

/// A folder or archive as a data set, and what was found on the way.
struct OpenedFolder {
  std::shared_ptr<const StoredDataset> data;
  std::vector<std::string> class_names, notes;
  bool resized = false;
};

/// Those of several sizes are transposed and resized already.
std::shared_ptr<const StoredDataset> finish_folder(ImageFolder folder, const DataConfig& config,
                                                   const std::string& name) {
  if (!folder.resized) return finish_samples(std::move(folder.samples), config, name);
  require_setting(config.shape.empty(), config, "shape", "shape is for pictures of one size");
  return std::make_shared<MemoryDataset>(std::move(folder.samples.features), folder.samples.shape,
                                         std::move(folder.samples.targets), name, ElementType::uint8,
                                         folder.samples.shape);
}

OpenedFolder open_pictures(const std::string& path, const DataConfig& config, const ImageFolderOptions& options) {
  if (!config.stream) {
    ImageFolder folder = read_image_folder(path, options);
    OpenedFolder opened{nullptr, folder.class_names, folder.notes, folder.resized};
    opened.data = finish_folder(std::move(folder), config, path);
    return opened;
  }
  require_setting(config.shape.empty(), config, "shape", "stream reads pictures in their own shape");
  ImageFolderOptions one_by_one = options;
  one_by_one.one_by_one = config.resize.size != 0 || config.transpose;
  if (config.transpose) one_by_one.resize = config.resize.size;
  auto reader = std::make_shared<ImageFolderReader>(path, one_by_one);
  OpenedFolder opened{nullptr, reader->class_names(), reader->notes(), reader->resizes()};
  opened.data = std::make_shared<FolderDataset>(std::move(reader), path);
  return opened;
}

OpenedSource open_folder(const DataConfig& config, DataUse use, const TrainedData& trained) {
  require_setting(config.weights.empty(), config, "weights",
                  "images of a folder have no weights; train.class_weights weighs classes");
  require_setting(!is_channels_last(config), config, "layout", "images of a folder have their channels first already");
  OpenedSource opened;
  opened.label_rule = label_rule_names()[static_cast<std::size_t>(LabelRule::as_stored)];
  ImageFolderOptions options{
      .resize = config.resize.size, .method = parse_resize_method(config.resize.method), .transpose = config.transpose};
  // Where the network says what it takes, pictures of several sizes or colours are brought there.
  const std::vector<std::int64_t>& wanted = config.wanted_shape;
  const bool square = wanted.size() == 3 && wanted[1] == wanted[2];
  if (config.resize.size == 0 && square) options.resize = wanted[1];
  if (wanted.size() == 3 && (wanted[0] == 1 || wanted[0] == 3)) options.channels = wanted[0];
  if (trained.pictures || trained.named_labels) options.classes = trained.class_names;
  OpenedFolder train = open_pictures(config.source, config, options);
  if (train.class_names.size() < 2 && use == DataUse::training)
    throw Error(ErrorCode::data, fmt::format("{}: it has one class, {}, and from one class nothing can be learnt",
                                             config.source, train.class_names.front()));
  opened.class_names = train.class_names;
  opened.notes = train.notes;
  if (train.resized && config.resize.size == 0) {
    opened.resize = {.size = options.resize, .method = config.resize.method};
    opened.notes.push_back(
        fmt::format("{}: pictures have several sizes and become {}x{}, as the network takes them; "
                    "data.resize decides",
                    config.source, options.resize, options.resize));
  }
  opened.train = train.data;
  if (!config.test.empty()) {
    opened.test = at_setting(config, "test", [&] {
      options.classes = opened.class_names;
      const OpenedFolder test = open_pictures(config.test, config, options);
      opened.notes.insert(opened.notes.end(), test.notes.begin(), test.notes.end());
      return test.data;
    });
  }
  return opened;
}

OpenedSource open_cifar(const DataConfig& config) {
  require_setting(!config.stream, config, "stream", kStreams);
  require_setting(!is_channels_last(config), config, "layout", "images of CIFAR have their channels first already");
  OpenedSource opened;
  opened.label_rule = label_rule_names()[static_cast<std::size_t>(LabelRule::as_stored)];
  Cifar cifar = read_cifar(config.source);
  opened.class_names = std::move(cifar.class_names);
  opened.train = finish_samples(std::move(cifar.train), config, config.source);
  if (!config.test.empty()) cifar.test = at_setting(config, "test", [&] { return read_cifar(config.test).train; });
  const std::string& test_name = config.test.empty() ? config.source : config.test;
  if (!cifar.test.features.bytes.empty()) opened.test = finish_samples(std::move(cifar.test), config, test_name);
  return opened;
}

/// Where the test set is, if there is one: another file, other arrays of the same file, or .npz's x_test and y_test.
std::optional<PairRequest> test_request(const DataConfig& config, const PairRequest& train, FileFormat format) {
  PairRequest request = train;
  request.test = true;
  request.weights.clear();  // only training looks at them
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

OpenedSource open_path(const DataConfig& config, DataUse use, const TrainedData& trained) {
  const FileFormat format = format_of(config.source);
  if (format == FileFormat::folder) return open_folder(config, use, trained);
  if (format == FileFormat::cifar) return open_cifar(config);
  const PairRequest request{.path = config.source,
                            .labels = config.labels,
                            .x_key = config.x_key,
                            .y_key = config.y_key,
                            .label_column = config.label_column,
                            .weights = use == DataUse::training ? config.weights : "",
                            .regression = config.regression,
                            .predicting = use == DataUse::prediction};
  OpenedSource opened;
  opened.regression = config.regression;
  opened.layout = config.layout;
  opened.table = trained.table;
  opened.class_names = trained.class_names;
  Reading reading{.config = config, .use = use, .trained = trained, .opened = opened};
  opened.train = open_file(request, reading);
  if (const auto test = test_request(config, request, format))
    opened.test =
        at_setting(config, config.test.empty() ? "source" : "test", [&] { return open_file(*test, reading); });
  return opened;
}

}  // namespace lockstep
