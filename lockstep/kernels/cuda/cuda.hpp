#pragma once
// CUDA, in a plugin that is opened at run time (plugin.hpp). Nothing here needs CUDA to compile or to start.

#include <memory>
#include <string>
#include <vector>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep {

struct CudaGemm;

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

/// See open_device. Throws Error(usage) with the line of find_cuda() where there is none, and where cuBLAS is needed
/// and missing.
std::shared_ptr<Device> open_cuda_device(int local_rank, bool needs_cublas = false);

/// Replaces the linear kernels by cuBLAS's.
template <class T>
void add_cublas_kernels(KernelTable<T>& table);

/// c = alpha * op(a) op(b) + beta * c by cuBLAS on a CUDA device, in the order of its kernels.
void cublas_gemm(Device& device, const CudaGemm& product);

}  // namespace lockstep
