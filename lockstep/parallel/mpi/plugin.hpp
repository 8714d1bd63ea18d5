#pragma once
// The part of Lockstep that is compiled against an MPI library: a shared object of its own per library (Open MPI,
// MPICH), opened only under a launcher. So one program serves both, starts without either, and pays for none when it
// runs alone. This table of C functions is all that the program sees of MPI: one call at a time. Functions that
// return int return 0 or an MPI error.

#include <cstddef>
#include <cstdint>

namespace lockstep {

/// Changes with every change of MpiPlugin: a plugin of another build is refused.
inline constexpr int kMpiPluginVersion = 5;
inline constexpr const char* kMpiPluginSymbol = "lockstep_mpi_plugin";

/// Processors, a bit each, and ranks that may use them.
struct MpiProcessors {
  unsigned char bits[1024];
  int ranks;
};

struct MpiFacts {
  int rank, size, local_size, local_rank;
  char host[256], library[256];
  int takes_cuda;  // whether messages may lie in the memory of CUDA devices, as the library says
};

struct MpiPlugin {
  int version;
  /// `processors`: in, those of this rank; out, those of all ranks with the same number of a machine. Hosts may share
  /// one, as containers do.
  int (*start)(MpiFacts* facts, int machine, MpiProcessors* processors);
  /// Waits for the other ranks.
  int (*finish)();
  int (*send)(int to, int tag, const void* data, std::size_t bytes, int* request);
  int (*receive)(int from, int tag, void* data, std::size_t bytes, int* request);
  int (*test)(int request, int* finished);
  int (*sum_float)(float* data, std::size_t count, int* request);
  int (*sum_double)(double* data, std::size_t count, int* request);
  void (*abort)(int exit_code);
  /// What an error means, in words.
  void (*explain)(int error, char* text, std::size_t capacity);
};

}  // namespace lockstep
