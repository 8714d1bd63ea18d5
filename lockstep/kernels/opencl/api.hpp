#pragma once
// The functions of OpenCL 1.2 that Lockstep uses, found in libOpenCL at run time.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

namespace lockstep::opencl {

// clang-format off
#define LOCKSTEP_OPENCL_FUNCTIONS(X)                                                                                  \
  X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext)                    \
  X(clReleaseContext) X(clCreateCommandQueue) X(clReleaseCommandQueue) X(clCreateBuffer) X(clReleaseMemObject)        \
  X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) X(clGetProgramBuildInfo)                \
  X(clGetProgramInfo) X(clReleaseProgram) X(clCreateKernel) X(clReleaseKernel) X(clSetKernelArg)                      \
  X(clEnqueueNDRangeKernel) X(clEnqueueWriteBuffer) X(clEnqueueReadBuffer) X(clEnqueueCopyBuffer)                     \
  X(clEnqueueFillBuffer) X(clEnqueueBarrierWithWaitList) X(clEnqueueMarkerWithWaitList) X(clWaitForEvents)            \
  X(clRetainEvent) X(clReleaseEvent) X(clGetEventProfilingInfo) X(clFinish) X(clFlush)
// clang-format on

struct Api {
// NOLINTNEXTLINE(bugprone-macro-parentheses): what is declared cannot stand in parentheses
#define LOCKSTEP_OPENCL_MEMBER(name) decltype(&::name) name = nullptr;
  LOCKSTEP_OPENCL_FUNCTIONS(LOCKSTEP_OPENCL_MEMBER)
#undef LOCKSTEP_OPENCL_MEMBER
};

/// Throws Error(usage) where the machine has no OpenCL loader.
const Api& api();

/// Throws for anything but CL_SUCCESS: Error(resources) where memory is the reason or the device was lost, Error(bug)
/// otherwise.
void check(cl_int status, const std::string& what);

std::string platform_text(cl_platform_id platform, cl_platform_info what);
std::string device_text(cl_device_id device, cl_device_info what);

template <class T>
T device_value(cl_device_id device, cl_device_info what) {
  T value{};
  api().clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

}  // namespace lockstep::opencl
