#pragma once
// What we use of cuDNN 9, declared here as its documentation has it, with int for its enumerations and void* for its
// descriptors, so that building needs no headers of it. Where they are installed,
// tests/kernels/cuda/cudnn_headers_test.cpp compares every line of this file with them. C++17, because nvcc reads it
// too.

#include <cstddef>

struct CUstream_st;  // of cudaStream_t

namespace lockstep::cuda {

/// CUDNN_... of the name.
enum CudnnConstant : int {
  kCudnnSuccess = 0,
  kCudnnBadParam = 2000,
  kCudnnNotSupported = 3000,  // to 3999, which say what
  kCudnnInternalError = 4000,
  kCudnnFloat = 0,
  kCudnnDouble = 1,
  kCudnnNchw = 0,
  kCudnnCrossCorrelation = 1,
  kCudnnDefaultMath = 0,
  kCudnnFmaMath = 3,  // no TF32
  kCudnnDeterministic = 1,
  kCudnnPropagateNan = 1,
  kCudnnPoolingAverageWithPadding = 1,
  kCudnnPoolingMaxDeterministic = 3,
  kCudnnBatchNormSpatial = 1
};

/// cudnnConvolutionFwdAlgoPerf_t, and the same for the two backward operations.
struct CudnnAlgorithm {
  int algorithm, status;
  float time;
  std::size_t memory;
  int determinism, math;
  int reserved[3];
};

// clang-format off
/// X(function, result, parameters)
#define LOCKSTEP_CUDNN_FUNCTIONS(X)                                                                                    \
  X(cudnnGetVersion, std::size_t, ())                                                                                  \
  X(cudnnGetErrorString, const char*, (int status))                                                                    \
  X(cudnnCreate, int, (void** handle))                                                                                 \
  X(cudnnDestroy, int, (void* handle))                                                                                 \
  X(cudnnSetStream, int, (void* handle, CUstream_st* stream))                                                          \
  X(cudnnCreateTensorDescriptor, int, (void** tensor))                                                                 \
  X(cudnnDestroyTensorDescriptor, int, (void* tensor))                                                                 \
  X(cudnnSetTensor4dDescriptorEx, int, (void* tensor, int type, int n, int c, int h, int w, int n_stride,              \
                                        int c_stride, int h_stride, int w_stride))                                     \
  X(cudnnCreateFilterDescriptor, int, (void** filter))                                                                 \
  X(cudnnDestroyFilterDescriptor, int, (void* filter))                                                                 \
  X(cudnnSetFilter4dDescriptor, int, (void* filter, int type, int format, int k, int c, int h, int w))                 \
  X(cudnnCreateConvolutionDescriptor, int, (void** convolution))                                                       \
  X(cudnnDestroyConvolutionDescriptor, int, (void* convolution))                                                       \
  X(cudnnSetConvolution2dDescriptor, int, (void* convolution, int pad_h, int pad_w, int stride_h, int stride_w,        \
                                           int dilation_h, int dilation_w, int mode, int type))                        \
  X(cudnnSetConvolutionGroupCount, int, (void* convolution, int groups))                                               \
  X(cudnnSetConvolutionMathType, int, (void* convolution, int math))                                                   \
  X(cudnnGetConvolutionForwardAlgorithm_v7, int, (void* handle, void* x, void* w, void* convolution, void* y,          \
                                                  int capacity, int* count, CudnnAlgorithm* found))                    \
  X(cudnnGetConvolutionBackwardDataAlgorithm_v7, int, (void* handle, void* w, void* dy, void* convolution, void* dx,   \
                                                       int capacity, int* count, CudnnAlgorithm* found))               \
  X(cudnnGetConvolutionBackwardFilterAlgorithm_v7, int, (void* handle, void* x, void* dy, void* convolution, void* dw, \
                                                         int capacity, int* count, CudnnAlgorithm* found))             \
  X(cudnnGetConvolutionForwardWorkspaceSize, int, (void* handle, void* x, void* w, void* convolution, void* y,         \
                                                   int algorithm, std::size_t* bytes))                                 \
  X(cudnnGetConvolutionBackwardDataWorkspaceSize, int, (void* handle, void* w, void* dy, void* convolution, void* dx,  \
                                                        int algorithm, std::size_t* bytes))                            \
  X(cudnnGetConvolutionBackwardFilterWorkspaceSize, int, (void* handle, void* x, void* dy, void* convolution,          \
                                                          void* dw, int algorithm, std::size_t* bytes))                \
  X(cudnnConvolutionForward, int, (void* handle, const void* alpha, void* x, const void* x_data, void* w,              \
                                   const void* w_data, void* convolution, int algorithm, void* workspace,              \
                                   std::size_t bytes, const void* beta, void* y, void* y_data))                        \
  X(cudnnConvolutionBackwardData, int, (void* handle, const void* alpha, void* w, const void* w_data, void* dy,        \
                                        const void* dy_data, void* convolution, int algorithm, void* workspace,        \
                                        std::size_t bytes, const void* beta, void* dx, void* dx_data))                 \
  X(cudnnConvolutionBackwardFilter, int, (void* handle, const void* alpha, void* x, const void* x_data, void* dy,      \
                                          const void* dy_data, void* convolution, int algorithm, void* workspace,      \
                                          std::size_t bytes, const void* beta, void* dw, void* dw_data))               \
  X(cudnnConvolutionBackwardBias, int, (void* handle, const void* alpha, void* dy, const void* dy_data,                \
                                        const void* beta, void* db, void* db_data))                                    \
  X(cudnnAddTensor, int, (void* handle, const void* alpha, void* a, const void* a_data, const void* beta, void* c,     \
                          void* c_data))                                                                               \
  X(cudnnCreatePoolingDescriptor, int, (void** pooling))                                                               \
  X(cudnnDestroyPoolingDescriptor, int, (void* pooling))                                                               \
  X(cudnnSetPooling2dDescriptor, int, (void* pooling, int mode, int nan, int window_h, int window_w, int pad_h,        \
                                       int pad_w, int stride_h, int stride_w))                                         \
  X(cudnnPoolingForward, int, (void* handle, void* pooling, const void* alpha, void* x, const void* x_data,            \
                               const void* beta, void* y, void* y_data))                                               \
  X(cudnnPoolingBackward, int, (void* handle, void* pooling, const void* alpha, void* y, const void* y_data, void* dy, \
                                const void* dy_data, void* x, const void* x_data, const void* beta, void* dx,          \
                                void* dx_data))                                                                        \
  X(cudnnBatchNormalizationForwardTraining, int, (void* handle, int mode, const void* alpha, const void* beta, void* x,\
                                                  const void* x_data, void* y, void* y_data, void* per_channel,        \
                                                  const void* scale, const void* bias, double factor,                  \
                                                  void* running_mean, void* running_var, double eps, void* mean,       \
                                                  void* inv_std))                                                      \
  X(cudnnBatchNormalizationForwardInference, int, (void* handle, int mode, const void* alpha, const void* beta,        \
                                                   void* x, const void* x_data, void* y, void* y_data,                 \
                                                   void* per_channel, const void* scale, const void* bias,             \
                                                   const void* mean, const void* var, double eps))                     \
  X(cudnnBatchNormalizationBackward, int, (void* handle, int mode, const void* alpha_data, const void* beta_data,      \
                                           const void* alpha_scale, const void* beta_scale, void* x,                   \
                                           const void* x_data, void* dy, const void* dy_data, void* dx, void* dx_data, \
                                           void* per_channel, const void* scale, void* dscale, void* dbias,            \
                                           double eps, const void* mean, const void* inv_std))
// clang-format on

struct CudnnFunctions {
#define LOCKSTEP_CUDNN_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  LOCKSTEP_CUDNN_FUNCTIONS(LOCKSTEP_CUDNN_MEMBER)
#undef LOCKSTEP_CUDNN_MEMBER
};

}  // namespace lockstep::cuda
