#pragma once
// Numbers that an evaluation reports besides loss and accuracy. Counts are exact; sums of doubles are chains over the
// samples in their order, so the numbers are the same bits on every rung.
//
//   top-K                  share of samples whose label is among the K largest outputs
//   precision, recall, f1  of each class: right answers / answers, right answers / samples, their harmonic mean; 0
//   where
//                          there is nothing to divide by. The value is the mean over the classes that occur among the
//                          labels or the answers
//   auc                    area under the ROC curve of class 1 against class 0: the share of pairs that are in order,
//                          ties count half
//   mae, rmse              mean |y - t|, and the root of the mean (y - t)^2, over samples and outputs
//   perplexity             e^loss, of classes by cross-entropy; with a class for every step, per step
//   bits                   loss / ln 2: bits per step, so per character or byte of a text
//   r2                     1 - sum (y - t)^2 / sum (t - mean of t)^2, the mean taken for each output

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/dataset.hpp"
#include "lockstep/distribute/sample_scores.hpp"

namespace lockstep {

enum class MetricKind { loss, accuracy, top_k, precision, recall, f1, auc, mae, rmse, r2, perplexity, bits };

struct Metric {
  MetricKind kind = MetricKind::loss;
  std::int64_t k = 0;  // of top_k

  /// "f1", "top-5"
  std::string name() const;
  bool lower_is_better() const {
    return kind == MetricKind::loss || kind == MetricKind::mae || kind == MetricKind::rmse ||
           kind == MetricKind::perplexity || kind == MetricKind::bits;
  }
  friend bool operator==(const Metric&, const Metric&) = default;
};

/// Nothing for a name that is none.
std::optional<Metric> metric_named(std::string_view name);
/// "loss, accuracy, top-K, precision, ...": for messages.
std::string metric_names();

/// Why this metric cannot be computed from such data, this number of outputs and this loss; "" where it can.
std::string metric_fault(const Metric& metric, const Dataset& data, std::int64_t outputs, Loss loss);
/// All that say something about such data.
std::vector<Metric> fitting_metrics(const Dataset& data, std::int64_t outputs, Loss loss);

struct MetricValue {
  std::string name;
  double value = 0;
  std::vector<double> per_class{};  // of precision, recall and f1; by class
  friend bool operator==(const MetricValue&, const MetricValue&) = default;
};

/// The values of all but loss and accuracy, which the scores have anyway, from those of all samples of the data and
/// from the mean loss.
std::vector<MetricValue> metric_values(const std::vector<Metric>& metrics, const SampleScores& scores,
                                       const Dataset& data, std::int64_t outputs, double loss);

}  // namespace lockstep
