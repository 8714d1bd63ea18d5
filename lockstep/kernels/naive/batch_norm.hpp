#pragma once
#include "lockstep/kernels/batch_norm.hpp"
#include "lockstep/kernels/naive/lanes.hpp"
#include "lockstep/kernels/naive/variant.hpp"

namespace lockstep::LOCKSTEP_NAIVE {

/// Statistics of one channel in one slot into mean and inv_std, and the outputs of that slot.
template <class T>
void normalise_slot(const BatchNormForward<T>& a, std::int64_t channel, std::int64_t slot, T& var) {
  const std::int64_t first_row = channel * a.pixels;
  const T share = T(1) / T(a.pixels * a.slots.size(slot));
  const T mean = share * sum_over_slot<T>(a.slots, slot, {1, a.pixels},
                                          [&](std::int64_t, std::int64_t pixel, std::int64_t s, T sum) {
                                            return sum + a.x(first_row + pixel, s);
                                          });
  var = share *
        sum_over_slot<T>(a.slots, slot, {1, a.pixels}, [&](std::int64_t, std::int64_t pixel, std::int64_t s, T sum) {
          const T d = a.x(first_row + pixel, s) - mean;
          return fma(d, d, sum);
        });
  const T inv_std = T(1) / square_root(var + a.eps);
  a.mean[slot * a.channels + channel] = mean;
  a.inv_std[slot * a.channels + channel] = inv_std;
  const T scale = a.gamma[channel] * inv_std;
  for (std::int64_t pixel = 0; pixel < a.pixels; ++pixel)
    for (std::int64_t s = a.slots.begin(slot); s < a.slots.end(slot); ++s)
      a.y(first_row + pixel, s) = fma(a.x(first_row + pixel, s) - mean, scale, a.beta[channel]);
}

template <class T>
void batch_norm_forward(const BatchNormForward<T>& a) {
  struct Sums {
    T mean, var;
    Sums operator+(const Sums& o) const { return {mean + o.mean, var + o.var}; }
  };
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const auto slot_sums = [&](std::int64_t slot) {
      const std::int64_t count = a.pixels * a.slots.size(slot);
      if (count == 0) {
        a.mean[slot * a.channels + channel] = T(0);
        a.inv_std[slot * a.channels + channel] = T(0);
        return Sums{T(0), T(0)};
      }
      T var;
      normalise_slot(a, channel, slot, var);
      const T unbiased = count < 2 ? T(0) : var * (T(count) / T(count - 1));
      return Sums{T(count) * a.mean[slot * a.channels + channel], T(count) * unbiased};
    };
    const Sums sums = slot_tree(slot_sums, 0, a.slots.count());
    a.sum_mean[channel] = sums.mean;
    a.sum_var[channel] = sums.var;
  }
}

template <class T>
void batch_norm_backward(const BatchNormBackward<T>& a) {
  struct Sums {
    T dbeta, dgamma;
    Sums operator+(const Sums& o) const { return {dbeta + o.dbeta, dgamma + o.dgamma}; }
  };
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const std::int64_t first_row = channel * a.pixels;
    const auto slot_sums = [&](std::int64_t slot) {
      if (a.slots.size(slot) == 0) return Sums{T(0), T(0)};
      const T mean = a.mean[slot * a.channels + channel], inv_std = a.inv_std[slot * a.channels + channel];
      const T p = sum_over_slot<T>(
          a.slots, slot, {1, a.pixels},
          [&](std::int64_t, std::int64_t pixel, std::int64_t s, T sum) { return sum + a.dy(first_row + pixel, s); });
      const T q =
          inv_std *
          sum_over_slot<T>(a.slots, slot, {1, a.pixels}, [&](std::int64_t, std::int64_t pixel, std::int64_t s, T sum) {
            return fma(a.dy(first_row + pixel, s), a.x(first_row + pixel, s) - mean, sum);
          });
      const T share = T(1) / T(a.pixels * a.slots.size(slot));
      const T scale = a.gamma[channel] * inv_std;
      const T slope = -(scale * inv_std) * (q * share), shift = -scale * (p * share);
      if (a.dx.data != nullptr)
        for (std::int64_t pixel = 0; pixel < a.pixels; ++pixel)
          for (std::int64_t s = a.slots.begin(slot); s < a.slots.end(slot); ++s) {
            const T centred = a.x(first_row + pixel, s) - mean;
            a.dx(first_row + pixel, s) = fma(scale, a.dy(first_row + pixel, s), fma(slope, centred, shift));
          }
      return Sums{p, q};
    };
    const Sums sums = slot_tree(slot_sums, 0, a.slots.count());
    a.dbeta[channel] = sums.dbeta;
    a.dgamma[channel] = sums.dgamma;
  }
}

template <class T>
void batch_norm_inference(const BatchNormInference<T>& a) {
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const T scale = a.gamma[channel] / square_root(a.running_var[channel] + a.eps);
    for (std::int64_t row = channel * a.pixels; row < (channel + 1) * a.pixels; ++row)
      for (std::int64_t s = 0; s < a.y.cols; ++s)
        a.y(row, s) = fma(a.x(row, s) - a.running_mean[channel], scale, a.beta[channel]);
  }
}

template <class T>
void batch_norm_sums(const BatchNormSums<T>& a) {
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const std::int64_t first_row = channel * a.pixels;
    const auto slot_sum = [&](std::int64_t slot) {
      if (a.slots.size(slot) == 0) return T(0);
      return sum_over_slot<T>(a.slots, slot, {1, a.pixels},
                              [&](std::int64_t, std::int64_t pixel, std::int64_t s, T sum) {
                                if (a.centre == nullptr) return sum + a.x(first_row + pixel, s);
                                const T d = a.x(first_row + pixel, s) - a.centre[channel];
                                return fma(d, d, sum);
                              });
    };
    a.sum[channel] = slot_tree(slot_sum, 0, a.slots.count());
  }
}

template <class T>
void batch_norm_normalise(const BatchNormNormalise<T>& a) {
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const T scale = a.gamma[channel] * a.inv_std[channel];
    for (std::int64_t row = channel * a.pixels; row < (channel + 1) * a.pixels; ++row)
      for (std::int64_t s = 0; s < a.y.cols; ++s)
        a.y(row, s) = fma(a.x(row, s) - a.mean[channel], scale, a.beta[channel]);
  }
}

template <class T>
void batch_norm_backward_data(const BatchNormBackwardData<T>& a) {
  for (std::int64_t channel = 0; channel < a.channels; ++channel) {
    const T inv_std = a.inv_std[channel], scale = a.gamma[channel] * inv_std;
    const T slope = -(scale * inv_std) * (a.q[channel] * a.share), shift = -scale * (a.p[channel] * a.share);
    for (std::int64_t row = channel * a.pixels; row < (channel + 1) * a.pixels; ++row)
      for (std::int64_t s = 0; s < a.dx.cols; ++s)
        a.dx(row, s) = fma(scale, a.dy(row, s), fma(slope, a.x(row, s) - a.mean[channel], shift));
  }
}

template <class T>
void running_update(const RunningUpdate<T>& a) {
  const T rest = T(1) - a.momentum;
  for (std::int64_t c = 0; c < a.count; ++c) {
    const T kept = rest * a.running[c];
    a.running[c] = kept + a.momentum * (a.sum[c] / a.elements);
  }
}

}  // namespace lockstep::LOCKSTEP_NAIVE
