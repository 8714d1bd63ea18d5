#include "lockstep/data/source.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/opened_source.hpp"
#include "lockstep/data/table.hpp"
#include "lockstep/data/views.hpp"

namespace lockstep {
namespace {

using Ids = std::vector<std::int64_t>;

std::int64_t limited(const DataConfig& config, std::int64_t samples, std::int64_t limit, const char* what) {
  require_setting(limit >= 0, config, what, fmt::format("{} = {} is negative", what, limit));
  return limit == 0 ? samples : std::min(samples, limit);
}

bool is_image(const Dataset& data) { return data.sample_shape().rank() >= 2; }

double scale_of(const DataConfig& config, const StoredDataset& data) {
  require_setting(std::isfinite(config.scale) && config.scale >= 0, config, "scale",
                  fmt::format("scale = {} is not positive", config.scale));
  if (config.scale > 0) return 1.0 / config.scale;
  return data.source_type() == ElementType::uint8 && is_image(data) ? 1.0 / 255.0 : 1.0;
}

std::shared_ptr<const Dataset> part_of(const std::shared_ptr<const StoredDataset>& data, Ids ids, bool one_hot) {
  std::shared_ptr<const Dataset> part = data;
  if (ids.empty()) return nullptr;
  if (ids != ids_from(0, data->size())) part = std::make_shared<SubsetDataset>(data, std::move(ids));
  if (one_hot) part = std::make_shared<OneHotDataset>(part);
  return part;
}

/// Settles what stands for missing numbers of a table, by its training part, and puts it in their place.
void fill_missing(const DataConfig& config, const TrainedData& trained, const Ids& train, OpenedSource& opened) {
  if (!opened.table) return;
  const auto* table = dynamic_cast<const MemoryDataset*>(opened.train.get());
  if (!trained.table && !opened.regrouped)
    at_setting(config, "source", [&] { settle_fills(table->raw_features(), train, config, *opened.table); });
  if (!opened.missing) return;
  require_setting(!opened.regrouped, config, "missing",
                  "missing numbers are filled in tables, not in pictures that are turned or resized");
  const std::vector<double> fills = fills_of(*opened.table);
  opened.train = table->filled(fills);
  if (opened.test) opened.test = dynamic_cast<const MemoryDataset&>(*opened.test).filled(fills);
}

/// What to do about sequences of which one set has longer ones than the other.
std::string common_steps(const Dataset& train, const Dataset& test) {
  const Shape a = train.sample_shape(), b = test.sample_shape();
  if (a.rank() != 2 || b.rank() != 2 || a[0] != b[0]) return "";
  return fmt::format("; data.steps = {} gives both the same steps", std::max(a[1], b[1]));
}

}  // namespace

double white_of(const Dataset& raw, ElementType source_type) {
  constexpr std::int64_t kMostNumbers = 1 << 20, kMostSamples = 1024;
  if (source_type == ElementType::uint8) return 255;
  const std::int64_t features = raw.features();
  const std::int64_t looked = std::min(
      raw.size(), std::clamp<std::int64_t>(kMostNumbers / std::max<std::int64_t>(features, 1), 1, kMostSamples));
  AlignedBuffer<double> sample(features);
  for (std::int64_t i = 0; i < looked; ++i) {
    const std::int64_t id = raw.size() * i / looked;
    raw.gather(std::span(&id, 1), Matrix<double>{sample.data(), features, 1, 1});
    for (std::int64_t f = 0; f < features; ++f)
      if (sample[f] < 0 || sample[f] > 1) return 255;
  }
  return 1;
}

DataSplits load_data(const DataConfig& config, const TrainedData& trained, DataUse use) {
  OpenedSource opened = at_setting(config, "source", [&] { return open_source(config, use, trained); });
  if (opened.resize.size == 0) opened.resize = config.resize;
  require_setting(opened.test == nullptr || config.split.test == 0, config, "split",
                  "the source has a test set of its own, split.test would be a second one");
  SplitParts parts = divide(config, *opened.train, limited(config, opened.train->size(), config.limit, "limit"), use);
  fill_missing(config, trained, parts.train, opened);

  DataSplits splits;
  splits.source_type = opened.train->source_type();
  splits.white = white_of(*opened.train, splits.source_type);
  const bool tokens = opened.train->step_classes() > 0;
  const bool sequences = tokens || !config.as_sequence.empty() || opened.train->has_lengths() ||
                         lower_case(config.source).ends_with(".ts");
  require_setting(!config.augment.any() || !tokens, config, "augment",
                  "augment changes numbers, and these samples are text");
  require_setting(
      !config.augment.changes_pictures() || !sequences, config, "augment",
      "augment changes pictures, and these samples are sequences; mixup alone takes sequences of one length");
  const double scale = scale_of(config, *opened.train);
  Scaling scaling(scale);
  if (trained.scaling)
    scaling = trained.scaling(splits.source_type, splits.white, opened.train->features());
  else if (config.standardise && opened.train->has_lengths())
    require_setting(false, config, "standardise",
                    "sequences of different lengths are not standardised: what pads them would count");
  else if (config.standardise)
    scaling = standardising(SubsetDataset(opened.train, parts.train), scale);
  require_setting(
      scaling.fits(opened.train->features()), config, "source",
      fmt::format("the scaling of another data set does not fit samples {}", opened.train->sample_shape().str()));
  const auto train = opened.train->scaled(scaling);

  splits.class_names = std::move(opened.class_names);
  splits.named_labels = opened.named_labels;
  splits.layout = opened.layout;
  splits.characters = std::move(opened.characters);
  splits.resize = opened.resize;
  splits.regression = opened.regression;
  splits.table = std::move(opened.table);
  splits.source_shape = opened.train->source_shape();
  splits.scaling = scaling;
  splits.label_column = std::move(opened.label_column);
  splits.label_rule = std::move(opened.label_rule);
  splits.notes = config.remarks;
  splits.notes.insert(splits.notes.end(), opened.notes.begin(), opened.notes.end());
  splits.notes.insert(splits.notes.end(), parts.notes.begin(), parts.notes.end());
  splits.train = part_of(train, std::move(parts.train), config.one_hot);
  if (config.augment.any() && use == DataUse::training) {
    require_setting(!config.from_rank0, config, "augment",
                    "augment needs ranks that read the data: data.from = \"each\"");
    splits.train = at_setting(config, "augment", [&] {
      return std::make_shared<AugmentedDataset>(splits.train, config.augment, AugmentRange{scaling, splits.white},
                                                config.seed);
    });
  }
  splits.validation = part_of(train, std::move(parts.validation), config.one_hot);
  splits.test = part_of(train, std::move(parts.test), config.one_hot);
  if (opened.test != nullptr) {
    require_setting(opened.test->sample_shape() == opened.train->sample_shape(), config, "test",
                    fmt::format("training samples are {}, test samples {}{}", opened.train->sample_shape().str(),
                                opened.test->sample_shape().str(), common_steps(*opened.train, *opened.test)));
    Ids ids = ids_from(0, limited(config, opened.test->size(), config.test_limit, "test_limit"));
    splits.test = part_of(opened.test->scaled(scaling), std::move(ids), config.one_hot);
  }
  return splits;
}

}  // namespace lockstep
