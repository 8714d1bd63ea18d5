#pragma once
// The part of Lockstep that is compiled against an MPI library: a shared object of its own per library (Open MPI,
// MPICH), opened only under a launcher. So one program serves both, starts without either, and pays for none when it
// runs alone. This table of C functions is all that the program sees of MPI: one call at a time. Functions that
// return int return 0, an MPI error, or an MpiRefusal. A group is an open communicator.

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

/// Why `start` did not even try; MPI errors are positive.
enum MpiRefusal { kMpiNotStarted = -1, kMpiTooFewThreads = -2 };

struct MpiPlugin {
  int version;
  /// Opens a group. `communicator`: its handle of Fortran (MPI_Comm_c2f), which the group duplicates; MPI must have
  /// been started, for calls from several threads. Null: all processes of the launcher; starts MPI where nobody has.
  /// `processors`: in, those of this rank; out, those of all ranks with the same number of a machine. Hosts may share
  /// one, as containers do.
  int (*start)(const int* communicator, MpiFacts* facts, int machine, MpiProcessors* processors, int* group);
  /// Closes a group. The last one ends MPI, where `start` has started it, and waits for the other ranks.
  int (*finish)(int group);
  /// `same`: whether the communicator has the ranks of the group, in the same order.
  int (*compare)(int group, int communicator, int* same);
  int (*send)(int group, int to, int tag, const void* data, std::size_t bytes, int* request);
  int (*receive)(int group, int from, int tag, void* data, std::size_t bytes, int* request);
  int (*test)(int request, int* finished);
  int (*sum_float)(int group, float* data, std::size_t count, int* request);
  int (*sum_double)(int group, double* data, std::size_t count, int* request);
  void (*abort)(int group, int exit_code);
  /// What an error means, in words.
  void (*explain)(int error, char* text, std::size_t capacity);
};

}  // namespace lockstep
