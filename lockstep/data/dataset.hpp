#pragma once
// Samples with their targets. Everything that trains or evaluates reads data through this interface only.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/core/sha256.hpp"
#include "lockstep/tensor/shape.hpp"
#include "lockstep/tensor/view.hpp"

namespace lockstep {

/// Read-only: every member may be called from several threads at once. Sample ids run from 0 to size() - 1;
/// an id outside is Error(bug). A data set has labels (classes() > 0), real targets (target_size() > 0), both
/// (one-hot) or neither (features only); asking for what it has not is Error(bug).
class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;
  /// [1,28,28], [400], [2]
  virtual Shape sample_shape() const = 0;
  /// The number of classes; 0 when the samples have no labels.
  virtual std::int64_t classes() const = 0;
  /// The length of a real-valued target vector; 0 when targets are labels only.
  virtual std::int64_t target_size() const = 0;

  /// Where every step of a sample has a class of its own: the number of classes. targets() gives them then, one number
  /// per step, and classes() is 0. A view must say what its base says.
  virtual std::int64_t step_classes() const { return 0; }

  /// Where samples are windows of longer sequences (step_windows.hpp): the windows of each, which are consecutive
  /// samples. Training takes them in their order, and carries the states of recurrent layers on.
  virtual std::int64_t windows() const { return 1; }

  /// x(f, j) = feature f of sample ids[j]: one row per feature, one column per sample, samples contiguous.
  /// x has features() rows and at least ids.size() columns; columns past ids.size() are untouched.
  virtual void gather(std::span<const std::int64_t> ids, Matrix<float> x) const = 0;
  virtual void gather(std::span<const std::int64_t> ids, Matrix<double> x) const = 0;

  /// Whether samples are sequences [features, steps] that end at different steps.
  virtual bool has_lengths() const { return false; }
  /// out[j] = the steps of sample ids[j], from 1 on; what stands behind them counts for nothing. Without lengths:
  /// all steps, the last extent of a sample.
  virtual void lengths(std::span<const std::int64_t> ids, std::span<std::int64_t> out) const;

  /// out[j] = the label of sample ids[j], in [0, classes()).
  virtual void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const = 0;

  /// t(k, j) = element k of the target of sample ids[j]; columns past ids.size() are untouched.
  virtual void targets(std::span<const std::int64_t> ids, Matrix<float> t) const = 0;
  virtual void targets(std::span<const std::int64_t> ids, Matrix<double> t) const = 0;

  /// Whether training takes the targets of labelled samples as numbers: targets() then gives as many as t has rows,
  /// and labels() the class that an answer is compared with.
  virtual bool has_soft_targets() const { return false; }

  /// Whether samples have weights of their own; else each counts 1. Only training looks at them. A view must say what
  /// its base says, so there is no default.
  virtual bool has_weights() const = 0;
  /// out[j] = the weight of sample ids[j]: finite, at least 0. Error(bug) where there are none.
  virtual void weights(std::span<const std::int64_t> ids, std::span<double> out) const;

  /// The samples as training sees them in this epoch (from 0), where that changes from epoch to epoch; null: they are
  /// always the same. This data set must outlive what is returned.
  virtual std::shared_ptr<const Dataset> for_epoch(std::int64_t /*epoch*/) const { return nullptr; }

  /// Whether prefetch does something: data in memory are not asked in every step. A view must say what its base says.
  virtual bool reads_ahead() const { return false; }
  /// These samples will be gathered next: a data set that reads them from files may begin to. Changes no result.
  virtual void prefetch(std::span<const std::int64_t> /*ids*/) const {}

  /// Feeds bytes that determine the features of these samples: the same data give the same bytes, other features
  /// others. Here what gather gives in float64; data sets that store them smaller feed what they store, which is
  /// faster.
  virtual void hash_features(std::span<const std::int64_t> ids, Sha256& sha) const;

  /// One line for people: "60000 samples [1,28,28] uint8, 10 classes".
  virtual std::string describe() const = 0;

  /// Elements per sample.
  std::int64_t features() const { return sample_shape().elements(); }
};

/// What a mean loss of these samples is taken over: samples, or, with a class per step, their steps.
std::int64_t target_count(const Dataset& data, std::span<const std::int64_t> ids);

/// first, first + 1, ...: `count` ids.
std::vector<std::int64_t> ids_from(std::int64_t first, std::int64_t count);

}  // namespace lockstep
