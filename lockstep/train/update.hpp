#pragma once
// From the summed gradient of a batch to the next weights: L2 and the optimiser step.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/kernels/table.hpp"
#include "lockstep/nn/network.hpp"
#include "lockstep/train/optimizer.hpp"

namespace lockstep {

/// Whether a parameter ("4.body.1.weight") belongs to one of these layers ("4", "4.body.1").
bool is_frozen(std::string_view parameter, const std::vector<std::string>& frozen);

/// The optimiser's state over the trainable part of the flat parameter vector.
template <class T>
class Update {
 public:
  /// The state lies where the kernels that step it work.
  /// `frozen`: layers whose parameters stay as they are (is_frozen).
  Update(const OptimizerSpec& optimizer, const std::vector<ParameterInfo>& parameters,
         const std::vector<std::string>& frozen, std::int64_t trainable, Memory& where = host_memory());

  // Each works on elements [first, last) of the vectors, so members of a team can take a stretch each; none changes
  // anything outside it.

  /// gradient = 0 for frozen layers: with it no optimiser moves their parameters; they do not decay either.
  void clear_frozen(T* gradient, std::int64_t first, std::int64_t last, KernelContext& context) const;

  /// gradient += l2 * weight, for weights only.
  void add_l2(double l2, const T* parameters, T* gradient, std::int64_t first, std::int64_t last,
              const KernelTable<T>& kernels, KernelContext& context) const;

  /// Step number `step` (from 0) at learning rate `rate`.
  void step(double rate, std::int64_t step, T* parameters, const T* gradient, std::int64_t first, std::int64_t last,
            const KernelTable<T>& kernels, KernelContext& context);

  /// The state vectors; empty where the optimiser has none.
  const AlignedBuffer<T>& first() const { return first_; }
  const AlignedBuffer<T>& second() const { return second_; }
  /// The same, to be filled in; null where the optimiser has none.
  T* first_data() { return first_.size() > 0 ? first_.data() : nullptr; }
  T* second_data() { return second_.size() > 0 ? second_.data() : nullptr; }
  /// Both must have the sizes of the present ones.
  void set_state(AlignedBuffer<T> first, AlignedBuffer<T> second) {
    first_ = std::move(first);
    second_ = std::move(second);
  }

 private:
  /// The weights among elements [first, last): begin and end of each stretch.
  std::vector<std::int64_t> weights_between(std::int64_t first, std::int64_t last) const;

  OptimizerSpec optimizer_;
  std::vector<ParameterInfo> parameters_;  // those that are trained
  std::vector<ParameterInfo> frozen_;
  AlignedBuffer<T> first_, second_;  // state vectors
};

/// A running average of a vector: average = fma(share, x - average, average), element by element, in T. Elements that
/// never change keep their bits.
template <class T>
class RunningAverage {
 public:
  /// Lies where the kernels work. Zeros at first: a share of 1 makes it x.
  explicit RunningAverage(std::int64_t count, Memory& where = host_memory());

  void take(double share, const T* x, const KernelTable<T>& kernels, KernelContext& context);
  const AlignedBuffer<T>& values() const { return values_; }
  AlignedBuffer<T>& values() { return values_; }

 private:
  AlignedBuffer<T> values_, difference_;
};

/// |x|^2 in double: chains over blocks of kSquareBlock, then the block tree. Keeps its memory from call to call.
template <class T>
class SquareSum {
 public:
  double operator()(const T* x, std::int64_t count, const KernelTable<T>& kernels, KernelContext& context);

 private:
  AlignedBuffer<double> partial_;  // where the kernels work
  std::vector<double> host_;
};

/// l2/2 * |weights|^2; biases, scales and statistics excluded.
template <class T>
double l2_penalty(double l2, const Network& network, const T* parameters, SquareSum<T>& square_sum,
                  const KernelTable<T>& kernels, KernelContext& context);

/// Scales a gradient, or a stretch of it, whose norm is above `most` down to it.
template <class T>
void clip_gradient(double norm, double most, T* gradient, std::int64_t count, const KernelTable<T>& kernels,
                   KernelContext& context) {
  if (norm > most) kernels.scale_gradient({.count = count, .factor = T(most / norm), .g = gradient}, context);
}

}  // namespace lockstep
