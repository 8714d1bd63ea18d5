#pragma once
// CUDA, in a plugin that is opened at run time (plugin.hpp). Nothing here needs CUDA to compile or to start.

#include <memory>
#include <string>
#include <vector>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep {

struct CudaConvolution;
struct CudaGemm;
struct CudaNormalisation;
struct CudaPooling;

/// What there is to say about CUDA on this machine.
struct CudaPresence {
  std::string plugin;               // the file of the plugin that was opened, empty where there is none
  std::string toolkit;              // what it was built with
  std::vector<DeviceInfo> devices;  // what it sees
  std::string missing;              // one line: what is missing (plugin, driver or device) and what to do; or empty
};
/// Never throws for a machine that lacks something.
CudaPresence find_cuda();

/// The devices of find_cuda().
std::vector<DeviceInfo> list_cuda_devices();

/// See open_device. Throws Error(usage) with the line of find_cuda() where there is none, and where cuBLAS and cuDNN
/// are needed and one is missing.
std::shared_ptr<Device> open_cuda_device(int local_rank, int local_size, bool needs_libraries);

/// See choose_device.
void choose_cuda_device(int local_rank) noexcept;

/// Our own kernels, for what the libraries leave.
template <class T>
const KernelTable<T>& own_cuda_kernels();

/// Replaces the linear kernels by cuBLAS's.
template <class T>
void add_cublas_kernels(KernelTable<T>& table);

/// Replaces convolution, pooling and batch normalisation by cuDNN's; what it does not support stays with our kernels.
template <class T>
void add_cudnn_kernels(KernelTable<T>& table);

/// c = alpha * op(a) op(b) + beta * c by cuBLAS on a CUDA device, in the order of its kernels.
void cublas_gemm(Device& device, const CudaGemm& product);

/// The operations of cuDNN, in the order of its kernels; false where it does not support this one. `convolution` gets
/// its scratch memory here, from the context.
bool cudnn_convolve(KernelContext& context, CudaConvolution convolution);
bool cudnn_pool(Device& device, const CudaPooling& pooling);
bool cudnn_normalise(Device& device, const CudaNormalisation& normalisation);

}  // namespace lockstep
