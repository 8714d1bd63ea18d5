#include <string>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/file_dataset.hpp"
#include "lockstep/data/image_folder.hpp"
#include "lockstep/data/opened_source.hpp"
#include "lockstep/data/pairs.hpp"

namespace lockstep {
namespace {

/// Settled by the training set and used for the test set as well.
struct LabelScheme {
  LabelRule rule = LabelRule::as_stored;
  std::int64_t classes = 0;
};

/// One label per sample stands in [n], [n,1] or [1,n]; real targets also in [n,k].
Array one_per_sample(Array y, bool regression, const std::string& name) {
  const bool row = y.rank() == 2 && y.dims[0] == 1;
  const bool column = y.rank() == 2 && y.dims[1] == 1;
  if (y.rank() == 1 || row || column) {
    y.dims = {y.elements()};
    return y;
  }
  if (regression && y.rank() == 2) return y;
  throw Error(ExitCode::data, fmt::format("{}: targets {}, expected one per sample{}", name, y.describe(),
                                          y.rank() == 2 ? "; for real target vectors set data.regression" : ""));
}

Targets targets_of(std::optional<Array> y, const std::string& name, const DataConfig& config, FileFormat format,
                   LabelScheme* scheme, bool is_train) {
  if (!y) return {};
  Array flat = one_per_sample(std::move(*y), config.regression, name);
  if (config.regression) return make_values(std::move(flat), name);
  if (is_train) {
    scheme->rule = format == FileFormat::mat ? mat_label_rule(flat) : LabelRule::as_stored;
    scheme->classes = config.classes;
  }
  Targets targets = make_labels(flat, scheme->classes, scheme->rule, name);
  scheme->classes = targets.classes;
  return targets;
}

std::shared_ptr<const StoredDataset> open_stream(const PairRequest& request, const DataConfig& config,
                                                 LabelScheme* scheme) {
  const FileFormat format = format_of(request.path);
  require_setting(format == FileFormat::idx || format == FileFormat::npy, "stream reads IDX and .npy files only");
  require_setting(!config.transpose && config.resize.size == 0, "stream cannot transpose or resize images");
  std::optional<Shape> shape;
  if (!config.shape.empty()) shape = Shape{std::span<const std::int64_t>(config.shape)};
  Targets targets = targets_of(read_labels(request), request.labels, config, format, scheme, !request.test);
  return std::make_shared<FileDataset>(request.path, std::move(targets), shape);
}

std::shared_ptr<const StoredDataset> open_file(const PairRequest& request, const DataConfig& config,
                                               LabelScheme* scheme) {
  if (config.stream) return open_stream(request, config, scheme);
  ArrayPair pair = read_pair(request);
  Samples samples;
  samples.shape = sample_shape_of(pair.x.dims, pair.x_name);
  samples.targets = targets_of(std::move(pair.y), pair.y_name, config, format_of(request.path), scheme, !request.test);
  samples.features = std::move(pair.x);
  return finish_samples(std::move(samples), config, pair.x_name);
}

OpenedSource open_folder(const DataConfig& config) {
  require_setting(!config.stream, "stream reads IDX and .npy files only");
  OpenedSource opened;
  ImageFolder train = read_image_folder(config.source);
  opened.class_names = std::move(train.class_names);
  opened.train = finish_samples(std::move(train.samples), config, config.source);
  if (!config.test.empty()) {
    opened.test = finish_samples(read_image_folder(config.test, opened.class_names).samples, config, config.test);
  }
  return opened;
}

/// Where the test set is, if there is one: another file, other arrays of the same file, or .npz's x_test and y_test.
std::optional<PairRequest> test_request(const DataConfig& config, const PairRequest& train, FileFormat format) {
  PairRequest request = train;
  request.test = true;
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

OpenedSource open_path(const DataConfig& config) {
  const FileFormat format = format_of(config.source);
  if (format == FileFormat::folder) return open_folder(config);
  const PairRequest request{.path = config.source,
                            .labels = config.labels,
                            .x_key = config.x_key,
                            .y_key = config.y_key,
                            .label_column = config.label_column,
                            .header = config.header};
  LabelScheme scheme;
  OpenedSource opened;
  opened.train = open_file(request, config, &scheme);
  if (const auto test = test_request(config, request, format)) opened.test = open_file(*test, config, &scheme);
  return opened;
}

}  // namespace lockstep
