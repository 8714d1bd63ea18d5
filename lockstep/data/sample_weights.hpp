#pragma once
// How much each sample counts in a training: the weight that the data set gives it (Dataset::weights), times the weight
// of its class. docs/design/0029-training.md says what a mean over weighted samples is.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lockstep/data/dataset.hpp"

namespace lockstep {

/// The weights of classes 0, 1, ...; or `balanced`: samples / (classes with samples * samples of the class), so that
/// every class counts the same and the mean over the training set is 1.
struct ClassWeights {
  bool balanced = false;
  std::vector<double> values{};  // empty: every class has weight 1

  bool any() const { return balanced || !values.empty(); }
  friend bool operator==(const ClassWeights&, const ClassWeights&) = default;
};

/// What is wrong with a list of weights: one is negative or not finite, or all are 0; "" where nothing is. `each` names
/// an entry: "class", "sample".
std::string weights_fault(std::span<const double> weights, std::string_view each);

/// The weights of a training on one data set. `data` must outlive it.
class SampleWeights {
 public:
  /// Error(usage) where there are class weights but no labels, or not one weight per class; Error(data) where every
  /// sample has weight 0.
  SampleWeights(const Dataset& data, const ClassWeights& classes);

  /// False: every sample has weight 1, and no product is taken.
  bool any() const { return data_.has_weights() || !by_class_.empty(); }
  /// out[j] = T(the data set's weight of sample ids[j] * the weight of its class), the product in double.
  template <class T>
  void gather(std::span<const std::int64_t> ids, std::span<T> out) const;
  /// A chain over the ids, in their order, of their weights in double; the number of ids where there are no weights.
  double sum(std::span<const std::int64_t> ids) const;

 private:
  template <class Use>
  void for_groups(std::span<const std::int64_t> ids, const Use& use) const;

  const Dataset& data_;
  std::vector<double> by_class_;  // empty: none
};

}  // namespace lockstep
