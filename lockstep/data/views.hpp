#pragma once
// Data sets made of other data sets, without copying a sample.

#include <memory>
#include <string>
#include <vector>

#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// Sample i is sample ids[i] of `base`: a limit, a part of a split, a shuffle.
class SubsetDataset final : public Dataset {
 public:
  SubsetDataset(std::shared_ptr<const Dataset> base, std::vector<std::int64_t> ids);
  /// Samples [first, first + count) of `base`.
  SubsetDataset(std::shared_ptr<const Dataset> base, std::int64_t first, std::int64_t count);

  std::int64_t size() const override { return static_cast<std::int64_t>(ids_.size()); }
  Shape sample_shape() const override { return base_->sample_shape(); }
  std::int64_t classes() const override { return base_->classes(); }
  std::int64_t target_size() const override { return base_->target_size(); }
  std::int64_t step_classes() const override { return base_->step_classes(); }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override;
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override;
  bool has_lengths() const override { return base_->has_lengths(); }
  void lengths(std::span<const std::int64_t> ids, std::span<std::int64_t> out) const override;
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override;
  bool has_weights() const override { return base_->has_weights(); }
  void weights(std::span<const std::int64_t> ids, std::span<double> out) const override;
  void hash_features(std::span<const std::int64_t> ids, Sha256& sha) const override;
  bool reads_ahead() const override { return base_->reads_ahead(); }
  void prefetch(std::span<const std::int64_t> ids) const override;
  std::string describe() const override;

 private:
  template <class Use>
  void translate(std::span<const std::int64_t> ids, const Use& use) const;

  std::shared_ptr<const Dataset> base_;
  std::vector<std::int64_t> ids_;
};

/// Labels also as real targets: t(k, j) = 1 where k is the label of sample j, else 0. The labels stay readable.
class OneHotDataset final : public Dataset {
 public:
  /// Error(usage) when `base` has no labels.
  explicit OneHotDataset(std::shared_ptr<const Dataset> base);

  std::int64_t size() const override { return base_->size(); }
  Shape sample_shape() const override { return base_->sample_shape(); }
  std::int64_t classes() const override { return base_->classes(); }
  std::int64_t target_size() const override { return base_->classes(); }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override { base_->gather(ids, x); }
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override { base_->gather(ids, x); }
  bool has_lengths() const override { return base_->has_lengths(); }
  void lengths(std::span<const std::int64_t> ids, std::span<std::int64_t> out) const override {
    base_->lengths(ids, out);
  }
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override;
  bool has_weights() const override { return base_->has_weights(); }
  void weights(std::span<const std::int64_t> ids, std::span<double> out) const override { base_->weights(ids, out); }
  bool reads_ahead() const override { return base_->reads_ahead(); }
  void prefetch(std::span<const std::int64_t> ids) const override { base_->prefetch(ids); }
  void hash_features(std::span<const std::int64_t> ids, Sha256& sha) const override { base_->hash_features(ids, sha); }
  std::string describe() const override;

 private:
  template <class T>
  void one_hot(std::span<const std::int64_t> ids, Matrix<T> t) const;

  std::shared_ptr<const Dataset> base_;
};

}  // namespace lockstep
