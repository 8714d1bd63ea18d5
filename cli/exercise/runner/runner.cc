/* The process with the student's code: maps the arrays between guard pages, limits itself, and calls the kernel when it
   is told to. It decides nothing: clock and comparison are the checker's. Compiled on the student's machine together
   with the kernel; KERNEL is the name of the function. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "protocol.h"
#ifdef LOCKSTEP_OPENCL
/* The student's file twice: its launch as C++, its kernel as a text. arguments.inc lists the members of the struct. */
#include "opencl.h"
#define HOST
#include "kernel.cl"
struct Argument {
  uint32_t offset, bytes, array;
};
const Argument kArguments[] = {
#include "arguments.inc"
};
const char kText[] = {
#include "kernel.inc"
    , 0};
#endif
#ifdef LOCKSTEP_CUDA
#include <cuda_runtime.h>
#include <stdio.h>
#endif

#define JOIN_NAMES(a, b) a##b
#define NAME_OF(a, b) JOIN_NAMES(a, b)
struct NAME_OF(KERNEL, _args);
#ifndef LOCKSTEP_OPENCL
extern "C" void KERNEL(const struct NAME_OF(KERNEL, _args) *);
#endif

namespace {

struct SharedBlock* block;
int shared_file = -1, answers = -1;

struct Mapping {
  char* all; /* with the guards */
  size_t all_bytes, page_bytes;
  char* first; /* of the array */
};
Mapping mappings[kMostArrays];
uint32_t mapped = 0;

size_t pages(size_t bytes) {
  const size_t page = 4096;
  return (bytes + page - 1) / page * page;
}

/* Where a fault was: in the guard or a read-only page of which array, how far from its beginning. */
void say_where(const char* address) {
  block->array_hit = -1;
  for (uint32_t i = 0; i < mapped; ++i)
    if (address >= mappings[i].all && address < mappings[i].all + mappings[i].all_bytes) {
      block->array_hit = (int32_t)i;
      block->byte_hit = address - mappings[i].first;
    }
}

void on_fault(int number, siginfo_t* info, void*) {
  block->signal = number;
  block->signal_code = info->si_code;
  if (number == SIGSYS)
    block->system_call = info->si_syscall;
  else
    say_where((const char*)info->si_addr);
  signal(number, SIG_DFL);
  if (number == SIGSYS) _exit(97);
  raise(number);
}

void catch_faults() {
  static char stack[65536];
  stack_t alternative;
  memset(&alternative, 0, sizeof alternative);
  alternative.ss_sp = stack;
  alternative.ss_size = sizeof stack;
  sigaltstack(&alternative, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGSYS};
  for (int number : faults) sigaction(number, &action, 0);
}

void limit(int what, rlim_t most) {
  struct rlimit both = {most, most};
  setrlimit((__rlimit_resource)what, &both);
}

#define DENY(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)

/* No new processes, programs, connections, no other process's memory, no file opened for writing. */
void forbid_calls() {
#if defined(__x86_64__)
  const uint32_t first = offsetof(struct seccomp_data, args);
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      DENY(SYS_fork),
      DENY(SYS_vfork),
      DENY(SYS_execve),
      DENY(SYS_execveat),
      DENY(SYS_socket),
      DENY(SYS_ptrace),
      DENY(SYS_process_vm_readv),
      DENY(SYS_process_vm_writev),
      DENY(SYS_unlink),
      DENY(SYS_unlinkat),
      DENY(SYS_rename),
      DENY(SYS_renameat2),
      DENY(SYS_creat),
      DENY(SYS_openat2),
      DENY(SYS_mkdir),
      DENY(SYS_truncate),
      DENY(SYS_setsid),
      DENY(SYS_kill),
      /* glibc takes clone where clone3 is unknown; only clone's flags can be looked at here. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 8, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      /* The flags of open are its second argument, those of openat its third. */
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first + 8),
      BPF_STMT(BPF_JMP | BPF_JA, 2),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, first + 16),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {(unsigned short)(sizeof filter / sizeof filter[0]), filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  block->allowed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
#endif
}

void map_arrays() {
  for (uint32_t i = 0; i < mapped; ++i) munmap(mappings[i].all, mappings[i].all_bytes);
  mapped = 0;
  for (uint32_t i = 0; i < block->arrays && i < kMostArrays; ++i) {
    const struct SharedArray* array = &block->array[i];
    const size_t guard = 16 * 4096, inside = pages(array->bytes);
    Mapping* m = &mappings[i];
    m->all_bytes = inside + 2 * guard;
    m->all = (char*)mmap(0, m->all_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m->all == MAP_FAILED) _exit(98);
    if (inside > 0 && mmap(m->all + guard, inside, PROT_READ | (array->writable ? PROT_WRITE : 0),
                           MAP_SHARED | MAP_FIXED | MAP_POPULATE, shared_file, (off_t)array->file_offset) == MAP_FAILED)
      _exit(98);
    m->first = m->all + guard + (array->at_end ? inside - array->bytes : 0);
    mapped = i + 1;
  }
}

#ifdef LOCKSTEP_OPENCL
#define TEXT_OF(name) #name
#define NAME_TEXT(name) TEXT_OF(name)
/* Arrays become buffers of the device; the kernel's arguments are the members of the struct, in their order. */
void call_kernel() {
  using namespace opencl;
  if (kernel == 0) opencl::open(kText, NAME_TEXT(KERNEL));
  const struct NAME_OF(KERNEL, _args)* const a = (const struct NAME_OF(KERNEL, _args)*)block->arguments;
  size_t global[3] = {0, 1, 1}, local[3] = {0, 1, 1};
  launch_shape(a, global, local);
  if (global[0] * global[1] * global[2] == 0) return;
  cl_object buffers[kMostArrays];
  int code = 0;
  for (uint32_t i = 0; i < mapped; ++i) {
    const size_t bytes = block->array[i].bytes;
    buffers[i] = clCreateBuffer(context, block->array[i].writable ? 1 : 4, bytes > 0 ? bytes : 4, 0, &code);
    must(code, "no buffer");
    if (bytes > 0) must(clEnqueueWriteBuffer(queue, buffers[i], 1, 0, bytes, mappings[i].first, 0, 0, 0), "copy");
  }
  unsigned number = 0;
  for (const Argument& argument : kArguments) {
    const void* value = block->arguments + argument.offset;
    for (uint32_t i = 0; argument.array && i < mapped; ++i)
      if (block->array[i].argument == argument.offset) value = &buffers[i];
    static const cl_object none = 0;
    if (argument.array && value == block->arguments + argument.offset) value = &none;
    must(clSetKernelArg(kernel, number++, argument.array ? sizeof(cl_object) : argument.bytes, value),
         "the kernel's parameters are not those of the struct, in their order");
  }
  must(clEnqueueNDRangeKernel(queue, kernel, 3, 0, global, local[0] > 0 ? local : 0, 0, 0, 0), "launch");
  must(clFinish(queue), "the kernel failed");
  for (uint32_t i = 0; i < mapped; ++i) {
    const size_t bytes = block->array[i].bytes;
    if (bytes > 0 && block->array[i].writable)
      must(clEnqueueReadBuffer(queue, buffers[i], 1, 0, bytes, mappings[i].first, 0, 0, 0), "copy");
    clReleaseMemObject(buffers[i]);
  }
}
#else
/* The struct of arguments with these addresses of the arrays. */
void call_with(char* const* addresses) {
  unsigned char arguments[kMostArguments] __attribute__((aligned(64)));
  memcpy(arguments, block->arguments, sizeof arguments);
  for (uint32_t i = 0; i < mapped; ++i)
    if (block->array[i].argument < kMostArguments)
      memcpy(arguments + block->array[i].argument, &addresses[i], sizeof(char*));
  block->in_kernel = 1;
  KERNEL((const struct NAME_OF(KERNEL, _args)*)arguments);
  block->in_kernel = 0;
}

#ifdef LOCKSTEP_CUDA
void must(cudaError_t error) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "cuda emulator: %s\n", cudaGetErrorString(error));
  abort();
}

/* The arrays go to the device and come back; the student's function gets their addresses there. */
void call_kernel() {
  void* device[kMostArrays];
  for (uint32_t i = 0; i < mapped; ++i) {
    const size_t bytes = block->array[i].bytes;
    must(cudaMalloc(&device[i], bytes > 0 ? bytes : 1));
    if (bytes > 0) must(cudaMemcpy(device[i], mappings[i].first, bytes, cudaMemcpyHostToDevice));
  }
  call_with((char* const*)device);
  must(cudaDeviceSynchronize());
  must(cudaGetLastError());
  for (uint32_t i = 0; i < mapped; ++i) {
    const size_t bytes = block->array[i].bytes;
    if (bytes > 0 && block->array[i].writable)
      must(cudaMemcpy(mappings[i].first, device[i], bytes, cudaMemcpyDeviceToHost));
    must(cudaFree(device[i]));
  }
}
#else
void call_kernel() {
  char* host[kMostArrays];
  for (uint32_t i = 0; i < mapped; ++i) host[i] = mappings[i].first;
  call_with(host);
}
#endif
#endif

}  // namespace

/* runner SHARED_FILE ANSWERS MEMORY_BYTES: numbers of inherited descriptors, and a limit (0: none). */
int main(int count, char** words) {
  if (count < 4) return 96;
  shared_file = atoi(words[1]);
  answers = atoi(words[2]);
  block = (struct SharedBlock*)mmap(0, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared_file, 0);
  if (block == MAP_FAILED) return 96;
  unshare(CLONE_NEWUSER | CLONE_NEWNET); /* where the system allows it */
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 1 << 20);
  if (strtoull(words[3], 0, 10) > 0) limit(RLIMIT_AS, (rlim_t)strtoull(words[3], 0, 10));
  catch_faults();
#ifndef LOCKSTEP_OPENCL /* its driver starts a linker and writes a cache */
  forbid_calls();
#endif
  for (;;) {
    unsigned char byte;
    const ssize_t got = read(0, &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1) return 0;
    const uint32_t number = block->number;
    if (block->op == kMapArrays) map_arrays();
    if (block->op == kCallKernel) call_kernel();
    while (write(answers, &number, sizeof number) < 0 && errno == EINTR) {
    }
  }
}
