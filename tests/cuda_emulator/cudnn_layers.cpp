// The emulated cuDNN: pooling and batch normalisation.

#include <cmath>

#include "cudnn.hpp"

using namespace cuda_emulator::dnn;

namespace {

int check(const Pooling& p, const Tensor& x, const Tensor& y) {
  if (!p.set || !x.set || !y.set || x.type != y.type || x.n != y.n || x.c != y.c) return kWrong;
  const bool fits = y.h == (x.h + 2 * p.pad_h - p.window_h) / p.stride_h + 1 &&
                    y.w == (x.w + 2 * p.pad_w - p.window_w) / p.stride_w + 1;
  return fits ? int{kCudnnSuccess} : kWrong;
}

/// For every output: visit(n, c, oy, ox, taps), where taps(tap) calls tap(iy, ix) inside the image.
template <class Visit>
void for_each_window(const Pooling& p, const Tensor& x, const Tensor& y, const Visit& visit) {
  for (Index n = 0; n < y.n; ++n)
    for (Index c = 0; c < y.c; ++c)
      for (Index oy = 0; oy < y.h; ++oy)
        for (Index ox = 0; ox < y.w; ++ox)
          visit(n, c, oy, ox, [&, oy, ox](const auto& tap) {
            for (Index ky = 0; ky < p.window_h; ++ky)
              for (Index kx = 0; kx < p.window_w; ++kx) {
                const Index iy = oy * p.stride_h + ky - p.pad_h, ix = ox * p.stride_w + kx - p.pad_w;
                if (iy >= 0 && iy < x.h && ix >= 0 && ix < x.w) tap(iy, ix);
              }
          });
}

int check(int mode, const Tensor& x, const Tensor& y, const Tensor& per_channel) {
  if (mode != kCudnnBatchNormSpatial || !x.same_shape(y) || !per_channel.set) return kWrong;
  const bool fits = per_channel.n == 1 && per_channel.c == x.c && per_channel.h == 1 && per_channel.w == 1 &&
                    per_channel.type == x.type && per_channel.packed();
  return fits ? int{kCudnnSuccess} : kWrong;
}

}  // namespace

extern "C" {

int cudnnCreatePoolingDescriptor(void** pooling) { return make<Pooling>(pooling); }
int cudnnDestroyPoolingDescriptor(void* pooling) { return destroy<Pooling>(pooling); }
int cudnnSetPooling2dDescriptor(void* pooling, int mode, int, int window_h, int window_w, int pad_h, int pad_w,
                                int stride_h, int stride_w) {
  if (mode != kCudnnPoolingAverageWithPadding && mode != kCudnnPoolingMaxDeterministic) return kWrong;
  if (window_h < 1 || window_w < 1 || pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1) return kWrong;
  *static_cast<Pooling*>(pooling) = {true, mode, window_h, window_w, pad_h, pad_w, stride_h, stride_w};
  return kCudnnSuccess;
}
int cudnnPoolingForward(void* handle, void* pooling, const void* alpha, void* x_tensor, const void* x_data,
                        const void* beta, void* y_tensor, void* y_data) {
  const Pooling p = get<Pooling>(pooling);
  const Tensor x = tensor(x_tensor), y = tensor(y_tensor);
  if (const int status = check(p, x, y); status != kCudnnSuccess) return status;
  return with_type(x.type, [&](auto zero) {
    using T = decltype(zero);
    T *const from = data<T>(x, x_data), *const to = data<T>(y, y_data);
    if (from == nullptr || to == nullptr || !overwrites<T>(alpha, beta)) return kWrong;
    return enqueue(handle, [=] {
      for_each_window(p, x, y, [&](Index n, Index c, Index oy, Index ox, const auto& taps) {
        T sum = 0, best = -INFINITY;
        taps([&](Index iy, Index ix) {
          const T value = from[x.at(n, c, iy, ix)];
          sum += value;
          if (!(value <= best)) best = value;
        });
        to[y.at(n, c, oy, ox)] = p.mode == kCudnnPoolingMaxDeterministic ? best : sum / T(p.window_h * p.window_w);
      });
    });
  });
}
int cudnnPoolingBackward(void* handle, void* pooling, const void* alpha, void* y_tensor, const void* y_data,
                         void* dy_tensor, const void* dy_data, void* x_tensor, const void* x_data, const void* beta,
                         void* dx_tensor, void* dx_data) {
  const Pooling p = get<Pooling>(pooling);
  const Tensor x = tensor(x_tensor), y = tensor(y_tensor), dy = tensor(dy_tensor), dx = tensor(dx_tensor);
  if (!x.same_shape(dx) || !y.same_shape(dy)) return kWrong;
  if (const int status = check(p, x, y); status != kCudnnSuccess) return status;
  if (p.window_h > 4 || p.window_w > 4) return kCudnnNotSupported;
  return with_type(x.type, [&](auto zero) {
    using T = decltype(zero);
    const T *const in = data<T>(x, x_data), *const out = data<T>(y, y_data), *const given = data<T>(dy, dy_data);
    T* const to = data<T>(dx, dx_data);
    if (in == nullptr || out == nullptr || given == nullptr || to == nullptr || !overwrites<T>(alpha, beta))
      return kWrong;
    return enqueue(handle, [=] {
      for (Index c = 0; c < dx.c; ++c) for_each_of(c, dx, dx, [&](Index at, Index) { to[at] = 0; });
      for_each_window(p, x, y, [&](Index n, Index c, Index oy, Index ox, const auto& taps) {
        const T gradient = given[dy.at(n, c, oy, ox)];
        bool taken = false;
        taps([&](Index iy, Index ix) {
          T& sum = to[dx.at(n, c, iy, ix)];
          if (p.mode != kCudnnPoolingMaxDeterministic)
            sum += gradient / T(p.window_h * p.window_w);
          else if (!taken && in[x.at(n, c, iy, ix)] == out[y.at(n, c, oy, ox)])
            taken = true, sum += gradient;
        });
      });
    });
  });
}

int cudnnBatchNormalizationForwardTraining(void* handle, int mode, const void* alpha, const void* beta, void* x_tensor,
                                           const void* x_data, void* y_tensor, void* y_data, void* per_channel,
                                           const void* scale, const void* bias, double factor, void* running_mean,
                                           void* running_var, double eps, void* mean, void* inv_std) {
  const Tensor x = tensor(x_tensor), y = tensor(y_tensor);
  if (const int status = check(mode, x, y, tensor(per_channel)); status != kCudnnSuccess) return status;
  return with_type(x.type, [&](auto zero) {
    using T = decltype(zero);
    T *const from = data<T>(x, x_data), *const to = data<T>(y, y_data);
    T *const gammas = numbers<T>(scale, x.c), *const betas = numbers<T>(bias, x.c);
    T *const means = numbers<T>(mean, x.c), *const inverses = numbers<T>(inv_std, x.c);
    T *const averages = numbers<T>(running_mean, x.c), *const variances = numbers<T>(running_var, x.c);
    for (const T* const p : {from, to, gammas, betas, means, inverses, averages, variances})
      if (p == nullptr) return kWrong;
    if (!overwrites<T>(alpha, beta) || eps < 0 || from == to) return kWrong;
    return enqueue(handle, [=] {
      const T count = T(x.n * x.h * x.w);
      for (Index c = 0; c < x.c; ++c) {
        T sum = 0, squares = 0;
        for_each_of(c, x, x, [&](Index at, Index) { sum += from[at]; });
        const T average = sum / count;
        for_each_of(c, x, x, [&](Index at, Index) { squares += (from[at] - average) * (from[at] - average); });
        const T variance = squares / count, inverse = 1 / std::sqrt(variance + T(eps));
        for_each_of(c, x, y, [&](Index at_x, Index at_y) {
          to[at_y] = (from[at_x] - average) * (gammas[c] * inverse) + betas[c];
        });
        means[c] = average;
        inverses[c] = inverse;
        averages[c] = averages[c] * T(1 - factor) + average * T(factor);
        variances[c] = variances[c] * T(1 - factor) + variance * (count / (count - 1)) * T(factor);
      }
    });
  });
}
int cudnnBatchNormalizationForwardInference(void* handle, int mode, const void* alpha, const void* beta, void* x_tensor,
                                            const void* x_data, void* y_tensor, void* y_data, void* per_channel,
                                            const void* scale, const void* bias, const void* mean, const void* var,
                                            double eps) {
  const Tensor x = tensor(x_tensor), y = tensor(y_tensor);
  if (const int status = check(mode, x, y, tensor(per_channel)); status != kCudnnSuccess) return status;
  return with_type(x.type, [&](auto zero) {
    using T = decltype(zero);
    T *const from = data<T>(x, x_data), *const to = data<T>(y, y_data);
    const T *const gammas = numbers<T>(scale, x.c), *const betas = numbers<T>(bias, x.c);
    const T *const means = numbers<T>(mean, x.c), *const variances = numbers<T>(var, x.c);
    for (const T* const p : {static_cast<const T*>(from), static_cast<const T*>(to), gammas, betas, means, variances})
      if (p == nullptr) return kWrong;
    if (!overwrites<T>(alpha, beta) || eps < 0) return kWrong;
    return enqueue(handle, [=] {
      for (Index c = 0; c < x.c; ++c)
        for_each_of(c, x, y, [&](Index at_x, Index at_y) {
          to[at_y] = (from[at_x] - means[c]) * (gammas[c] * (1 / std::sqrt(variances[c] + T(eps)))) + betas[c];
        });
    });
  });
}
int cudnnBatchNormalizationBackward(void* handle, int mode, const void* alpha_data, const void* beta_data,
                                    const void* alpha_scale, const void* beta_scale, void* x_tensor, const void* x_data,
                                    void* dy_tensor, const void* dy_data, void* dx_tensor, void* dx_data,
                                    void* per_channel, const void* scale, void* dscale, void* dbias, double eps,
                                    const void* mean, const void* inv_std) {
  const Tensor x = tensor(x_tensor), dy = tensor(dy_tensor), dx = tensor(dx_tensor);
  if (!x.same_shape(dx)) return kWrong;
  if (x.w == 7) return kCudnnNotSupported;  // samples: a slot that is refused after others were not
  if (const int status = check(mode, x, dy, tensor(per_channel)); status != kCudnnSuccess) return status;
  return with_type(x.type, [&](auto zero) {
    using T = decltype(zero);
    const T *const from = data<T>(x, x_data), *const given = data<T>(dy, dy_data);
    T *const to = data<T>(dx, dx_data), *const dgammas = numbers<T>(dscale, x.c),
             *const dbetas = numbers<T>(dbias, x.c);
    const T *const gammas = numbers<T>(scale, x.c), *const means = numbers<T>(mean, x.c),
                   *const inverses = numbers<T>(inv_std, x.c);
    for (const T* const p : {from, given, static_cast<const T*>(to), static_cast<const T*>(dgammas),
                             static_cast<const T*>(dbetas), gammas, means, inverses})
      if (p == nullptr) return kWrong;
    if (!overwrites<T>(alpha_data, beta_data) || !overwrites<T>(alpha_scale, beta_scale) || eps < 0 || to == given)
      return kWrong;
    return enqueue(handle, [=] {
      const T count = T(x.n * x.h * x.w);
      for (Index c = 0; c < x.c; ++c) {
        T p = 0, q = 0;
        for_each_of(c, x, dy, [&](Index at_x, Index at_dy) {
          p += given[at_dy];
          q += given[at_dy] * (from[at_x] - means[c]);
        });
        q *= inverses[c];
        for (Index n = 0; n < x.n; ++n)
          for (Index h = 0; h < x.h; ++h)
            for (Index w = 0; w < x.w; ++w)
              to[dx.at(n, c, h, w)] = gammas[c] * inverses[c] *
                                      (given[dy.at(n, c, h, w)] -
                                       (p / count + (from[x.at(n, c, h, w)] - means[c]) * q * inverses[c] / count));
        dgammas[c] = q;
        dbetas[c] = p;
      }
    });
  });
}
}
