#pragma once
// OpenCL, opened at run time. A build without its headers has kernels/absent/opencl.cpp instead.

#include <memory>
#include <vector>

#include "lockstep/kernels/device/device.hpp"
#include "lockstep/kernels/table.hpp"

namespace lockstep {

/// Every device of every platform; none where there is no driver. Never throws for a machine that lacks something.
std::vector<DeviceInfo> list_opencl_devices();

/// See open_device.
std::shared_ptr<Device> open_opencl_device(int local_rank);

/// Replaces the linear kernels by CLBlast's. Throws Error(usage) where it is not installed.
template <class T>
void add_clblast_kernels(KernelTable<T>& table);

}  // namespace lockstep
