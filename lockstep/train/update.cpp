#include "lockstep/train/update.hpp"

#include <algorithm>
#include <cmath>

#include "lockstep/kernels/device/device.hpp"

namespace lockstep {

namespace {

/// base^n by squaring: the same bits everywhere, and no state to keep between steps.
double power(double base, std::int64_t n) {
  double result = 1;
  for (; n > 0; n /= 2, base *= base)
    if (n % 2 == 1) result *= base;
  return result;
}

}  // namespace

template <class T>
double SquareSum<T>::operator()(const T* x, std::int64_t count, const KernelTable<T>& kernels, KernelContext& context) {
  const std::int64_t blocks = (count + kSquareBlock - 1) / kSquareBlock;
  if (blocks == 0) return 0;
  if (partial_.size() < blocks) partial_ = AlignedBuffer<double>(blocks, context.memory());
  kernels.square_sums({.count = count, .x = x, .partial = partial_.data()}, context);
  if (&context.memory() == &host_memory())
    return block_tree(std::span<const double>(partial_.data(), static_cast<std::size_t>(blocks)));
  host_.resize(static_cast<std::size_t>(blocks));
  context.device().to_host(host_.data(), partial_.data(), blocks * 8);
  return block_tree(host_);
}

template <class T>
double l2_penalty(double l2, const Network& network, const T* parameters, SquareSum<T>& square_sum,
                  const KernelTable<T>& kernels, KernelContext& context) {
  if (l2 == 0) return 0;
  double sum = 0;
  for (const ParameterInfo& info : network.parameters())
    if (info.role == Role::weight) sum += square_sum(parameters + info.offset, info.elements(), kernels, context);
  return l2 / 2 * sum;
}

template <class T>
Update<T>::Update(const OptimizerSpec& optimizer, const std::vector<ParameterInfo>& parameters, std::int64_t trainable,
                  Memory& where)
    : optimizer_(optimizer) {
  for (const ParameterInfo& info : parameters)
    if (info.trainable()) parameters_.push_back(info);
  if (state_vectors(optimizer) >= 1) first_ = AlignedBuffer<T>(trainable, where);
  if (state_vectors(optimizer) >= 2) second_ = AlignedBuffer<T>(trainable, where);
}

template <class T>
void Update<T>::add_l2(double l2, const T* parameters, T* gradient, std::int64_t first, std::int64_t last,
                       const KernelTable<T>& kernels, KernelContext& context) const {
  if (l2 == 0) return;
  for (const ParameterInfo& info : parameters_) {
    const std::int64_t from = std::max(first, info.offset), to = std::min(last, info.offset + info.elements());
    if (info.role == Role::weight && from < to)
      kernels.add_l2({.count = to - from, .l2 = T(l2), .w = parameters + from, .g = gradient + from}, context);
  }
}

template <class T>
void Update<T>::step(double rate, std::int64_t step, T* parameters, const T* gradient, std::int64_t first,
                     std::int64_t last, const KernelTable<T>& kernels, KernelContext& context) {
  const auto bias = [&](double beta) { return 1 - power(beta, step + 1); };
  Coefficients c{rate, 1, 1};
  if (const auto* adam = std::get_if<Adam>(&optimizer_)) c = {rate, bias(adam->beta1), bias(adam->beta2)};
  if (const auto* adamw = std::get_if<AdamW>(&optimizer_)) {
    c = {rate, bias(adamw->beta1), bias(adamw->beta2)};
    // Decay touches weights only, so tensors go one by one.
    for (const ParameterInfo& info : parameters_) {
      const std::int64_t from = std::max(first, info.offset), to = std::min(last, info.offset + info.elements());
      if (from < to) step_range(c, info.role == Role::weight, parameters, gradient, from, to, kernels, context);
    }
    return;
  }
  if (first < last) step_range(c, false, parameters, gradient, first, last, kernels, context);
}

template <class T>
void Update<T>::step_range(const Coefficients& c, bool decays, T* parameters, const T* gradient, std::int64_t first,
                           std::int64_t last, const KernelTable<T>& kernels, KernelContext& context) {
  const std::int64_t count = last - first;
  const auto adam = [&](const auto& o, double decay) {
    kernels.adam_step({.count = count,
                       .rate = T(c.rate / c.bias1),
                       .inv_root2 = T(1 / std::sqrt(c.bias2)),
                       .beta1 = T(o.beta1),
                       .beta2 = T(o.beta2),
                       .eps = T(o.eps),
                       .decay_factor = decays ? T(1 - c.rate * decay) : T(1),
                       .g = gradient + first,
                       .w = parameters + first,
                       .m = first_.data() + first,
                       .v = second_.data() + first},
                      context);
  };
  if (const auto* o = std::get_if<Adam>(&optimizer_)) {
    adam(*o, 0);
  } else if (const auto* w = std::get_if<AdamW>(&optimizer_)) {
    adam(*w, w->weight_decay);
  } else if (const auto* r = std::get_if<RmsProp>(&optimizer_)) {
    kernels.rmsprop_step({.count = count,
                          .lr = T(c.rate),
                          .alpha = T(r->alpha),
                          .eps = T(r->eps),
                          .g = gradient + first,
                          .w = parameters + first,
                          .v = first_.data() + first},
                         context);
  } else {
    const Sgd& s = std::get<Sgd>(optimizer_);
    kernels.sgd_step({.count = count,
                      .lr = T(c.rate),
                      .momentum = T(s.momentum),
                      .nesterov = s.nesterov,
                      .g = gradient + first,
                      .w = parameters + first,
                      .v = s.momentum == 0 ? nullptr : first_.data() + first},
                     context);
  }
}

template class Update<float>;
template class Update<double>;
template class SquareSum<float>;
template class SquareSum<double>;
template double l2_penalty(double, const Network&, const float*, SquareSum<float>&, const KernelTable<float>&,
                           KernelContext&);
template double l2_penalty(double, const Network&, const double*, SquareSum<double>&, const KernelTable<double>&,
                           KernelContext&);

}  // namespace lockstep
