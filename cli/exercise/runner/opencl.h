#pragma once
/* The few functions of OpenCL that the runner calls, declared here so that a student's machine needs no headers of it.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern "C" {
typedef struct _cl_object* cl_object;
int clGetPlatformIDs(unsigned, cl_object*, unsigned*);
int clGetDeviceIDs(cl_object, uint64_t, unsigned, cl_object*, unsigned*);
cl_object clCreateContext(const intptr_t*, unsigned, const cl_object*, void*, void*, int*);
cl_object clCreateCommandQueue(cl_object, cl_object, uint64_t, int*);
cl_object clCreateProgramWithSource(cl_object, unsigned, const char**, const size_t*, int*);
int clBuildProgram(cl_object, unsigned, const cl_object*, const char*, void*, void*);
int clGetProgramBuildInfo(cl_object, cl_object, unsigned, size_t, void*, size_t*);
cl_object clCreateKernel(cl_object, const char*, int*);
int clSetKernelArg(cl_object, unsigned, size_t, const void*);
cl_object clCreateBuffer(cl_object, uint64_t, size_t, void*, int*);
int clReleaseMemObject(cl_object);
int clEnqueueWriteBuffer(cl_object, cl_object, unsigned, size_t, size_t, const void*, unsigned, void*, void*);
int clEnqueueReadBuffer(cl_object, cl_object, unsigned, size_t, size_t, void*, unsigned, void*, void*);
int clEnqueueNDRangeKernel(cl_object, cl_object, unsigned, const size_t*, const size_t*, const size_t*, unsigned, void*,
                           void*);
int clFinish(cl_object);
}

namespace opencl {

cl_object device, context, queue, kernel;

[[noreturn]] inline void fail(const char* what, int code) {
  fprintf(stderr, "OpenCL: %s (error %d)\n", what, code);
  abort();
}
inline void must(int code, const char* what) {
  if (code != 0) fail(what, code);
}

/* The first device of the first platform; the kernel of that name in that text. */
inline void open(const char* text, const char* name) {
  cl_object platform;
  unsigned count = 0;
  int code = clGetPlatformIDs(1, &platform, &count);
  if (code != 0 || count == 0) fail("there is no platform; PoCL (pocl-opencl-icd) is one for every processor", code);
  must(clGetDeviceIDs(platform, 0xFFFFFFFFu, 1, &device, &count), "there is no device");
  context = clCreateContext(0, 1, &device, 0, 0, &code);
  must(code, "no context");
  queue = clCreateCommandQueue(context, device, 0, &code);
  must(code, "no queue");
  cl_object program = clCreateProgramWithSource(context, 1, &text, 0, &code);
  if (clBuildProgram(program, 1, &device, "-cl-std=CL1.2", 0, 0) != 0) {
    static char log[1 << 16];
    clGetProgramBuildInfo(program, device, 0x1183, sizeof log - 1, log, 0);
    fprintf(stderr, "%s\nOpenCL: kernel.cl does not compile: %.300s\n", log, log);
    abort();
  }
  kernel = clCreateKernel(program, name, &code);
  must(code, "there is no kernel of the name that the task gives");
}

}  // namespace opencl
