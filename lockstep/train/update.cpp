#include "lockstep/train/update.hpp"

#include <cmath>

namespace lockstep {

template <class T>
double square_norm(const T* x, std::int64_t count, const KernelTable<T>& kernels, KernelContext& context) {
  std::vector<double> partial(static_cast<std::size_t>((count + kSquareBlock - 1) / kSquareBlock));
  kernels.square_sums({.count = count, .x = x, .partial = partial.data()}, context);
  return block_tree(partial);
}

template <class T>
Update<T>::Update(const OptimizerSpec& optimizer, const std::vector<ParameterInfo>& parameters, std::int64_t trainable)
    : optimizer_(optimizer), trainable_(trainable) {
  for (const ParameterInfo& info : parameters)
    if (info.trainable()) parameters_.push_back(info);
  if (state_vectors(optimizer) >= 1) first_ = AlignedBuffer<T>(trainable);
  if (state_vectors(optimizer) >= 2) second_ = AlignedBuffer<T>(trainable);
}

template <class T>
void Update<T>::add_l2(double l2, const T* parameters, T* gradient, const KernelTable<T>& kernels,
                       KernelContext& context) const {
  for (const ParameterInfo& info : parameters_)
    if (info.role == Role::weight)
      kernels.add_l2(
          {.count = info.elements(), .l2 = T(l2), .w = parameters + info.offset, .g = gradient + info.offset}, context);
}

template <class T>
void Update<T>::clip(double limit, T* gradient, const KernelTable<T>& kernels, KernelContext& context) const {
  const double norm = std::sqrt(square_norm<T>(gradient, trainable_, kernels, context));
  if (norm > limit) kernels.scale_gradient({.count = trainable_, .factor = T(limit / norm), .g = gradient}, context);
}

template <class T>
void Update<T>::step(double rate, T* parameters, const T* gradient, const KernelTable<T>& kernels,
                     KernelContext& context) {
  if (const auto* adam = std::get_if<Adam>(&optimizer_)) {
    beta1_power_ *= adam->beta1;
    beta2_power_ *= adam->beta2;
  }
  const auto* adamw = std::get_if<AdamW>(&optimizer_);
  if (adamw != nullptr) {
    beta1_power_ *= adamw->beta1;
    beta2_power_ *= adamw->beta2;
    // Decay touches weights only, so tensors go one by one.
    for (const ParameterInfo& info : parameters_)
      step_range(rate, info.role == Role::weight, info.offset, info.elements(), parameters, gradient, kernels, context);
    return;
  }
  step_range(rate, false, 0, trainable_, parameters, gradient, kernels, context);
}

template <class T>
void Update<T>::step_range(double rate, bool decays, std::int64_t first, std::int64_t count, T* parameters,
                           const T* gradient, const KernelTable<T>& kernels, KernelContext& context) {
  const auto adam = [&](const auto& o, double decay) {
    kernels.adam_step({.count = count,
                       .rate = T(rate / (1 - beta1_power_)),
                       .inv_root2 = T(1 / std::sqrt(1 - beta2_power_)),
                       .beta1 = T(o.beta1),
                       .beta2 = T(o.beta2),
                       .eps = T(o.eps),
                       .decay_factor = decays ? T(1 - rate * decay) : T(1),
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
                          .lr = T(rate),
                          .alpha = T(r->alpha),
                          .eps = T(r->eps),
                          .g = gradient + first,
                          .w = parameters + first,
                          .v = first_.data() + first},
                         context);
  } else {
    const Sgd& s = std::get<Sgd>(optimizer_);
    kernels.sgd_step({.count = count,
                      .lr = T(rate),
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
template double square_norm<float>(const float*, std::int64_t, const KernelTable<float>&, KernelContext&);
template double square_norm<double>(const double*, std::int64_t, const KernelTable<double>&, KernelContext&);

}  // namespace lockstep
