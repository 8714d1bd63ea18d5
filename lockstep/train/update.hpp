#pragma once
// From the summed gradient of a batch to the next weights: L2, clipping, the optimiser step.

#include <cstdint>
#include <vector>

#include "lockstep/kernels/table.hpp"
#include "lockstep/nn/parameters.hpp"
#include "lockstep/train/optimizer.hpp"

namespace lockstep {

/// The optimiser's state over the trainable part of the flat parameter vector.
template <class T>
class Update {
 public:
  Update(const OptimizerSpec& optimizer, const std::vector<ParameterInfo>& parameters, std::int64_t trainable);

  /// gradient += l2 * weight, for weights only.
  void add_l2(double l2, const T* parameters, T* gradient, const KernelTable<T>& kernels, KernelContext& context) const;

  /// Scales the gradient down to norm `limit` if it is longer. The norm is summed in double: blocks, then the block
  /// tree.
  void clip(double limit, T* gradient, const KernelTable<T>& kernels, KernelContext& context) const;

  /// One step at learning rate `rate`.
  void step(double rate, T* parameters, const T* gradient, const KernelTable<T>& kernels, KernelContext& context);

 private:
  void step_range(double rate, bool decays, std::int64_t first, std::int64_t count, T* parameters, const T* gradient,
                  const KernelTable<T>& kernels, KernelContext& context);

  OptimizerSpec optimizer_;
  std::vector<ParameterInfo> parameters_;  // the trainable ones
  std::int64_t trainable_;
  AlignedBuffer<T> first_, second_;  // state vectors
  double beta1_power_ = 1, beta2_power_ = 1;
};

/// |x|^2 in double: chains over blocks of kSquareBlock, then the block tree.
template <class T>
double square_norm(const T* x, std::int64_t count, const KernelTable<T>& kernels, KernelContext& context);

}  // namespace lockstep
