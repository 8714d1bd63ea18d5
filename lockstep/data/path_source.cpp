#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/idx.hpp"
#include "lockstep/data/opened_source.hpp"

namespace lockstep {
namespace {

std::shared_ptr<const StoredDataset> open_idx(const std::string& images, const std::string& labels,
                                              std::int64_t classes, const DataConfig& config) {
  Samples samples;
  samples.features = read_idx(images);
  samples.shape = sample_shape_of(samples.features.dims, images);
  samples.targets = make_labels(read_idx(labels), classes, LabelRule::as_stored, labels);
  return finish_samples(std::move(samples), config, images);
}

}  // namespace

OpenedSource open_path(const DataConfig& config) {
  OpenedSource opened;
  opened.train = open_idx(config.source, config.labels, config.classes, config);
  if (!config.test.empty()) opened.test = open_idx(config.test, config.test_labels, opened.train->classes(), config);
  return opened;
}

}  // namespace lockstep
