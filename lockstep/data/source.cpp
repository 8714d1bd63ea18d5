#include "lockstep/data/source.hpp"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/core/random.hpp"
#include "lockstep/data/opened_source.hpp"
#include "lockstep/data/views.hpp"

namespace lockstep {
namespace {

using Ids = std::vector<std::int64_t>;

struct Parts {
  Ids train, validation, test;
};

std::int64_t part_size(double wanted, std::int64_t samples, std::string_view part) {
  require_setting(wanted >= 0 && (wanted < 1 || std::floor(wanted) == wanted),
                  fmt::format("split.{} = {}, expected a count or a fraction below 1", part, wanted));
  if (wanted < 1) return static_cast<std::int64_t>(wanted * static_cast<double>(samples));
  require_setting(wanted <= static_cast<double>(samples),
                  fmt::format("split.{} = {}, but there are {} samples", part, wanted, samples));
  return static_cast<std::int64_t>(wanted);
}

Parts divide(const DataConfig& config, std::int64_t samples) {
  const std::int64_t validation = part_size(config.split.validation, samples, "validation");
  const std::int64_t test = part_size(config.split.test, samples, "test");
  const std::int64_t train =
      config.split.train == 0 ? samples - validation - test : part_size(config.split.train, samples, "train");
  require_setting(train > 0 && train + validation + test <= samples,
                  fmt::format("split of {} samples into train {}, validation {}, test {} is impossible", samples, train,
                              validation, test));
  Ids order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (config.shuffle) order = permutation(config.seed, Purpose::split, 0, samples);
  const auto at = [&](std::int64_t position) { return order.begin() + position; };
  return {Ids(at(0), at(train)), Ids(at(train), at(train + validation)),
          Ids(at(train + validation), at(train + validation + test))};
}

std::int64_t limited(std::int64_t samples, std::int64_t limit, std::string_view what) {
  require_setting(limit >= 0, fmt::format("{} = {} is negative", what, limit));
  return limit == 0 ? samples : std::min(samples, limit);
}

bool is_image(const Dataset& data) { return data.sample_shape().rank() >= 2; }

double scale_of(const DataConfig& config, const StoredDataset& data) {
  require_setting(std::isfinite(config.scale) && config.scale >= 0,
                  fmt::format("scale = {} is not positive", config.scale));
  if (config.scale > 0) return 1.0 / config.scale;
  return data.source_type() == ElementType::uint8 && is_image(data) ? 1.0 / 255.0 : 1.0;
}

bool is_whole(const Ids& ids, const Dataset& data) {
  if (static_cast<std::int64_t>(ids.size()) != data.size()) return false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

std::shared_ptr<const Dataset> part_of(const std::shared_ptr<const StoredDataset>& data, Ids ids, bool one_hot) {
  std::shared_ptr<const Dataset> part = data;
  if (ids.empty()) return nullptr;
  if (!is_whole(ids, *data)) part = std::make_shared<SubsetDataset>(data, std::move(ids));
  if (one_hot) part = std::make_shared<OneHotDataset>(part);
  return part;
}

}  // namespace

DataSplits load_data(const DataConfig& config, const std::optional<Scaling>& given) {
  OpenedSource opened = open_source(config);
  require_setting(opened.test == nullptr || config.split.test == 0,
                  "the source has a test set of its own, split.test would be a second one");
  Parts parts = divide(config, limited(opened.train->size(), config.limit, "limit"));

  const double scale = scale_of(config, *opened.train);
  Scaling scaling(scale);
  if (given)
    scaling = *given;
  else if (config.standardise)
    scaling = standardising(SubsetDataset(opened.train, parts.train), scale);
  require_setting(
      scaling.fits(opened.train->features()),
      fmt::format("the scaling of another data set does not fit samples {}", opened.train->sample_shape().str()));
  const auto train = opened.train->scaled(scaling);

  DataSplits splits;
  splits.class_names = std::move(opened.class_names);
  splits.source_type = opened.train->source_type();
  splits.scaling = scaling;
  splits.train = part_of(train, std::move(parts.train), config.one_hot);
  splits.validation = part_of(train, std::move(parts.validation), config.one_hot);
  splits.test = part_of(train, std::move(parts.test), config.one_hot);
  if (opened.test != nullptr) {
    require_setting(opened.test->sample_shape() == opened.train->sample_shape(),
                    fmt::format("training samples are {}, test samples {}", opened.train->sample_shape().str(),
                                opened.test->sample_shape().str()));
    Ids ids(static_cast<std::size_t>(limited(opened.test->size(), config.test_limit, "test_limit")));
    std::iota(ids.begin(), ids.end(), std::int64_t{0});
    splits.test = part_of(opened.test->scaled(scaling), std::move(ids), config.one_hot);
  }
  return splits;
}

}  // namespace lockstep
