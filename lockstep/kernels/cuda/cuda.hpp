#pragma once
// CUDA, in a plugin that is opened at run time. A build without it has kernels/absent/cuda.cpp instead.

#include <memory>
#include <vector>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep {

/// Every CUDA device; none where there is no plugin or no driver. Never throws for a machine that lacks something.
std::vector<DeviceInfo> list_cuda_devices();

/// See open_device.
std::shared_ptr<Device> open_cuda_device(int local_rank);

/// Replaces the linear kernels by cuBLAS's and the convolutions by cuDNN's, where the plugin has them.
template <class T>
void add_cublas_kernels(KernelTable<T>& table);

}  // namespace lockstep
