#include "lockstep/model/preparation.hpp"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/data_fields.hpp"
#include "lockstep/data/formats/cifar.hpp"
#include "lockstep/data/formats/image_folder.hpp"
#include "lockstep/data/opened_source.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/data/table.hpp"

namespace lockstep {
namespace {

bool is_folder(const std::string& source) {
  std::error_code ignored;
  return is_image_archive(source) || (std::filesystem::is_directory(source, ignored) && !is_cifar(source));
}

/// The keys that say how a source stores its samples. A folder of pictures stores them in one way, so those of an array
/// mean nothing there.
bool is_storage(std::string_view key) { return key == "shape" || key == "layout" || key == "transpose"; }

/// Which keys of `asked` are not those of training because the user wants it so.
struct Completed {
  DataConfig config;
  std::set<std::string> overridden{};
};

Completed complete(const ModelInfo& info, const DataConfig& asked, const PreparationOptions& options) {
  Completed done{.config = asked};
  if (!info.preparation) {
    done.overridden = options.chosen;
    return done;
  }
  const auto note = [&](const std::string& line) {
    if (options.note) options.note(line);
  };
  const bool other_kind = is_folder(asked.source) != info.pictures;
  const auto wanted = preparation_texts(asked), trained = preparation_texts(*info.preparation);
  for_each_preparation_key([&](const char* key, auto field) {
    if (asked.*field == (*info.preparation).*field) return;
    if (options.chosen.contains(key) || asked.*field != DataConfig().*field) {
      done.overridden.insert(key);
      note(fmt::format("data.{} = {} here; the model was trained with {}", key, wanted.at(key), trained.at(key)));
      return;
    }
    if (other_kind && is_storage(key)) {
      note(fmt::format("data.{} = {} of training is not applied: {} {} a folder of pictures; set the key to apply it",
                       key, trained.at(key), asked.source, info.pictures ? "is not" : "is"));
      return;
    }
    done.config.*field = (*info.preparation).*field;
    note(fmt::format("data.{} = {}, as in training", key, trained.at(key)));
  });
  return done;
}

Scaling times(const Scaling& scaling, std::int64_t features, double factor) {
  std::vector<double> scale, offset;
  for (std::int64_t f = 0; f < features; ++f) {
    scale.push_back(scaling.scale(f) * factor);
    offset.push_back(scaling.offset(f));
  }
  return {std::move(scale), std::move(offset)};
}

/// Whether bytes and fractions of white meet.
bool differs(const ModelInfo& info, ElementType source_type, double white) {
  return white != info.white && (info.bytes || source_type == ElementType::uint8);
}

/// The samples of a call, in the form of the model's source.
class ModelSamples final : public RawSamples {
 public:
  explicit ModelSamples(const Model& model) : info_(model.info), scaling_(scaling_of(model.info)) {
    const auto input = model.network.input().extents();
    if (info_.source_shape.empty()) info_.source_shape.assign(input.begin(), input.end());
    if (info_.table) fills_ = fills_of(*info_.table);
  }

  std::shared_ptr<const Dataset> prepare(std::span<const float> x) const override { return prepare_as(x); }
  std::shared_ptr<const Dataset> prepare(std::span<const double> x) const override { return prepare_as(x); }

 private:
  template <class T>
  std::shared_ptr<const Dataset> prepare_as(std::span<const T> x) const {
    const Shape shape{std::span<const std::int64_t>(info_.source_shape)};
    const auto numbers = static_cast<std::int64_t>(x.size()), each = shape.elements();
    if (numbers % each != 0)
      throw Error(ErrorCode::usage,
                  fmt::format("predictor: {} numbers are no whole samples {} of {} numbers, as the source of training "
                              "had them",
                              numbers, shape.str(), each));
    const auto data = arrange_as_trained(info_, filled(array_from({numbers}, x)), "predictor");
    return scaling_ ? data->scaled(*scaling_) : data;
  }

  /// With what training has put in place of missing numbers of a table.
  template <class T>
  void fill(std::span<T> values) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isnan(values[i])) values[i] = static_cast<T>(fills_[i % fills_.size()]);
  }
  Array filled(Array raw) const {
    if (fills_.empty()) return raw;
    if (raw.type == ElementType::float32)
      fill(raw.as<float>());
    else
      fill(raw.as<double>());
    return raw;
  }

  ModelInfo info_;
  std::optional<Scaling> scaling_;
  std::vector<double> fills_;  // one per input of a table; empty: the source was none
};

/// What was found out about the labels and would be guessed anew from other data, perhaps differently: a column by its
/// name, and the rule of a .mat file. A column that was only the last one is looked for again.
void settle_labels(const DataConfig& config, const DataSplits& splits, DataConfig& preparation) {
  const bool by_name = splits.label_column.find_first_not_of("0123456789") != std::string::npos;
  if (config.label_column.empty() && by_name) preparation.label_column = splits.label_column;
  if (config.label_rule.empty() && config.source.ends_with(".mat")) preparation.label_rule = splits.label_rule;
  preparation.regression = splits.regression;
  preparation.layout = splits.layout;
  if (!splits.characters.empty()) {
    preparation.vocabulary = "characters";
    preparation.characters = splits.characters;
  }
  preparation.resize = splits.resize;
}

}  // namespace

void describe_data(const DataConfig& config, const DataSplits& splits, ModelInfo& info) {
  info.source = config.source;
  info.preparation.emplace();
  for_each_preparation_key([&](const char*, auto field) { (*info.preparation).*field = config.*field; });
  settle_labels(config, splits, *info.preparation);
  const auto shape = splits.source_shape.extents();
  info.source_shape.assign(shape.begin(), shape.end());
  info.pictures = is_folder(config.source);
  info.class_names = splits.class_names;
  info.named_labels = splits.named_labels;
  info.table = splits.table;
  info.white = splits.white;
  info.bytes = splits.source_type == ElementType::uint8;
  info.lengths = splits.train->has_lengths();
  const std::int64_t features = splits.train->features();
  const bool one_pair = splits.scaling.fits(features + 1);
  info.scale.clear();
  info.offset.clear();
  for (std::int64_t f = 0; f < (one_pair ? 1 : features); ++f) {
    info.scale.push_back(splits.scaling.scale(f));
    info.offset.push_back(splits.scaling.offset(f));
  }
}

std::optional<Scaling> scaling_of(const ModelInfo& info) {
  if (info.scale.empty()) return std::nullopt;
  if (info.scale.size() == 1) return Scaling(info.scale[0], info.offset[0]);
  return Scaling(info.scale, info.offset);
}

std::optional<Scaling> scaling_for(const ModelInfo& info, ElementType source_type, double white,
                                   std::int64_t features) {
  std::optional<Scaling> scaling = scaling_of(info);
  if (!scaling || !differs(info, source_type, white)) return scaling;
  return times(*scaling, features, info.white / white);
}

DataConfig complete_config(const ModelInfo& info, const DataConfig& asked, const PreparationOptions& options) {
  return complete(info, asked, options).config;
}

DataSplits load_data_for(const ModelInfo& info, const DataConfig& asked, const PreparationOptions& options) {
  const Completed completed = complete(info, asked, options);
  const bool rescaled = completed.overridden.contains("scale") || completed.overridden.contains("standardise");
  TrainedData trained{.table = info.table,
                      .class_names = info.class_names,
                      .named_labels = info.named_labels,
                      .pictures = info.pictures};
  if (!rescaled && scaling_of(info))
    trained.scaling = [&](ElementType type, double white, std::int64_t features) {
      if (options.note && differs(info, type, white))
        options.note(
            fmt::format("{} holds {}, the model was trained on {}: white is taken to be {} here; data.scale decides",
                        asked.source, white == 1 ? "fractions" : "bytes", white == 1 ? "bytes" : "fractions", white));
      return *scaling_for(info, type, white, features);
    };
  DataConfig config = completed.config;
  if (config.wanted_shape.empty() && info.pictures) config.wanted_shape = info.source_shape;
  DataSplits splits = load_data(config, trained, options.use);
  if (options.note)
    for (const std::string& line : splits.notes) options.note(line);
  return splits;
}

std::shared_ptr<const StoredDataset> arrange_as_trained(const ModelInfo& info, Array raw, std::string_view name) {
  const Shape each{std::span<const std::int64_t>(info.source_shape)};
  raw.dims = {raw.elements() / each.elements()};
  raw.dims.insert(raw.dims.end(), info.source_shape.begin(), info.source_shape.end());
  const Shape shape = sample_shape_of(raw.dims, name);
  return finish_samples({.features = std::move(raw), .shape = shape, .targets = {}},
                        info.preparation.value_or(DataConfig()), name);
}

Predictor::Predictor(const Model& model, PredictOptions options) : Predictor(model.network, options) {
  raw_ = std::make_unique<ModelSamples>(model);
}

}  // namespace lockstep
