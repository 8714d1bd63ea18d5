#include "lockstep/kernels/opencl/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/plugin.hpp"
#include "lockstep/kernels/opencl/devices.hpp"

namespace lockstep::opencl {

namespace {

constexpr const char* kFile = "libOpenCL.so.1";

Api load() {
  note_abort_handler();
  // A tool that was loaded before us brings its own (oclgrind).
  const bool preloaded = dlsym(RTLD_DEFAULT, "clGetPlatformIDs") != nullptr;
  const SharedLibrary library = preloaded ? SharedLibrary{.handle = RTLD_DEFAULT} : open_library(kFile);
  if (!preloaded && library.handle == nullptr)
    throw Error(ErrorCode::usage,
                fmt::format("backend opencl needs {}, {}; {}, or use the backend simd", kFile, library.why_not(),
                            library.absent ? "install ocl-icd-libopencl1 and a driver (pocl-opencl-icd runs on the "
                                             "processor)"
                                           : "mend that"));
  Api found;
#define LOCKSTEP_OPENCL_FIND(name)                                          \
  found.name = reinterpret_cast<decltype(found.name)>(library.find(#name)); \
  if (found.name == nullptr)                                                \
    throw Error(ErrorCode::usage, "backend opencl: libOpenCL.so.1 has no " #name "; use the backend simd");
  LOCKSTEP_OPENCL_FUNCTIONS(LOCKSTEP_OPENCL_FIND)
#undef LOCKSTEP_OPENCL_FIND
  return found;
}

/// The text that get(size, data, size of the whole) gives, without its end.
template <class Get>
std::string text_of(const Get& get) {
  std::size_t size = 0;
  if (get(0, nullptr, &size) != CL_SUCCESS) return "";
  std::string text(size, '\0');
  get(size, text.data(), nullptr);
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ' || text.back() == '\n')) text.pop_back();
  return text;
}

}  // namespace

const Api& api() {
  static const Api loaded = load();
  return loaded;
}

void check(cl_int status, const std::string& what) {
  switch (status) {
    case CL_SUCCESS:
      return;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      throw Error(
          ErrorCode::resources,
          fmt::format("the OpenCL device is out of memory ({}): use a smaller batch, or the backend simd", what));
    case CL_OUT_OF_RESOURCES:  // what drivers also say of a device that hung or was reset
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
    case CL_INVALID_CONTEXT:
    case CL_INVALID_COMMAND_QUEUE:
      throw Error(
          ErrorCode::resources,
          fmt::format(
              "the OpenCL device was lost or is out of resources ({}, status {}): go on from the last checkpoint, "
              "with a smaller batch or with the backend simd",
              what, status));
    default:
      throw Error(ErrorCode::bug, fmt::format("OpenCL refused: {} (status {}); use the backend simd", what, status));
  }
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  return text_of([&](std::size_t size, void* text, std::size_t* whole) {
    return api().clGetPlatformInfo(platform, what, size, text, whole);
  });
}

std::string device_text(cl_device_id device, cl_device_info what) {
  return text_of([&](std::size_t size, void* text, std::size_t* whole) {
    return api().clGetDeviceInfo(device, what, size, text, whole);
  });
}

}  // namespace lockstep::opencl
