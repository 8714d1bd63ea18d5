#pragma once
#include "lockstep/kernels/loss.hpp"
#include "lockstep/kernels/math/elementary.hpp"
#include "lockstep/kernels/naive/softmax.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

/// Target k of sample s: the value, or the label's one-hot entry (the label itself for a single output).
template <class T>
T target(const LossGradient<T>& a, std::int64_t k, std::int64_t s) {
  if (a.targets.values.data != nullptr) return a.targets.values(k, s);
  if (a.z.rows == 1) return T(a.targets.labels[s]);
  return a.targets.labels[s] == k ? T(1) : T(0);
}

/// The factor of a sample's gradient.
template <class T>
T scale_of(const LossGradient<T>& a, std::int64_t s) {
  return a.weights == nullptr ? a.scale : a.scale * a.weights[s];
}

template <class T>
void set_loss(const LossGradient<T>& a, std::int64_t s, T loss) {
  a.loss[s] = a.weights == nullptr ? loss : a.weights[s] * loss;
}

template <class T>
void softmax_cross_entropy(const LossGradient<T>& a, std::int64_t s) {
  const T largest = column_max(a.z, s);
  const std::int64_t label = a.targets.labels[s];
  const T on = T(1) - a.smoothing, off = a.smoothing / T(a.z.rows);
  T sum = T(0), below = T(0);
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    sum = sum + math::exp(a.z(k, s) - largest);
    below = below + (a.z(k, s) - largest);
  }
  const T chosen = a.z(label, s) - largest;
  set_loss(a, s, math::log(sum) - (a.smoothing == T(0) ? chosen : fma(on, chosen, off * below)));
  if (a.dz.data == nullptr) return;
  const T scale = scale_of(a, s);
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const T p = math::exp(a.z(k, s) - largest) / sum;
    if (a.smoothing == T(0))
      a.dz(k, s) = scale * (k == label ? p - T(1) : p);
    else
      a.dz(k, s) = scale * (p - (k == label ? on + off : off));
  }
}

/// The same with targets as numbers.
template <class T>
void soft_cross_entropy(const LossGradient<T>& a, std::int64_t s) {
  const T largest = column_max(a.z, s);
  const T on = T(1) - a.smoothing, off = a.smoothing / T(a.z.rows);
  const auto wanted = [&](std::int64_t k) {
    const T t = a.targets.values(k, s);
    return a.smoothing == T(0) ? t : fma(on, t, off);
  };
  T sum = T(0), chosen = T(0);
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    sum = sum + math::exp(a.z(k, s) - largest);
    chosen = fma(wanted(k), a.z(k, s) - largest, chosen);
  }
  set_loss(a, s, math::log(sum) - chosen);
  if (a.dz.data == nullptr) return;
  const T scale = scale_of(a, s);
  for (std::int64_t k = 0; k < a.z.rows; ++k) a.dz(k, s) = scale * (math::exp(a.z(k, s) - largest) / sum - wanted(k));
}

template <class T>
void focal_loss(const LossGradient<T>& a, std::int64_t s) {
  const T largest = column_max(a.z, s);
  const std::int64_t label = a.targets.labels[s];
  T sum = T(0);
  for (std::int64_t k = 0; k < a.z.rows; ++k) sum = sum + math::exp(a.z(k, s) - largest);
  const T entropy = math::log(sum) - (a.z(label, s) - largest);
  const T found = math::exp(a.z(label, s) - largest) / sum, missed = T(1) - found;
  T power = T(1);
  for (std::int32_t i = 1; i < a.gamma; ++i) power = power * missed;
  set_loss(a, s, (power * missed) * entropy);
  if (a.dz.data == nullptr) return;
  const T scale = scale_of(a, s) * (power * fma(T(a.gamma) * found, entropy, missed));
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const T p = math::exp(a.z(k, s) - largest) / sum;
    a.dz(k, s) = scale * (k == label ? p - T(1) : p);
  }
}

template <class T>
void binary_cross_entropy(const LossGradient<T>& a, std::int64_t s) {
  const T scale = scale_of(a, s);
  T sum = T(0);
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const T z = a.z(k, s), t = target(a, k, s);
    const T positive = z > T(0) ? z : T(0), magnitude = z < T(0) ? -z : z;
    sum = sum + (fma(-z, t, positive) + math::log1p(math::exp(-magnitude)));
    if (a.dz.data != nullptr) a.dz(k, s) = scale * (math::sigmoid(z) - t);
  }
  set_loss(a, s, sum);
}

template <class T>
void squared_error(const LossGradient<T>& a, std::int64_t s) {
  const T scale = scale_of(a, s);
  T sum = T(0);
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const T difference = a.z(k, s) - target(a, k, s);
    sum = fma(T(0.5) * difference, difference, sum);
    if (a.dz.data != nullptr) a.dz(k, s) = scale * difference;
  }
  set_loss(a, s, sum);
}

template <class T>
void huber_loss(const LossGradient<T>& a, std::int64_t s) {
  const T scale = scale_of(a, s), half = T(0.5) * a.delta;
  T sum = T(0);
  for (std::int64_t k = 0; k < a.z.rows; ++k) {
    const T difference = a.z(k, s) - target(a, k, s), magnitude = difference < T(0) ? -difference : difference;
    const bool far = a.delta < magnitude;
    sum = far ? fma(a.delta, magnitude - half, sum) : fma(T(0.5) * difference, difference, sum);
    if (a.dz.data != nullptr) a.dz(k, s) = scale * (far ? (difference < T(0) ? -a.delta : a.delta) : difference);
  }
  set_loss(a, s, sum);
}

template <class T>
void loss_gradient(const LossGradient<T>& a) {
  for (std::int64_t s = 0; s < a.z.cols; ++s) switch (a.kind) {
      case Loss::cross_entropy:
        a.targets.values.data != nullptr ? soft_cross_entropy(a, s) : softmax_cross_entropy(a, s);
        break;
      case Loss::binary_cross_entropy:
        binary_cross_entropy(a, s);
        break;
      case Loss::squared_error:
        squared_error(a, s);
        break;
      case Loss::focal:
        focal_loss(a, s);
        break;
      case Loss::huber:
        huber_loss(a, s);
        break;
    }
}

template <class T>
std::int32_t predicted_class(ConstMatrix<T> z, std::int64_t sample, Loss loss) {
  if (z.rows == 1) return z(0, sample) >= (is_of_values(loss) ? T(0.5) : T(0)) ? 1 : 0;
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < z.rows; ++k)
    if (z(k, sample) > z(best, sample)) best = k;
  return static_cast<std::int32_t>(best);
}

template <class T>
void score_slots(const ScoreSlots<T>& a) {
  for (std::int64_t slot = 0; slot < a.slots.count(); ++slot) {
    double sum = 0;
    std::int64_t correct = 0;
    for (std::int64_t s = a.slots.begin(slot); s < a.slots.end(slot); ++s)
      for (std::int64_t t = 0; t < (a.lengths == nullptr ? a.steps : a.lengths[s]); ++t) {
        const std::int64_t column = t * a.step_stride + s;
        sum += static_cast<double>(a.loss[column]);
        if (a.labels != nullptr && predicted_class(a.z, column, a.kind) == a.labels[column]) ++correct;
      }
    a.sum[slot] = sum;
    a.correct[slot] = correct;
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
