// Losses: a vector of samples at a time goes down the outputs, so every sum is the naive chain. Limit: the polynomials
// of exp and log; one exponential per output, where naive takes two: of softmax dz keeps them until their sum is known.

#include "lockstep/kernels/loss.hpp"

#include "lockstep/kernels/simd/ops.hpp"

namespace lockstep::LOCKSTEP_SIMD {

namespace {

/// The targets of the samples in one vector.
template <class T, class End>
class Targets {
 public:
  LOCKSTEP_INLINE Targets(const LossGradient<T>& a, std::int64_t column, std::int64_t count, const End& end)
      : values_(a.targets.values), column_(column), end_(end), by_label_(a.targets.values.data == nullptr) {
    if (!by_label_) return;
    Word labels[Vec<T>::kWidth] = {};
    T numbers[Vec<T>::kWidth] = {};
    for (std::int64_t i = 0; i < count; ++i) {
      labels[i] = static_cast<Word>(a.targets.labels[column + i]);
      numbers[i] = static_cast<T>(a.targets.labels[column + i]);
    }
    __builtin_memcpy(&labels_, labels, sizeof(labels_));
    single_ = a.z.rows == 1;
    number_ = load(numbers);
  }

  /// The samples whose label is k.
  LOCKSTEP_INLINE Mask<T> labelled(std::int64_t k) const {
    return equal_bits<T>(labels_, math::Ops<Vec<T>>::set_bits(static_cast<Word>(k)));
  }
  /// Target k: the value, or the label's one-hot entry (the label itself for a single output).
  LOCKSTEP_INLINE Vec<T> operator[](std::int64_t k) const {
    if (!by_label_) return load(values_.row(k) + column_, end_);
    return single_ ? number_ : keep(labelled(k), broadcast(T(1)));
  }

 private:
  using Bits = typename Vec<T>::Bits;
  using Word = typename Vec<T>::Word;

  ConstMatrix<T> values_;
  std::int64_t column_;
  End end_;
  bool by_label_, single_ = false;
  Bits labels_{};
  Vec<T> number_{};
};

/// The factors of the samples' gradients.
template <class T, class End>
LOCKSTEP_INLINE Vec<T> scale_of(const LossGradient<T>& a, std::int64_t c, const End& end) {
  const Vec<T> scale = broadcast(a.scale);
  return a.weights == nullptr ? scale : scale * load(a.weights + c, end);
}

template <class T, class End>
LOCKSTEP_INLINE void set_loss(const LossGradient<T>& a, std::int64_t c, Vec<T> loss, const End& end) {
  store(a.loss + c, a.weights == nullptr ? loss : load(a.weights + c, end) * loss, end);
}

template <bool kSmooth, class T, class End>
LOCKSTEP_INLINE void softmax_cross_entropy(const LossGradient<T>& a, std::int64_t c, const Targets<T, End>& targets,
                                           const End& end) {
  const T on = T(1) - a.smoothing, off = a.smoothing / T(a.z.rows);
  [[maybe_unused]] const Vec<T> chosen_target = broadcast(on + off), other_target = broadcast(off);
  [[maybe_unused]] Vec<T> total = zero<T>();
  const Vec<T> largest = column_max(a.z, c, end), one = broadcast(T(1)), scale = scale_of(a, c, end);
  Vec<T> sum = zero<T>(), chosen = zero<T>();
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> below = load(a.z.row(k) + c, end) - largest, e = math::exp(below);
    sum = sum + e;
    chosen = select(targets.labelled(k), below, chosen);
    if constexpr (kSmooth) total = total + below;
    if (a.dz.data != nullptr) store(a.dz.row(k) + c, e, end);
  }
  if constexpr (kSmooth) chosen = fma(broadcast(on), chosen, broadcast(off) * total);
  set_loss(a, c, math::log(sum) - chosen, end);
  if (a.dz.data == nullptr) return;
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> p = load(a.dz.row(k) + c, end) / sum;
    if constexpr (kSmooth)
      store(a.dz.row(k) + c, scale * (p - select(targets.labelled(k), chosen_target, other_target)), end);
    else
      store(a.dz.row(k) + c, scale * select(targets.labelled(k), p - one, p), end);
  }
}

/// The same with targets as numbers.
template <class T, class End>
LOCKSTEP_INLINE void soft_cross_entropy(const LossGradient<T>& a, std::int64_t c, const Targets<T, End>& targets,
                                        const End& end) {
  const bool smooth = a.smoothing != T(0);
  const Vec<T> on = broadcast(T(1) - a.smoothing), off = broadcast(a.smoothing / T(a.z.rows));
  const Vec<T> largest = column_max(a.z, c, end), scale = scale_of(a, c, end);
  Vec<T> sum = zero<T>(), chosen = zero<T>();
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> below = load(a.z.row(k) + c, end) - largest, e = math::exp(below), t = targets[k];
    sum = sum + e;
    chosen = fma(smooth ? fma(on, t, off) : t, below, chosen);
    if (a.dz.data != nullptr) store(a.dz.row(k) + c, e, end);
  }
  set_loss(a, c, math::log(sum) - chosen, end);
  if (a.dz.data == nullptr) return;
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> t = targets[k];
    store(a.dz.row(k) + c, scale * (load(a.dz.row(k) + c, end) / sum - (smooth ? fma(on, t, off) : t)), end);
  }
}

template <class T, class End>
LOCKSTEP_INLINE void focal_loss(const LossGradient<T>& a, std::int64_t c, const Targets<T, End>& targets,
                                const End& end) {
  const Vec<T> largest = column_max(a.z, c, end), one = broadcast(T(1));
  Vec<T> sum = zero<T>(), chosen = zero<T>(), power = one;
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> below = load(a.z.row(k) + c, end) - largest, e = math::exp(below);
    sum = sum + e;
    chosen = select(targets.labelled(k), below, chosen);
    if (a.dz.data != nullptr) store(a.dz.row(k) + c, e, end);
  }
  const Vec<T> entropy = math::log(sum) - chosen, found = math::exp(chosen) / sum, missed = one - found;
  for (std::int32_t i = 1; i < a.gamma; ++i) power = power * missed;
  set_loss(a, c, (power * missed) * entropy, end);
  if (a.dz.data == nullptr) return;
  const Vec<T> slope = power * fma(broadcast(T(a.gamma)) * found, entropy, missed);
  const Vec<T> scale = scale_of(a, c, end) * slope;
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> p = load(a.dz.row(k) + c, end) / sum;
    store(a.dz.row(k) + c, scale * select(targets.labelled(k), p - one, p), end);
  }
}

template <class T, class End>
LOCKSTEP_INLINE void binary_cross_entropy(const LossGradient<T>& a, std::int64_t c, const Targets<T, End>& targets,
                                          const End& end) {
  const Vec<T> none = zero<T>(), scale = scale_of(a, c, end);
  Vec<T> sum = none;
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> z = load(a.z.row(k) + c, end), t = targets[k];
    const Vec<T> positive = larger(z, none), magnitude = select(z < none, -z, z), e = math::exp(-magnitude);
    sum = sum + (fma(-z, t, positive) + math::log1p(e));
    if (a.dz.data != nullptr) store(a.dz.row(k) + c, scale * (math::sigmoid_from(z, e) - t), end);
  }
  set_loss(a, c, sum, end);
}

template <class T, class End>
LOCKSTEP_INLINE void squared_error(const LossGradient<T>& a, std::int64_t c, const Targets<T, End>& targets,
                                   const End& end) {
  const Vec<T> half = broadcast(T(0.5)), scale = scale_of(a, c, end);
  Vec<T> sum = zero<T>();
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> difference = load(a.z.row(k) + c, end) - targets[k];
    sum = fma(half * difference, difference, sum);
    if (a.dz.data != nullptr) store(a.dz.row(k) + c, scale * difference, end);
  }
  set_loss(a, c, sum, end);
}

template <class T, class End>
LOCKSTEP_INLINE void huber_loss(const LossGradient<T>& a, std::int64_t c, const Targets<T, End>& targets,
                                const End& end) {
  const Vec<T> none = zero<T>(), half = broadcast(T(0.5)), delta = broadcast(a.delta), scale = scale_of(a, c, end);
  const Vec<T> half_delta = broadcast(T(0.5) * a.delta);
  Vec<T> sum = none;
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const Vec<T> difference = load(a.z.row(k) + c, end) - targets[k];
    const auto negative = difference < none;
    const Vec<T> magnitude = select(negative, -difference, difference);
    const auto far = delta < magnitude;
    sum = select(far, fma(delta, magnitude - half_delta, sum), fma(half * difference, difference, sum));
    const Vec<T> slope = select(far, select(negative, -delta, delta), difference);
    if (a.dz.data != nullptr) store(a.dz.row(k) + c, scale * slope, end);
  }
  set_loss(a, c, sum, end);
}

}  // namespace

template <class T>
void loss_gradient(const LossGradient<T>& a, KernelContext&) {
  for_vectors<T>(0, a.z.cols, [&](std::int64_t c, const auto& end) LOCKSTEP_INLINE_LAMBDA {
    const Targets<T, std::remove_cvref_t<decltype(end)>> targets(a, c, least(Vec<T>::kWidth, a.z.cols - c), end);
    switch (a.kind) {
      case Loss::cross_entropy:
        if (a.targets.values.data != nullptr) return soft_cross_entropy(a, c, targets, end);
        if (a.smoothing != T(0)) return softmax_cross_entropy<true>(a, c, targets, end);
        return softmax_cross_entropy<false>(a, c, targets, end);
      case Loss::binary_cross_entropy:
        return binary_cross_entropy(a, c, targets, end);
      case Loss::squared_error:
        return squared_error(a, c, targets, end);
      case Loss::focal:
        return focal_loss(a, c, targets, end);
      case Loss::huber:
        return huber_loss(a, c, targets, end);
    }
  });
}

LOCKSTEP_SIMD_INSTANTIATE(loss_gradient, LossGradient)

}  // namespace lockstep::LOCKSTEP_SIMD
