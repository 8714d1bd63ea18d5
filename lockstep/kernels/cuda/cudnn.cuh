#pragma once
// cuDNN: convolution, pooling and batch normalisation of the backend cuda-library. Our matrices hold [channel][height]
// [width][sample]; what cuDNN is told about them:
//   pooling        an image of `samples` channels for each of our channels: NHWC, as it lies;
//   normalisation  one image of our channels, a row per pixel and a column per sample: NCHW, as it lies;
//   convolution    sums over channels, so there is no such view: x and y are transposed (by cuBLAS) into scratch memory
//                  that holds NCHW, and back.
// Of the algorithms that cuDNN's heuristic offers for a convolution the first is taken that gives the same bits every
// time, computes in the type it is given (no TF32) and wants no more than cudnn_workspace of plugin.hpp says.

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/kernels/cuda/cudnn_functions.hpp"
#include "lockstep/kernels/cuda/library.cuh"
#include "lockstep/kernels/cuda/plugin.hpp"
#include "lockstep/kernels/cuda/shared_file.cuh"

#ifndef LOCKSTEP_CUDNN_FILES
#define LOCKSTEP_CUDNN_FILES "libcudnn.so.9", "libcudnn.so"
#endif

namespace lockstep::cuda {

class Cudnn {
 public:
  Cudnn() = default;
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  /// True where cuDNN is open; `why` says what is missing otherwise.
  bool open(cudaStream_t stream, std::uint64_t most_workspace, std::string& why) {
    most_workspace_ = most_workspace;
    if (handle_ != nullptr) return true;
    void* const file = open_shared_file("LOCKSTEP_CUDNN", {LOCKSTEP_CUDNN_FILES}, why);
    if (file == nullptr) return false;
    std::string missing;
#define LOCKSTEP_CUDNN_FIND(name, result, parameters) find_function(file, f_.name, #name, missing);
    LOCKSTEP_CUDNN_FUNCTIONS(LOCKSTEP_CUDNN_FIND)
#undef LOCKSTEP_CUDNN_FIND
    if (!missing.empty()) return say(why, "the library has no " + missing);
    // Statuses had other numbers before.
    if (const std::size_t version = f_.cudnnGetVersion(); version / 10000 != 9)
      return say(why, "the library says version " + std::to_string(version) + ", and 9 is needed");
    void* handle = nullptr;
    int status = f_.cudnnCreate(&handle);
    if (status == kCudnnSuccess) status = f_.cudnnSetStream(handle, stream);
    if (status == kCudnnSuccess) status = f_.cudnnCreatePoolingDescriptor(&pooling_);
    for (void*& tensor : tensors_)
      if (status == kCudnnSuccess) status = f_.cudnnCreateTensorDescriptor(&tensor);
    if (status != kCudnnSuccess) return say(why, std::string("cudnnCreate says ") + f_.cudnnGetErrorString(status));
    handle_ = handle;
    return true;
  }

  void close() {
    if (handle_ == nullptr) return;
    for (const auto& plan : plans_) destroy(*plan);
    plans_.clear();
    for (void* const tensor : tensors_) f_.cudnnDestroyTensorDescriptor(tensor);
    f_.cudnnDestroyPoolingDescriptor(pooling_);
    f_.cudnnDestroy(handle_);
    handle_ = nullptr;
  }

  const char* describe(int status) const { return f_.cudnnGetErrorString(status); }

  // The operations: 0, or the status of cuDNN (of cuBLAS, negative).

  int scratch_of(const CudaConvolutionShape& shape, std::uint64_t& bytes) {
    const Plan& plan = plan_for(shape);
    bytes = plan.x_bytes + plan.y_bytes + plan.workspace_bytes;
    return plan.status;
  }

  int convolve(const CudaConvolution& c, const Library& blas) {
    return c.shape.is_double != 0 ? convolve<double>(c, blas) : convolve<float>(c, blas);
  }

  int pool(const CudaPooling& p) {
    const Factors factors(p.is_double);
    const auto set = [&](void* tensor, const CudaImages& images) {
      const int row = images.stride * images.width;
      return f_.cudnnSetTensor4dDescriptorEx(tensor, type(p.is_double), p.channels, p.samples, images.height,
                                             images.width, row * images.height, 1, row, images.stride);
    };
    int status = f_.cudnnSetPooling2dDescriptor(
        pooling_, p.average ? kCudnnPoolingAverageWithPadding : kCudnnPoolingMaxDeterministic, kCudnnPropagateNan,
        p.window_h, p.window_w, p.pad_h, p.pad_w, p.stride_h, p.stride_w);
    const auto [x, y, dy, dx] = tensors_;
    if (status == kCudnnSuccess) status = set(x, p.x);
    if (status == kCudnnSuccess) status = set(y, p.y);
    if (p.dx.address == 0)
      return status != kCudnnSuccess ? status
                                     : f_.cudnnPoolingForward(handle_, pooling_, factors.one(), x, at(p.x.address),
                                                              factors.zero(), y, at(p.y.address));
    if (status == kCudnnSuccess) status = set(dy, p.dy);
    if (status == kCudnnSuccess) status = set(dx, p.dx);
    return status != kCudnnSuccess
               ? status
               : f_.cudnnPoolingBackward(handle_, pooling_, factors.one(), y, at(p.y.address), dy, at(p.dy.address), x,
                                         at(p.x.address), factors.zero(), dx, at(p.dx.address));
  }

  int normalise(const CudaNormalisation& n) {
    const Factors factors(n.is_double);
    const auto set = [&](void* tensor, std::int32_t stride) {
      return f_.cudnnSetTensor4dDescriptorEx(tensor, type(n.is_double), 1, n.channels, n.pixels, n.samples,
                                             stride * n.pixels * n.channels, stride * n.pixels, stride, 1);
    };
    const auto [x, y, dx, channels] = tensors_;
    int status = set(x, n.x_stride);
    if (status == kCudnnSuccess) status = set(y, n.y_stride);
    if (status == kCudnnSuccess && n.operation == CudaNormalisation::backward) status = set(dx, n.dx_stride);
    if (status == kCudnnSuccess) status = set_channels(channels, n.is_double, n.channels);
    if (status != kCudnnSuccess) return status;
    switch (n.operation) {
      case CudaNormalisation::training:  // the averages of this slot alone: factor 1
        return f_.cudnnBatchNormalizationForwardTraining(
            handle_, kCudnnBatchNormSpatial, factors.one(), factors.zero(), x, at(n.x), y, at(n.y), channels,
            at(n.gamma), at(n.beta), 1, at(n.running_mean), at(n.running_var), n.eps, at(n.mean), at(n.inv_std));
      case CudaNormalisation::inference:
        return f_.cudnnBatchNormalizationForwardInference(handle_, kCudnnBatchNormSpatial, factors.one(),
                                                          factors.zero(), x, at(n.x), y, at(n.y), channels, at(n.gamma),
                                                          at(n.beta), at(n.running_mean), at(n.running_var), n.eps);
      default:
        return f_.cudnnBatchNormalizationBackward(handle_, kCudnnBatchNormSpatial, factors.one(), factors.zero(),
                                                  factors.one(), factors.zero(), x, at(n.x), y, at(n.y), dx, at(n.dx),
                                                  channels, at(n.gamma), at(n.dgamma), at(n.dbeta), n.eps, at(n.mean),
                                                  at(n.inv_std));
    }
  }

 private:
  static constexpr std::size_t kAlignment = 256;

  /// What is kept of a convolution of one shape: its descriptors, and the algorithm that cuDNN chose.
  struct Plan {
    CudaConvolutionShape shape{};
    void *x = nullptr, *y = nullptr, *w = nullptr, *b = nullptr, *convolution = nullptr;
    int status = kCudnnSuccess, algorithm = 0;
    std::size_t x_bytes = 0, y_bytes = 0, workspace_bytes = 0;
  };

  /// 1 and 0 of the type that cuDNN reads.
  struct Factors {
    explicit Factors(bool is_double) : is_double_(is_double) {}
    const void* one() const { return is_double_ ? static_cast<const void*>(&double_one) : &float_one; }
    const void* zero() const { return is_double_ ? static_cast<const void*>(&double_zero) : &float_zero; }

   private:
    bool is_double_;
    double double_one = 1, double_zero = 0;
    float float_one = 1, float_zero = 0;
  };

  static bool say(std::string& why, std::string text) {
    why = std::move(text);
    return false;
  }
  static int type(bool is_double) { return is_double ? kCudnnDouble : kCudnnFloat; }
  static void* at(std::uint64_t address) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)); }
  static std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  int set_channels(void* tensor, bool is_double, int channels) const {
    return f_.cudnnSetTensor4dDescriptorEx(tensor, type(is_double), 1, channels, 1, 1, channels, 1, 1, 1);
  }
  int set_packed(void* tensor, bool is_double, int n, int c, int h, int w) const {
    return f_.cudnnSetTensor4dDescriptorEx(tensor, type(is_double), n, c, h, w, c * h * w, h * w, w, 1);
  }

  void destroy(const Plan& plan) const {
    for (void* const tensor : {plan.x, plan.y, plan.b})
      if (tensor != nullptr) f_.cudnnDestroyTensorDescriptor(tensor);
    if (plan.w != nullptr) f_.cudnnDestroyFilterDescriptor(plan.w);
    if (plan.convolution != nullptr) f_.cudnnDestroyConvolutionDescriptor(plan.convolution);
  }

  const Plan& plan_for(const CudaConvolutionShape& shape) {
    static_assert(sizeof shape == 18 * sizeof(std::int32_t), "compared byte by byte");
    for (const auto& plan : plans_)
      if (std::memcmp(&plan->shape, &shape, sizeof shape) == 0) return *plan;
    plans_.push_back(std::make_unique<Plan>());
    Plan& plan = *plans_.back();
    plan.shape = shape;
    plan.status = describe_to_cudnn(plan);
    if (plan.status == kCudnnSuccess) plan.status = choose_algorithm(plan);
    return plan;
  }

  int describe_to_cudnn(Plan& plan) const {
    const CudaConvolutionShape& s = plan.shape;
    const bool is_double = s.is_double != 0;
    int status = f_.cudnnCreateTensorDescriptor(&plan.x);
    if (status == kCudnnSuccess) status = f_.cudnnCreateTensorDescriptor(&plan.y);
    if (status == kCudnnSuccess) status = f_.cudnnCreateTensorDescriptor(&plan.b);
    if (status == kCudnnSuccess) status = f_.cudnnCreateFilterDescriptor(&plan.w);
    if (status == kCudnnSuccess) status = f_.cudnnCreateConvolutionDescriptor(&plan.convolution);
    if (status == kCudnnSuccess)
      status = set_packed(plan.x, is_double, s.samples, s.in_channels, s.in_height, s.in_width);
    if (status == kCudnnSuccess)
      status = set_packed(plan.y, is_double, s.samples, s.out_channels, s.out_height, s.out_width);
    if (status == kCudnnSuccess) status = set_channels(plan.b, is_double, s.out_channels);
    if (status == kCudnnSuccess)
      status = f_.cudnnSetFilter4dDescriptor(plan.w, type(is_double), kCudnnNchw, s.out_channels,
                                             s.in_channels / s.groups, s.kernel_h, s.kernel_w);
    if (status == kCudnnSuccess)
      status = f_.cudnnSetConvolution2dDescriptor(plan.convolution, s.pad_h, s.pad_w, s.stride_h, s.stride_w,
                                                  s.dilation_h, s.dilation_w, kCudnnCrossCorrelation, type(is_double));
    if (status == kCudnnSuccess) status = f_.cudnnSetConvolutionGroupCount(plan.convolution, s.groups);
    if (status == kCudnnSuccess) status = f_.cudnnSetConvolutionMathType(plan.convolution, kCudnnFmaMath);
    return status;
  }

  int choose_algorithm(Plan& plan) const {
    const CudaConvolutionShape& s = plan.shape;
    constexpr int kCapacity = 16;
    CudnnAlgorithm found[kCapacity] = {};
    int count = 0, status = kCudnnNotSupported;
    if (s.operation == CudaConvolutionShape::forward)
      status = f_.cudnnGetConvolutionForwardAlgorithm_v7(handle_, plan.x, plan.w, plan.convolution, plan.y, kCapacity,
                                                         &count, found);
    else if (s.operation == CudaConvolutionShape::backward_data)
      status = f_.cudnnGetConvolutionBackwardDataAlgorithm_v7(handle_, plan.w, plan.y, plan.convolution, plan.x,
                                                              kCapacity, &count, found);
    else
      status = f_.cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle_, plan.x, plan.y, plan.convolution, plan.w,
                                                                kCapacity, &count, found);
    if (status != kCudnnSuccess) return status;
    for (int i = 0; i < count; ++i) {
      const CudnnAlgorithm& a = found[i];
      if (a.status != kCudnnSuccess || a.determinism != kCudnnDeterministic) continue;
      if (a.math != kCudnnFmaMath && a.math != kCudnnDefaultMath) continue;
      std::size_t bytes = 0;
      if (workspace_of(plan, a.algorithm, bytes) != kCudnnSuccess || bytes > most_workspace_) continue;
      const std::size_t scalar = s.is_double != 0 ? 8 : 4, samples = static_cast<std::size_t>(s.samples);
      plan.algorithm = a.algorithm;
      plan.workspace_bytes = aligned(bytes);
      plan.x_bytes = aligned(scalar * samples * features(s.in_channels, s.in_height, s.in_width));
      plan.y_bytes = aligned(scalar * samples * features(s.out_channels, s.out_height, s.out_width));
      return kCudnnSuccess;
    }
    return kCudnnNotSupported;
  }
  static std::size_t features(int channels, int height, int width) {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  }

  int workspace_of(const Plan& plan, int algorithm, std::size_t& bytes) const {
    if (plan.shape.operation == CudaConvolutionShape::forward)
      return f_.cudnnGetConvolutionForwardWorkspaceSize(handle_, plan.x, plan.w, plan.convolution, plan.y, algorithm,
                                                        &bytes);
    if (plan.shape.operation == CudaConvolutionShape::backward_data)
      return f_.cudnnGetConvolutionBackwardDataWorkspaceSize(handle_, plan.w, plan.y, plan.convolution, plan.x,
                                                             algorithm, &bytes);
    return f_.cudnnGetConvolutionBackwardFilterWorkspaceSize(handle_, plan.x, plan.y, plan.convolution, plan.w,
                                                             algorithm, &bytes);
  }

  template <class T>
  int convolve(const CudaConvolution& c, const Library& blas) {
    const CudaConvolutionShape& s = c.shape;
    const Plan& plan = plan_for(s);
    if (plan.status != kCudnnSuccess) return plan.status;
    const Factors factors(s.is_double != 0);
    T* const x = static_cast<T*>(at(c.scratch));
    T* const y = static_cast<T*>(at(c.scratch + plan.x_bytes));
    void* const workspace = at(c.scratch + plan.x_bytes + plan.y_bytes);
    const int in = static_cast<int>(features(s.in_channels, s.in_height, s.in_width));
    const int out = static_cast<int>(features(s.out_channels, s.out_height, s.out_width));
    // Ours [features][stride] is a matrix of stride by features to cuBLAS; the packed one of features by samples.
    const auto pack = [&](T* packed, std::uint64_t matrix, int features, int stride) {
      return -blas.transpose<T>(features, s.samples, static_cast<const T*>(at(matrix)), stride, packed, features);
    };
    const auto unpack = [&](const T* packed, std::uint64_t matrix, int features, int stride) {
      return -blas.transpose<T>(s.samples, features, packed, features, static_cast<T*>(at(matrix)), stride);
    };
    int status = 0;
    if (s.operation != CudaConvolutionShape::backward_data) status = pack(x, c.x, in, c.x_stride);
    if (status == 0 && s.operation != CudaConvolutionShape::forward) status = pack(y, c.y, out, c.y_stride);
    if (status != 0) return status;
    switch (s.operation) {
      case CudaConvolutionShape::forward:
        status = f_.cudnnConvolutionForward(handle_, factors.one(), plan.x, x, plan.w, at(c.w), plan.convolution,
                                            plan.algorithm, workspace, plan.workspace_bytes, factors.zero(), plan.y, y);
        if (status == 0 && c.b != 0)
          status = f_.cudnnAddTensor(handle_, factors.one(), plan.b, at(c.b), factors.one(), plan.y, y);
        return status != 0 ? status : unpack(y, c.y, out, c.y_stride);
      case CudaConvolutionShape::backward_data:
        status =
            f_.cudnnConvolutionBackwardData(handle_, factors.one(), plan.w, at(c.w), plan.y, y, plan.convolution,
                                            plan.algorithm, workspace, plan.workspace_bytes, factors.zero(), plan.x, x);
        return status != 0 ? status : unpack(x, c.x, in, c.x_stride);
      default:
        status = f_.cudnnConvolutionBackwardFilter(handle_, factors.one(), plan.x, x, plan.y, y, plan.convolution,
                                                   plan.algorithm, workspace, plan.workspace_bytes, factors.zero(),
                                                   plan.w, at(c.w));
        if (status == 0 && c.b != 0)
          status = f_.cudnnConvolutionBackwardBias(handle_, factors.one(), plan.y, y, factors.zero(), plan.b, at(c.b));
        return status;
    }
  }

  CudnnFunctions f_;
  std::uint64_t most_workspace_ = 0;
  void* handle_ = nullptr;
  void* pooling_ = nullptr;
  void* tensors_[4] = {};  // set for each pooling or normalisation
  std::vector<std::unique_ptr<Plan>> plans_;
};

}  // namespace lockstep::cuda
