// The emulated cuDNN: its descriptors and convolution.

#include "cudnn.hpp"

using namespace cuda_emulator::dnn;

namespace {

int check(const Tensor& x, const Filter& w, const Convolution& c, const Tensor& y) {
  if (!x.set || !w.set || !c.set || !y.set || x.type != w.type || x.type != y.type || x.type != c.type) return kWrong;
  if (x.n != y.n || x.c != w.c * c.groups || y.c != w.k || w.k % c.groups != 0) return kWrong;
  if (y.h != (x.h + 2 * c.pad_h - c.dilation_h * (w.h - 1) - 1) / c.stride_h + 1) return kWrong;
  if (y.w != (x.w + 2 * c.pad_w - c.dilation_w * (w.w - 1) - 1) / c.stride_w + 1) return kWrong;
  if (!x.packed() || !y.packed()) return kCudnnNotSupported + 4;  // the layout
  return c.groups > 1 && c.dilation_h > 1 ? kCudnnNotSupported + 2 : int{kCudnnSuccess};
}

/// Every product of a convolution: product(place in x, place in w, place in y).
template <class Product>
void for_each_product(const Tensor& x, const Filter& w, const Convolution& c, const Tensor& y, const Product& product) {
  for (Index n = 0; n < y.n; ++n)
    for (Index k = 0; k < y.c; ++k)
      for (Index oy = 0; oy < y.h; ++oy)
        for (Index ox = 0; ox < y.w; ++ox)
          for (Index ic = 0; ic < w.c; ++ic)
            for (Index ky = 0; ky < w.h; ++ky)
              for (Index kx = 0; kx < w.w; ++kx) {
                const Index iy = oy * c.stride_h + ky * c.dilation_h - c.pad_h;
                const Index ix = ox * c.stride_w + kx * c.dilation_w - c.pad_w;
                if (iy < 0 || iy >= x.h || ix < 0 || ix >= x.w) continue;
                product(x.at(n, k / (w.k / c.groups) * w.c + ic, iy, ix), ((k * w.c + ic) * w.h + ky) * w.w + kx,
                        y.at(n, k, oy, ox));
              }
}

/// Algorithm 0 is not deterministic, 1 uses tensor cores, 2 wants too much memory: only 3 may be chosen.
constexpr int kAlgorithm = 3;
constexpr std::size_t kWorkspace = 1000;

int offer(int status, int capacity, int* count, CudnnAlgorithm* found) {
  *count = 0;
  if (status != kCudnnSuccess) return status;
  for (int i = 0; i < 4 && i < capacity; ++i)
    found[(*count)++] = {i,
                         kCudnnSuccess,
                         float(i),
                         i == 2 ? std::size_t{1} << 40 : kWorkspace,
                         i == 0 ? 0 : int{kCudnnDeterministic},
                         i == 1 ? 1 : int{kCudnnFmaMath},
                         {}};
  return kCudnnSuccess;
}

int workspace_size(int status, int algorithm, std::size_t* bytes) {
  *bytes = algorithm == 2 ? std::size_t{1} << 40 : kWorkspace;
  return status;
}

/// Which of the three is computed, from the two others.
enum class Wanted { x, w, y };

/// What the three convolutions are given: descriptors, and data of which one is written.
struct Call {
  void* handle;
  const void *alpha, *beta;
  void* x;
  const void* x_data;
  void* w;
  const void* w_data;
  void* y;
  const void* y_data;
  void* convolution;
  int algorithm;
  void* workspace;
  std::size_t bytes;
};

int convolve(Wanted wanted, const Call& call) {
  const Tensor x = tensor(call.x), y = tensor(call.y);
  const Filter w = get<Filter>(call.w);
  const Convolution c = get<Convolution>(call.convolution);
  if (const int status = check(x, w, c, y); status != kCudnnSuccess) return status;
  if (call.algorithm != kAlgorithm || c.math != kCudnnFmaMath || call.bytes < kWorkspace) return kWrong;
  return with_type(x.type, [&](auto zero) {
    using T = decltype(zero);
    T *const xs = data<T>(x, call.x_data), *const ws = data<T>(w, call.w_data), *const ys = data<T>(y, call.y_data);
    const char* const workspace = numbers<char>(call.workspace, Index(call.bytes));
    if (xs == nullptr || ws == nullptr || ys == nullptr || workspace == nullptr) return kWrong;
    if (!overwrites<T>(call.alpha, call.beta)) return kWrong;
    return enqueue(call.handle, [=] {
      T* const out = wanted == Wanted::x ? xs : wanted == Wanted::w ? ws : ys;
      const std::size_t count = wanted == Wanted::x ? x.extent() : wanted == Wanted::w ? w.extent() : y.extent();
      for (std::size_t i = 0; i < count; ++i) out[i] = 0;
      for_each_product(x, w, c, y, [&](Index at_x, Index at_w, Index at_y) {
        if (wanted == Wanted::x)
          xs[at_x] += ys[at_y] * ws[at_w];
        else if (wanted == Wanted::w)
          ws[at_w] += ys[at_y] * xs[at_x];
        else
          ys[at_y] += xs[at_x] * ws[at_w];
      });
    });
  });
}

}  // namespace

extern "C" {

std::size_t cudnnGetVersion() { return 91900; }
const char* cudnnGetErrorString(int status) {
  return status == kCudnnSuccess         ? "CUDNN_STATUS_SUCCESS"
         : status >= kCudnnInternalError ? "CUDNN_STATUS_INTERNAL_ERROR"
         : status >= kCudnnNotSupported  ? "CUDNN_STATUS_NOT_SUPPORTED"
                                         : "CUDNN_STATUS_BAD_PARAM";
}
int cudnnCreate(void** handle) { return make<Handle>(handle); }
int cudnnDestroy(void* handle) { return destroy<Handle>(handle); }
int cudnnSetStream(void* handle, CUstream_st* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return kCudnnSuccess;
}
int cudnnCreateTensorDescriptor(void** tensor) { return make<Tensor>(tensor); }
int cudnnDestroyTensorDescriptor(void* tensor) { return destroy<Tensor>(tensor); }
int cudnnSetTensor4dDescriptorEx(void* tensor, int type, int n, int c, int h, int w, int ns, int cs, int hs, int ws) {
  if (n < 1 || c < 1 || h < 1 || w < 1 || ns < 1 || cs < 1 || hs < 1 || ws < 1) return kWrong;
  *static_cast<Tensor*>(tensor) = {true, type, n, c, h, w, ns, cs, hs, ws};
  return kCudnnSuccess;
}
int cudnnCreateFilterDescriptor(void** filter) { return make<Filter>(filter); }
int cudnnDestroyFilterDescriptor(void* filter) { return destroy<Filter>(filter); }
int cudnnSetFilter4dDescriptor(void* filter, int type, int format, int k, int c, int h, int w) {
  if (format != kCudnnNchw || k < 1 || c < 1 || h < 1 || w < 1) return kWrong;
  *static_cast<Filter*>(filter) = {true, type, k, c, h, w};
  return kCudnnSuccess;
}
int cudnnCreateConvolutionDescriptor(void** convolution) { return make<Convolution>(convolution); }
int cudnnDestroyConvolutionDescriptor(void* convolution) { return destroy<Convolution>(convolution); }
int cudnnSetConvolution2dDescriptor(void* convolution, int pad_h, int pad_w, int stride_h, int stride_w, int dilation_h,
                                    int dilation_w, int mode, int type) {
  if (mode != kCudnnCrossCorrelation || pad_h < 0 || pad_w < 0 || stride_h < 1 || stride_w < 1 || dilation_h < 1 ||
      dilation_w < 1)
    return kWrong;
  *static_cast<Convolution*>(convolution) = {true,     type,     kCudnnDefaultMath, pad_h,      pad_w,
                                             stride_h, stride_w, dilation_h,        dilation_w, 1};
  return kCudnnSuccess;
}
int cudnnSetConvolutionGroupCount(void* convolution, int groups) {
  static_cast<Convolution*>(convolution)->groups = groups;
  return groups < 1 ? kWrong : int{kCudnnSuccess};
}
int cudnnSetConvolutionMathType(void* convolution, int math) {
  static_cast<Convolution*>(convolution)->math = math;
  return kCudnnSuccess;
}

int cudnnGetConvolutionForwardAlgorithm_v7(void*, void* x, void* w, void* c, void* y, int capacity, int* count,
                                           CudnnAlgorithm* found) {
  return offer(check(tensor(x), get<Filter>(w), get<Convolution>(c), tensor(y)), capacity, count, found);
}
int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, void* w, void* dy, void* c, void* dx, int capacity, int* count,
                                                CudnnAlgorithm* found) {
  return offer(check(tensor(dx), get<Filter>(w), get<Convolution>(c), tensor(dy)), capacity, count, found);
}
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void*, void* x, void* dy, void* c, void* dw, int capacity, int* count,
                                                  CudnnAlgorithm* found) {
  return offer(check(tensor(x), get<Filter>(dw), get<Convolution>(c), tensor(dy)), capacity, count, found);
}
int cudnnGetConvolutionForwardWorkspaceSize(void*, void* x, void* w, void* c, void* y, int algorithm,
                                            std::size_t* bytes) {
  return workspace_size(check(tensor(x), get<Filter>(w), get<Convolution>(c), tensor(y)), algorithm, bytes);
}
int cudnnGetConvolutionBackwardDataWorkspaceSize(void*, void* w, void* dy, void* c, void* dx, int algorithm,
                                                 std::size_t* bytes) {
  return workspace_size(check(tensor(dx), get<Filter>(w), get<Convolution>(c), tensor(dy)), algorithm, bytes);
}
int cudnnGetConvolutionBackwardFilterWorkspaceSize(void*, void* x, void* dy, void* c, void* dw, int algorithm,
                                                   std::size_t* bytes) {
  return workspace_size(check(tensor(x), get<Filter>(dw), get<Convolution>(c), tensor(dy)), algorithm, bytes);
}

int cudnnConvolutionForward(void* handle, const void* alpha, void* x, const void* x_data, void* w, const void* w_data,
                            void* convolution, int algorithm, void* workspace, std::size_t bytes, const void* beta,
                            void* y, void* y_data) {
  return convolve(Wanted::y,
                  {handle, alpha, beta, x, x_data, w, w_data, y, y_data, convolution, algorithm, workspace, bytes});
}
int cudnnConvolutionBackwardData(void* handle, const void* alpha, void* w, const void* w_data, void* dy,
                                 const void* dy_data, void* convolution, int algorithm, void* workspace,
                                 std::size_t bytes, const void* beta, void* dx, void* dx_data) {
  return convolve(Wanted::x,
                  {handle, alpha, beta, dx, dx_data, w, w_data, dy, dy_data, convolution, algorithm, workspace, bytes});
}
int cudnnConvolutionBackwardFilter(void* handle, const void* alpha, void* x, const void* x_data, void* dy,
                                   const void* dy_data, void* convolution, int algorithm, void* workspace,
                                   std::size_t bytes, const void* beta, void* dw, void* dw_data) {
  return convolve(Wanted::w,
                  {handle, alpha, beta, x, x_data, dw, dw_data, dy, dy_data, convolution, algorithm, workspace, bytes});
}
int cudnnConvolutionBackwardBias(void* handle, const void* alpha, void* dy_tensor, const void* dy_data,
                                 const void* beta, void* db_tensor, void* db_data) {
  const Tensor y = tensor(dy_tensor), b = tensor(db_tensor);
  if (!y.set || !b.set || b.n != 1 || b.c != y.c || b.h != 1 || b.w != 1 || b.type != y.type) return kWrong;
  return with_type(y.type, [&](auto zero) {
    using T = decltype(zero);
    T *const dy = data<T>(y, dy_data), *const db = data<T>(b, db_data);
    if (dy == nullptr || db == nullptr || !overwrites<T>(alpha, beta)) return kWrong;
    return enqueue(handle, [=] {
      for (Index c = 0; c < y.c; ++c) {
        T sum = 0;
        for_each_of(c, y, y, [&](Index at, Index) { sum += dy[at]; });
        db[b.at(0, c, 0, 0)] = sum;
      }
    });
  });
}
/// c += a, where a has one number per channel.
int cudnnAddTensor(void* handle, const void* alpha, void* a_tensor, const void* a_data, const void* beta,
                   void* c_tensor, void* c_data) {
  const Tensor a = tensor(a_tensor), c = tensor(c_tensor);
  if (!a.set || !c.set || a.n != 1 || a.c != c.c || a.h != 1 || a.w != 1 || a.type != c.type) return kWrong;
  return with_type(c.type, [&](auto zero) {
    using T = decltype(zero);
    T *const from = data<T>(a, a_data), *const to = data<T>(c, c_data);
    if (from == nullptr || to == nullptr) return kWrong;
    if (*static_cast<const T*>(alpha) != 1 || *static_cast<const T*>(beta) != 1) return kWrong;
    return enqueue(handle, [=] {
      for (Index channel = 0; channel < c.c; ++channel)
        for_each_of(channel, c, c, [&](Index at, Index) { to[at] += from[a.at(0, channel, 0, 0)]; });
    });
  });
}
}
