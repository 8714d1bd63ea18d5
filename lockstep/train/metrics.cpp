#include "lockstep/train/metrics.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/names.hpp"
#include "lockstep/kernels/math/elementary.hpp"

namespace lockstep {

namespace {

constexpr Described describe(MetricKind kind) {
  switch (kind) {
    case MetricKind::loss:
      return {"loss", ""};
    case MetricKind::accuracy:
      return {"accuracy", ""};
    case MetricKind::top_k:
      return {"top-", ""};
    case MetricKind::precision:
      return {"precision", ""};
    case MetricKind::recall:
      return {"recall", ""};
    case MetricKind::f1:
      return {"f1", ""};
    case MetricKind::auc:
      return {"auc", ""};
    case MetricKind::mae:
      return {"mae", ""};
    case MetricKind::rmse:
      return {"rmse", ""};
    case MetricKind::r2:
      return {"r2", ""};
    case MetricKind::perplexity:
      return {"perplexity", ""};
    case MetricKind::bits:
      return {"bits", ""};
  }
  return {};
}

constexpr std::int64_t kMostPlaces = 1'000'000;
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

bool is_of_numbers(MetricKind kind) {
  return kind == MetricKind::mae || kind == MetricKind::rmse || kind == MetricKind::r2;
}

bool is_of_loss(MetricKind kind) { return kind == MetricKind::perplexity || kind == MetricKind::bits; }

double loss_metric(MetricKind kind, double loss) {
  constexpr double kBit = 0.6931471805599453;  // ln 2
  return kind == MetricKind::perplexity ? math::exp(loss) : loss / kBit;
}

std::vector<std::int32_t> all_labels(const Dataset& data) {
  std::vector<std::int32_t> labels(static_cast<std::size_t>(data.size()));
  data.labels(ids_from(0, data.size()), labels);
  return labels;
}

/// Right answers, answers and samples of each class.
struct ClassCounts {
  ClassCounts(const SampleScores& scores, const std::vector<std::int32_t>& labels, std::int64_t classes)
      : right(static_cast<std::size_t>(classes)), answers(right.size()), samples(right.size()) {
    for (std::size_t s = 0; s < labels.size(); ++s) {
      const auto label = static_cast<std::size_t>(labels[s]), answer = static_cast<std::size_t>(scores.answer[s]);
      ++samples[label];
      ++answers[answer];
      if (label == answer) ++right[label];
    }
  }
  double value(MetricKind kind, std::size_t c) const {
    const double found = double(right[c]);
    const double whole = kind == MetricKind::precision ? double(answers[c])
                         : kind == MetricKind::recall  ? double(samples[c])
                                                       : double(answers[c] + samples[c]) / 2;
    return whole > 0 ? found / whole : 0;
  }
  bool occurs(std::size_t c) const { return answers[c] + samples[c] > 0; }

  std::vector<std::int64_t> right, answers, samples;
};

MetricValue class_metric(MetricKind kind, const ClassCounts& counts) {
  MetricValue result{.name = describe(kind).name};
  double sum = 0;
  std::int64_t occurring = 0;
  for (std::size_t c = 0; c < counts.right.size(); ++c) {
    result.per_class.push_back(counts.value(kind, c));
    if (!counts.occurs(c)) continue;
    sum += result.per_class.back();
    ++occurring;
  }
  result.value = occurring > 0 ? sum / double(occurring) : kNoNumber;
  return result;
}

/// From ranks, in whole numbers: twice the pairs that are in order, ties once.
double area_under_curve(const SampleScores& scores, const std::vector<std::int32_t>& labels) {
  for (std::size_t s = 0; s < labels.size(); ++s)
    if (std::isnan(scores.margin[s])) return kNoNumber;
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return scores.margin[a] != scores.margin[b] ? scores.margin[a] < scores.margin[b] : a < b;
  });
  double twice = 0;  // whole numbers below 2^53 are exact
  std::int64_t zeros = 0, ones = 0;
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    std::int64_t tied_zeros = 0, tied_ones = 0;
    for (; last < order.size() && scores.margin[order[last]] == scores.margin[order[first]]; ++last)
      ++(labels[order[last]] == 0 ? tied_zeros : tied_ones);
    twice += double(tied_ones) * double(2 * zeros + tied_zeros);
    zeros += tied_zeros;
    ones += tied_ones;
    first = last;
  }
  return zeros > 0 && ones > 0 ? twice / (2 * double(zeros) * double(ones)) : kNoNumber;
}

double chain(const std::vector<double>& values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t s = 0; s < count; ++s) sum += values[static_cast<std::size_t>(s)];
  return sum;
}

/// The sum over samples and outputs of (t - mean of t)^2.
double spread_of_targets(const Dataset& data, std::int64_t outputs) {
  AlignedBuffer<double> t(outputs * data.size());
  data.targets(ids_from(0, data.size()), dense_matrix(t.data(), outputs, data.size()));
  double spread = 0;
  for (std::int64_t k = 0; k < outputs; ++k) {
    const double* const row = t.data() + k * data.size();
    double sum = 0;
    for (std::int64_t s = 0; s < data.size(); ++s) sum += row[s];
    const double mean = sum / double(data.size());
    for (std::int64_t s = 0; s < data.size(); ++s) spread = std::fma(row[s] - mean, row[s] - mean, spread);
  }
  return spread;
}

double number_metric(MetricKind kind, const SampleScores& scores, const Dataset& data, std::int64_t outputs) {
  const double count = double(data.size()) * double(outputs);
  if (kind == MetricKind::mae) return chain(scores.absolute, data.size()) / count;
  const double square = chain(scores.square, data.size());
  if (kind == MetricKind::rmse) return std::sqrt(square / count);
  const double spread = spread_of_targets(data, outputs);
  return spread > 0 ? 1 - square / spread : kNoNumber;
}

double top_share(std::int64_t k, const SampleScores& scores, std::int64_t samples) {
  const auto end = scores.place.begin() + samples;
  return double(std::count_if(scores.place.begin(), end, [&](std::int64_t place) { return place < k; })) /
         double(samples);
}

}  // namespace

std::string Metric::name() const {
  return kind == MetricKind::top_k ? fmt::format("top-{}", k) : std::string(describe(kind).name);
}

std::optional<Metric> metric_named(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(MetricKind::bits); ++i) {
    const auto kind = static_cast<MetricKind>(i);
    const std::string_view known = describe(kind).name;
    if (kind != MetricKind::top_k && name == known) return Metric{kind};
    if (kind != MetricKind::top_k || !name.starts_with(known)) continue;
    std::int64_t k = 0;
    const auto [end, error] = std::from_chars(name.data() + known.size(), name.data() + name.size(), k);
    if (error == std::errc() && end == name.data() + name.size() && k >= 1 && k <= kMostPlaces) return Metric{kind, k};
  }
  return std::nullopt;
}

std::string metric_names() {
  return "loss, accuracy, top-K, precision, recall, f1, auc, mae, rmse, r2, perplexity, bits";
}

std::string metric_fault(const Metric& metric, const Dataset& data, std::int64_t outputs, Loss loss) {
  if (metric.kind == MetricKind::loss) return "";
  if (is_of_loss(metric.kind) && loss != Loss::cross_entropy)
    return fmt::format("{} follows from cross-entropy, and the loss is {}", metric.name(), name_of(loss));
  if (data.step_classes() > 0)
    return metric.kind == MetricKind::accuracy || is_of_loss(metric.kind)
               ? ""
               : fmt::format("{} is not for data with a class for every step; loss, accuracy, perplexity and bits are",
                             metric.name());
  if (is_of_numbers(metric.kind))
    return data.classes() > 0 ? fmt::format("{} is for real-valued targets, and the data has classes", metric.name())
                              : "";
  if (data.classes() == 0) return fmt::format("{} is for classes, and the data has real-valued targets", metric.name());
  if (metric.kind == MetricKind::auc && data.classes() != 2)
    return fmt::format("auc is for two classes, and the data has {}", data.classes());
  if (metric.kind == MetricKind::top_k && metric.k > std::max<std::int64_t>(outputs, 2))
    return fmt::format("{} of {} outputs", metric.name(), outputs);
  return "";
}

std::vector<Metric> fitting_metrics(const Dataset& data, std::int64_t outputs, Loss loss) {
  constexpr std::int64_t kFive = 5;
  if (data.step_classes() > 0 && loss != Loss::cross_entropy) return {};
  if (data.step_classes() > 0) return {{MetricKind::perplexity}, {MetricKind::bits}};
  if (data.classes() == 0) return {{MetricKind::mae}, {MetricKind::rmse}, {MetricKind::r2}};
  std::vector<Metric> metrics = {{MetricKind::precision}, {MetricKind::recall}, {MetricKind::f1}};
  if (data.classes() == 2) metrics.push_back({MetricKind::auc});
  if (outputs > kFive) metrics.push_back({MetricKind::top_k, kFive});
  return metrics;
}

std::vector<MetricValue> metric_values(const std::vector<Metric>& metrics, const SampleScores& scores,
                                       const Dataset& data, std::int64_t outputs, double loss) {
  std::vector<MetricValue> values;
  if (data.size() == 0) return values;
  const std::vector<std::int32_t> labels = data.classes() > 0 ? all_labels(data) : std::vector<std::int32_t>{};
  const std::int64_t classes = std::max<std::int64_t>({outputs, data.classes(), 2});
  for (const Metric& metric : metrics) {
    if (metric.kind == MetricKind::loss || metric.kind == MetricKind::accuracy) continue;
    if (is_of_loss(metric.kind))
      values.push_back({metric.name(), loss_metric(metric.kind, loss)});
    else if (is_of_numbers(metric.kind))
      values.push_back({metric.name(), number_metric(metric.kind, scores, data, outputs)});
    else if (metric.kind == MetricKind::top_k)
      values.push_back({metric.name(), top_share(metric.k, scores, data.size())});
    else if (metric.kind == MetricKind::auc)
      values.push_back({metric.name(), area_under_curve(scores, labels)});
    else
      values.push_back(class_metric(metric.kind, ClassCounts(scores, labels, classes)));
  }
  return values;
}

}  // namespace lockstep
