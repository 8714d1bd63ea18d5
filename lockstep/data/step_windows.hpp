#pragma once
// Sequences cut into windows of equally many steps: what truncated back-propagation through time trains on.

#include <memory>
#include <string>

#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// Sample i is window i % windows() of sequence i / windows() of `base`: steps [w * steps, (w + 1) * steps) of samples
/// [features, steps] or [steps] that have a class for every step.
class StepWindows final : public Dataset {
 public:
  /// `base` must outlive it. Error(usage), which begins with `key`, where it cannot be cut so.
  StepWindows(const Dataset& base, std::int64_t steps, const std::string& key);

  std::int64_t size() const override { return base_.size() * windows_; }
  Shape sample_shape() const override;
  std::int64_t classes() const override { return 0; }
  std::int64_t target_size() const override { return steps_; }
  std::int64_t step_classes() const override { return base_.step_classes(); }
  std::int64_t windows() const override { return windows_; }
  void gather(std::span<const std::int64_t> ids, Matrix<float> x) const override;
  void gather(std::span<const std::int64_t> ids, Matrix<double> x) const override;
  void labels(std::span<const std::int64_t> ids, std::span<std::int32_t> out) const override { base_.labels(ids, out); }
  void targets(std::span<const std::int64_t> ids, Matrix<float> t) const override;
  void targets(std::span<const std::int64_t> ids, Matrix<double> t) const override;
  bool has_weights() const override { return false; }
  bool reads_ahead() const override { return base_.reads_ahead(); }
  void prefetch(std::span<const std::int64_t> ids) const override;
  std::string describe() const override;

 private:
  template <class T, class Read>
  void cut(std::span<const std::int64_t> ids, Matrix<T> to, const Read& read) const;

  const Dataset& base_;
  std::int64_t steps_, windows_ = 1;
};

}  // namespace lockstep
