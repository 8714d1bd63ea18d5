// What OpenCL C and CUDA C++ spell differently. Every file of this folder is compiled as both, once with REAL = float
// and once with double; it is text for those compilers, not a header of the library.
//
//   KERNEL name(IN(REAL, x), OUT(REAL, y), I64 count)   a kernel; IN and OUT are device addresses, which may be null
//   KERNEL_OF(items, groups) name(...)                  the same; `groups` work-groups of at most `items` shall fit into a
//                                                       multiprocessor, as far as registers go
//   USE_IN(REAL, x); USE_OUT(REAL, y);                  its first lines: x and y become pointers
//   REAL, LANE, LANES                                   a number; a vector of LANES samples; 1 on GPUs, 8 or 16 on CPUs
//   USE_AT(x)                                           what USE_IN adds to x_base (0 on CUDA)
//   BITS, AS_BITS, AS_LANE                              the vector of unsigned integers of the same size
//
// The build defines REAL_IS_DOUBLE (0 or 1) and LANES, on CUDA also REAL and the words below (kernels/cuda).

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#define KERNEL __kernel void
#define KERNEL_OF(items, groups) __kernel void
#define DEVICE static inline
#define GLOBAL __global
#define LOCAL __local
#define I64 long
#define U64 ulong
#define U32 uint
#define IN(T, name) __global const T *name##_base, long name##_at
#define OUT(T, name) __global T *name##_base, long name##_at
#define USE_IN(T, name) __global const T *const name = name##_base + name##_at
#define USE_OUT(T, name) __global T *const name = name##_base + name##_at
#define USE_AT(name) name##_at
#define GROUP(d) ((I64)get_group_id(d))
#define ITEM(d) ((int)get_local_id(d))
#define ITEMS(d) ((int)get_local_size(d))
#define GLOBAL_ITEM(d) ((I64)get_global_id(d))
#define GLOBAL_ITEMS(d) ((I64)get_global_size(d))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#if REAL_IS_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define REAL double
#define WORD ulong
#define AS_LANE_ as_double
#define AS_BITS_ as_ulong
#else
#define REAL float
#define WORD uint
#define AS_LANE_ as_float
#define AS_BITS_ as_uint
#endif
#if LANES == 1
#define LANE REAL
#define BITS WORD
#define AS_LANE(x) AS_LANE_(x)
#define AS_BITS(x) AS_BITS_(x)
#define LOAD(p) (*(p))
#define STORE(v, p) (*(p) = (v))
#else
#define LANE JOIN(REAL, LANES)
#define BITS JOIN(WORD, LANES)
#define AS_LANE(x) JOIN(AS_LANE_, LANES)(x)
#define AS_BITS(x) JOIN(AS_BITS_, LANES)(x)
#define LOAD(p) JOIN(vload, LANES)(0, p)
#define STORE(v, p) JOIN(vstore, LANES)(v, 0, p)
#endif
#endif

// Of both: a number in every lane.
#define SET(x) ((LANE)(x))
#define R(x) ((REAL)(x))
#define ALIGNED_16 __attribute__((aligned(16)))
