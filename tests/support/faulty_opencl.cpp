// An OpenCL driver that fails, for tests: loaded before the program (LD_PRELOAD), it stands before the machine's own
// one and plants what LOCKSTEP_FAULT says:
//   compile         the text of every program has a mistake
//   division, sqrt, fma, denormals   the operation is not as exact as IEEE 754 says, in the program that probes it
//   memory:N        the device has no memory for its N-th buffer, nor for those after it
//   lost:N          the device is gone when the N-th kernel starts: every call that uses it fails from there on
//   abort:N         the driver calls abort() when the N-th kernel starts
#include <dlfcn.h>
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <utility>

namespace {

/// The machine's driver. Its symbols become global, so that the program finds there what is not below.
void* machine() {
  static void* const handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL);
  return handle;
}
[[maybe_unused]] void* const kLoadedFirst = machine();

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(machine(), name));
}

/// Whether `fault` is planted and this is at least its N-th turn.
bool strikes(const std::string& fault, int turn) {
  const char* const text = std::getenv("LOCKSTEP_FAULT");
  if (text == nullptr) return false;
  const std::string planted(text);
  return planted.starts_with(fault + ":") && turn >= std::atoi(planted.c_str() + fault.size() + 1);
}

/// What the compiler of an imprecise device makes of the text; an empty pair: nothing is planted.
std::pair<std::string, std::string> imprecision(const std::string& fault) {
  if (fault == "division") return {"quotient = a / b", "quotient = nextafter(a / b, (V)(INFINITY))"};
  if (fault == "sqrt") return {"root = sqrt(a)", "root = nextafter(sqrt(a), (V)(INFINITY))"};
  if (fault == "fma") return {"fused = fma(a, b, c)", "fused = a * b + c"};
  if (fault == "denormals") return {"product = a * b", "product = fabs(a * b) < (V)(FLT_MIN) ? (V)(0) : a * b"};
  return {};
}

std::atomic<int> buffers = 0, launches = 0;

}  // namespace

extern "C" {

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char** texts, const size_t* lengths,
                                     cl_int* status) {
  const auto function = real<decltype(&clCreateProgramWithSource)>(__func__);
  const char* const fault = std::getenv("LOCKSTEP_FAULT");
  std::string broken = texts[0];
  const auto [exact, imprecise] = imprecision(fault == nullptr ? "" : fault);
  const std::size_t at = exact.empty() ? std::string::npos : broken.find(exact);
  if (at != std::string::npos) broken.replace(at, exact.size(), imprecise);
  if (fault != nullptr && std::string(fault) == "compile") broken += "\nint planted_mistake(;\n";
  if (broken == texts[0]) return function(context, count, texts, lengths, status);
  const char* text = broken.c_str();
  return function(context, 1, &text, nullptr, status);
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* status) {
  if (strikes("memory", ++buffers)) {
    *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
  }
  return real<decltype(&clCreateBuffer)>(__func__)(context, flags, size, host, status);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                              const size_t* global, const size_t* local, cl_uint waits, const cl_event* list,
                              cl_event* event) {
  ++launches;
  if (strikes("abort", launches)) std::abort();
  if (strikes("lost", launches)) return CL_OUT_OF_RESOURCES;
  return real<decltype(&clEnqueueNDRangeKernel)>(__func__)(queue, kernel, dimensions, offset, global, local, waits,
                                                           list, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size,
                           void* to, cl_uint waits, const cl_event* list, cl_event* event) {
  if (strikes("lost", launches)) return CL_INVALID_COMMAND_QUEUE;
  return real<decltype(&clEnqueueReadBuffer)>(__func__)(queue, buffer, blocking, offset, size, to, waits, list, event);
}

cl_int clFinish(cl_command_queue queue) {
  if (strikes("lost", launches)) return CL_INVALID_COMMAND_QUEUE;
  return real<decltype(&clFinish)>(__func__)(queue);
}

}  // extern "C"
