#include "lockstep/run/pages/answers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/data/samples.hpp"
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/model/predictor.hpp"
#include "lockstep/run/pages/pictures.hpp"

namespace lockstep {

namespace {

constexpr std::size_t kMostMistakes = 24, kMostRows = 12, kMostColumns = 8;
constexpr std::int64_t kMostClasses = 40;    // of a confusion matrix
constexpr std::int64_t kMostCounted = 1000;  // classes with counts
constexpr std::int64_t kMostPairs = 600, kMostPoints = 300;
constexpr std::int64_t kMostFilters = 32;
constexpr std::int64_t kColumns = 96, kRows = 64;  // of the regions
constexpr std::int64_t kMostBoundary = 1 << 20;    // parameters of a network whose regions are drawn

std::string class_name(const ModelInfo& info, std::int64_t k) {
  const auto at = static_cast<std::size_t>(k);
  return at < info.class_names.size() ? info.class_names[at] : std::to_string(k);
}

/// At most `most` of the samples, evenly spread.
std::vector<std::int64_t> spread_ids(std::int64_t size, std::int64_t most) {
  const std::int64_t count = std::min(size, most);
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(i * size / count);
  return ids;
}

/// Inputs of the samples, one after another.
std::vector<std::vector<double>> inputs_of(const Dataset& data, const std::vector<std::int64_t>& ids) {
  std::vector<std::vector<double>> rows;
  std::vector<double> column(static_cast<std::size_t>(data.features()));
  for (const std::int64_t id : ids) {
    data.gather(std::span(&id, 1), dense_matrix(column.data(), data.features(), 1));
    rows.push_back(column);
  }
  return rows;
}

double raw_of(const ModelInfo& info, std::size_t feature, double input) {
  if (info.scale.empty()) return input;
  const std::size_t at = info.scale.size() == 1 ? 0 : feature;
  return info.scale[at] != 0 ? (input - info.offset[at]) / info.scale[at] : input;
}

std::string feature_name(const ModelInfo& info, std::size_t feature) {
  if (info.table) {
    std::size_t first = 0;
    for (const TableColumn& column : info.table->columns) {
      const auto count = static_cast<std::size_t>(column.inputs());
      if (feature < first + count && !column.name.empty())
        return column.categories.empty() ? column.name
                                         : fmt::format("{} = {}", column.name, column.categories[feature - first]);
      first += count;
    }
  }
  return fmt::format("feature {}", feature);
}

/// What the fields of a table's row are called, and what they hold.
struct Field {
  std::string name;
  std::size_t first = 0;
  const TableColumn* column = nullptr;  // with categories
};

std::vector<Field> fields_of(const ModelInfo& info, std::int64_t features) {
  std::vector<Field> fields;
  if (info.table && info.table->inputs() == features) {
    std::size_t first = 0;
    for (const TableColumn& column : info.table->columns) {
      fields.push_back({column.name.empty() ? fmt::format("column {}", column.index) : column.name, first,
                        column.categories.empty() ? nullptr : &column});
      first += static_cast<std::size_t>(column.inputs());
    }
  } else {
    for (std::int64_t f = 0; f < features; ++f) fields.push_back({feature_name(info, std::size_t(f)), std::size_t(f)});
  }
  if (fields.size() > kMostColumns) fields.resize(kMostColumns);
  return fields;
}

std::string field_text(const Field& field, const ModelInfo& info, const std::vector<double>& inputs) {
  if (field.column == nullptr) return fmt::format("{:.4g}", raw_of(info, field.first, inputs[field.first]));
  for (std::size_t k = 0; k < field.column->categories.size(); ++k)
    if (raw_of(info, field.first + k, inputs[field.first + k]) > 0.5) return field.column->categories[k];
  return "";
}

/// The samples with the largest scores above 0, the largest first; equal ones in the order of the samples.
std::vector<std::int64_t> largest(const std::vector<double>& scores, std::int64_t size, std::size_t most) {
  std::vector<std::int64_t> ids;
  for (std::int64_t s = 0; s < size; ++s)
    if (scores[static_cast<std::size_t>(s)] > 0) ids.push_back(s);
  const auto count = std::min(most, ids.size());
  std::partial_sort(ids.begin(), ids.begin() + std::ptrdiff_t(count), ids.end(), [&](std::int64_t a, std::int64_t b) {
    const double one = scores[static_cast<std::size_t>(a)], two = scores[static_cast<std::size_t>(b)];
    return one > two || (one == two && a < b);
  });
  ids.resize(count);
  return ids;
}

void count_classes(const ModelInfo& info, const std::vector<std::int32_t>& labels, const SampleScores& scores,
                   std::int64_t classes, RunAnswers& out) {
  if (classes > kMostCounted) return;
  const auto count = static_cast<std::size_t>(classes);
  for (std::int64_t k = 0; k < classes; ++k) out.classes.push_back({.name = class_name(info, k)});
  if (classes <= kMostClasses) out.confusion.assign(count, std::vector<std::int64_t>(count));
  for (std::size_t s = 0; s < labels.size(); ++s) {
    const auto truth = static_cast<std::size_t>(labels[s]), answer = static_cast<std::size_t>(scores.answer[s]);
    ++out.classes[truth].samples;
    if (answer >= count) continue;  // the network has more outputs than the data classes
    ++out.classes[answer].answers;
    if (truth == answer) ++out.classes[truth].right;
    if (!out.confusion.empty()) ++out.confusion[truth][answer];
  }
}

/// What the worst samples look like: pictures, or rows of a table.
void show_worst(const ModelInfo& info, const Dataset& data, const std::vector<std::int64_t>& ids, RunAnswers& out) {
  const auto inputs = inputs_of(data, ids);
  if (const auto shape = picture_shape(data.sample_shape(), info)) {
    for (std::size_t i = 0; i < ids.size(); ++i) out.worst[i].picture = sample_picture(*shape, inputs[i], info);
    return;
  }
  const std::vector<Field> fields = fields_of(info, data.features());
  for (const Field& field : fields) out.columns.push_back(field.name);
  for (std::size_t i = 0; i < ids.size(); ++i)
    for (const Field& field : fields) out.worst[i].values.push_back(field_text(field, info, inputs[i]));
}

void find_mistakes(const ModelInfo& info, const Dataset& data, const std::vector<std::int32_t>& labels,
                   const SampleScores& scores, RunAnswers& out) {
  const bool pictures = picture_shape(data.sample_shape(), info).has_value();
  const std::vector<std::int64_t> ids = largest(scores.gap, data.size(), pictures ? kMostMistakes : kMostRows);
  for (const std::int64_t id : ids) {
    const auto s = static_cast<std::size_t>(id);
    RunAnswers::Mistake mistake{
        .sample = id, .truth = labels[s], .answer = scores.answer[s], .probability = scores.sure[s]};
    if (info.loss && is_of_softmax(*info.loss)) mistake.of_truth = scores.sure[s] * math::exp(-scores.gap[s]);
    if (out.classes.size() == 2) mistake.of_truth = 1 - mistake.probability;
    out.worst.push_back(mistake);
  }
  show_worst(info, data, ids, out);
}

void find_errors(const ModelInfo& info, const Dataset& data, const SampleScores& scores, RunAnswers& out) {
  const auto truth_of = [&](std::int64_t id) {
    std::vector<double> targets(static_cast<std::size_t>(data.target_size()));
    data.targets(std::span(&id, 1), dense_matrix(targets.data(), data.target_size(), 1));
    return targets[0];
  };
  for (const std::int64_t id : spread_ids(data.size(), kMostPairs))
    if (const double value = scores.value[static_cast<std::size_t>(id)]; std::isfinite(value))
      out.pairs.emplace_back(truth_of(id), value);
  std::vector<std::int64_t> ids = largest(scores.absolute, data.size(), kMostRows);
  std::erase_if(ids, [&](std::int64_t id) { return !std::isfinite(scores.value[static_cast<std::size_t>(id)]); });
  for (const std::int64_t id : ids)
    out.worst.push_back(
        {.sample = id, .true_value = truth_of(id), .answered_value = scores.value[static_cast<std::size_t>(id)]});
  show_worst(info, data, ids, out);
}

/// The answer to two features and how sure it is, from the outputs of the network as it is.
std::pair<std::size_t, double> interpret(std::span<const double> y, Loss loss, bool finished) {
  if (y.size() == 1) {
    const double p = is_of_values(loss) || finished ? y[0] : math::sigmoid(y[0]);
    return {p >= 0.5 ? 1 : 0, p >= 0.5 ? p : 1 - p};
  }
  const auto best = static_cast<std::size_t>(std::max_element(y.begin(), y.end()) - y.begin());
  if (finished || is_of_values(loss)) return {best, y[best]};
  if (!is_of_softmax(loss)) return {best, math::sigmoid(y[best])};
  double sum = 0;
  for (const double z : y) sum += math::exp(z - y[best]);
  return {best, 1 / sum};
}

std::vector<double> outputs_for(const Network& network, const std::vector<double>& x) {
  const auto count = x.size() / 2 * static_cast<std::size_t>(network.output().elements());
  Predictor predictor(network, {.threads = 1});
  std::vector<double> y(count);
  if (network.precision() == Precision::float64) {
    predictor.run(std::span<const double>(x), std::span<double>(y));
    return y;
  }
  const std::vector<float> narrow(x.begin(), x.end());
  std::vector<float> out(count);
  predictor.run(std::span<const float>(narrow), std::span<float>(out));
  return {out.begin(), out.end()};
}

/// Numbers of an axis: those of the source, as the inputs were made from them.
struct Range {
  double low = 0, high = 0;
  double at(double share) const { return low + (high - low) * share; }
};

Range range_of(const std::vector<std::vector<double>>& rows, std::size_t feature) {
  Range range{rows[0][feature], rows[0][feature]};
  for (const auto& row : rows) range = {std::min(range.low, row[feature]), std::max(range.high, row[feature])};
  const double room = range.high > range.low ? 0.08 * (range.high - range.low) : 1;
  return {range.low - room, range.high + room};
}

RunAnswers::Boundary find_boundary(const Network& network, const ModelInfo& info, const Dataset& data,
                                   const std::vector<std::int32_t>& labels, const SampleScores& scores) {
  RunAnswers::Boundary out{.x_name = feature_name(info, 0), .y_name = feature_name(info, 1)};
  const std::vector<std::int64_t> ids = spread_ids(data.size(), kMostPoints);
  const auto rows = inputs_of(data, ids);
  const Range x = range_of(rows, 0), y = range_of(rows, 1);
  std::vector<double> grid;
  for (std::int64_t r = 0; r < kRows; ++r)
    for (std::int64_t c = 0; c < kColumns; ++c) {
      grid.push_back(x.at((double(c) + 0.5) / double(kColumns)));
      grid.push_back(y.at((double(r) + 0.5) / double(kRows)));
    }
  const std::vector<double> outputs = outputs_for(network, grid);
  const auto width = static_cast<std::size_t>(network.output().elements());
  const LayerKind& last = network.layers().back().kind;
  const bool finished = std::holds_alternative<Softmax>(last) || std::holds_alternative<Sigmoid>(last);
  const double least = 1 / double(std::max<std::size_t>(width, 2));
  report::Regions& regions = out.regions;
  regions = {.columns = std::size_t(kColumns),
             .rows = std::size_t(kRows),
             .x_low = raw_of(info, 0, x.low),
             .x_high = raw_of(info, 0, x.high),
             .y_low = raw_of(info, 1, y.low),
             .y_high = raw_of(info, 1, y.high)};
  for (std::size_t i = 0; i < grid.size() / 2; ++i) {
    const auto [best, sure] =
        interpret(std::span(outputs).subspan(i * width, width), info.loss.value_or(Loss::cross_entropy), finished);
    const double share = std::clamp((sure - least) / (1 - least), 0.0, 0.999);
    regions.groups.push_back(best);
    regions.levels.push_back(static_cast<int>(share * (report::Regions::kMostLevel + 1)));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto s = static_cast<std::size_t>(ids[i]);
    out.points.push_back({.x = raw_of(info, 0, rows[i][0]),
                          .y = raw_of(info, 1, rows[i][1]),
                          .group = static_cast<std::size_t>(labels[s]),
                          .crossed = scores.answer[s] != labels[s]});
  }
  return out;
}

/// Weights of the first layer, as they are now.
std::vector<double> weights_of(const Network& network, std::size_t index, std::int64_t count) {
  std::vector<double> out(static_cast<std::size_t>(count));
  if (network.precision() == Precision::float64) {
    network.copy_parameter<double>(index, 0, out);
    return out;
  }
  std::vector<float> narrow(out.size());
  network.copy_parameter<float>(index, 0, narrow);
  return {narrow.begin(), narrow.end()};
}

/// Of a first layer whose weights can be seen: a convolution of 1 or 3 channels, or a linear layer on pictures.
std::optional<RunAnswers::Filters> find_filters(const RunConfig& config, const Network& network, const ModelInfo& info,
                                                const Shape& sample) {
  std::size_t first = 0;
  while (first < network.layers().size() && std::holds_alternative<Flatten>(network.layers()[first].kind)) ++first;
  if (first == network.layers().size() || network.parameters().empty()) return std::nullopt;
  const LayerPlan& plan = network.plans()[first];
  const ParameterInfo& weight = network.parameters()[0];
  std::optional<PictureShape> shape;
  if (std::holds_alternative<Conv2d>(plan.spec.kind) && (weight.shape[1] == 1 || weight.shape[1] == 3))
    shape = {.channels = weight.shape[1], .height = weight.shape[2], .width = weight.shape[3]};
  else if (std::holds_alternative<Linear>(plan.spec.kind))
    shape = picture_shape(sample, info);
  if (!shape || shape->elements() != weight.elements() / weight.shape[0] || shape->height * shape->width < 4)
    return std::nullopt;
  RunAnswers::Filters out{.layer = fmt::format("{} {}", plan.path, layer_type(plan.spec)), .all = weight.shape[0]};
  const std::int64_t shown = std::min(out.all, kMostFilters), each = shape->elements();
  // The initial weights follow from the configuration: nothing had to be kept for them, also in a resumed run.
  const Network initial = make_network(config);
  const std::vector<double> before = weights_of(initial, 0, shown * each), after = weights_of(network, 0, shown * each);
  double most = 0;
  for (const auto* weights : {&before, &after})
    for (const double w : *weights) most = std::max(most, std::abs(w));
  for (std::int64_t f = 0; f < shown; ++f) {
    const auto from = static_cast<std::size_t>(f * each), count = static_cast<std::size_t>(each);
    out.before.push_back(filter_picture(*shape, std::span(before).subspan(from, count), most));
    out.after.push_back(filter_picture(*shape, std::span(after).subspan(from, count), most));
  }
  return out;
}

}  // namespace

RunAnswers find_answers(const RunConfig& config, const Network& network, const ModelInfo& info, const Dataset& data,
                        const SampleScores& scores) {
  RunAnswers out{.samples = data.size(), .outputs = network.output().elements()};
  out.probabilities = info.loss && !is_of_values(*info.loss);
  out.filters = find_filters(config, network, info, data.sample_shape());
  if (data.size() == 0) return out;
  if (data.classes() == 0) {
    if (!out.probabilities) find_errors(info, data, scores, out);
    return out;
  }
  std::vector<std::int32_t> labels(static_cast<std::size_t>(data.size()));
  data.labels(ids_from(0, data.size()), labels);
  count_classes(info, labels, scores, data.classes(), out);
  if (out.classes.empty()) return out;
  find_mistakes(info, data, labels, scores, out);
  if (network.input().elements() == 2 && network.parameter_count() <= kMostBoundary && !network.layers().empty())
    out.boundary = find_boundary(network, info, data, labels, scores);
  return out;
}

}  // namespace lockstep
