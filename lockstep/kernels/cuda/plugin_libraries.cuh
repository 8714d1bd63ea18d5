#pragma once
// The functions of the plugin that call cuBLAS and cuDNN. Included by plugin.cu only.

#include <string>

#include "lockstep/kernels/cuda/plugin_handle.cuh"

namespace lockstep::cuda {

namespace {

CudaStatus open_library(Handle* handle) {
  if (const CudaStatus status = flush(handle); status != CudaStatus::ok) return status;
  std::string why;
  if (handle->library.open(handle->kernels, why)) return CudaStatus::ok;
  return fail(CudaStatus::no_library, "cuBLAS", why.c_str());
}

CudaStatus gemm(Handle* handle, const CudaGemm* product) {
  if (const CudaStatus status = open_library(handle); status != CudaStatus::ok) return status;
  static constexpr KernelEntry kGemm{"cublas_gemm"};
  return start_timed(handle, &kGemm, handle->kernels, [&] {
    const int error = handle->library.multiply(*product);
    return error == 0 ? CudaStatus::ok
                      : fail(CudaStatus::failed, "cuBLAS gemm", ("status " + std::to_string(error)).c_str());
  });
}

CudaStatus open_dnn(Handle* handle) {
  if (const CudaStatus status = open_library(handle); status != CudaStatus::ok) return status;
  std::string why;
  if (handle->dnn.open(handle->kernels, cudnn_workspace(handle->memory_bytes), why)) return CudaStatus::ok;
  return fail(CudaStatus::no_library, "cuDNN", why.c_str());
}

/// What a status of Cudnn means.
CudaStatus check_dnn(const Handle* handle, int status, const char* what) {
  if (status == kCudnnSuccess) return CudaStatus::ok;
  if (status < 0) return fail(CudaStatus::failed, what, ("status " + std::to_string(-status) + " of cuBLAS").c_str());
  const bool lacks = status >= kCudnnNotSupported && status < kCudnnNotSupported + 1000;
  return fail(lacks ? CudaStatus::not_supported : CudaStatus::failed, what, handle->dnn.describe(status));
}

template <class Call>
CudaStatus start_dnn(Handle* handle, const KernelEntry* kernel, const Call& call) {
  if (const CudaStatus status = open_dnn(handle); status != CudaStatus::ok) return status;
  return start_timed(handle, kernel, handle->kernels, [&] { return check_dnn(handle, call(), kernel->name); });
}

CudaStatus convolution_scratch(Handle* handle, const CudaConvolutionShape* shape, std::uint64_t* bytes) {
  if (const CudaStatus status = open_dnn(handle); status != CudaStatus::ok) return status;
  return check_dnn(handle, handle->dnn.scratch_of(*shape, *bytes), "cudnn_convolution");
}

CudaStatus convolve(Handle* handle, const CudaConvolution* c) {
  static constexpr KernelEntry kNames[] = {
      {"cudnn_convolution_forward"}, {"cudnn_convolution_backward_data"}, {"cudnn_convolution_backward_weights"}};
  return start_dnn(handle, &kNames[c->shape.operation], [&] { return handle->dnn.convolve(*c, handle->library); });
}

CudaStatus pool(Handle* handle, const CudaPooling* p) {
  static constexpr KernelEntry kNames[] = {{"cudnn_pooling_forward"}, {"cudnn_pooling_backward"}};
  return start_dnn(handle, &kNames[p->dx.address == 0 ? 0 : 1], [&] { return handle->dnn.pool(*p); });
}

CudaStatus normalise(Handle* handle, const CudaNormalisation* n) {
  static constexpr KernelEntry kNames[] = {
      {"cudnn_batch_norm_training"}, {"cudnn_batch_norm_inference"}, {"cudnn_batch_norm_backward"}};
  return start_dnn(handle, &kNames[n->operation], [&] { return handle->dnn.normalise(*n); });
}

}  // namespace

}  // namespace lockstep::cuda
