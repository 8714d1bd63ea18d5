#include "lockstep/parallel/mpi/plugin.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <dlfcn.h>
#include <mpi.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace {

std::vector<MPI_Request> requests;
std::vector<int> unused;
std::vector<MPI_Comm> groups;  // by number; MPI_COMM_NULL: closed
bool started_here = false;     // MPI, by this plugin and not by mpi4py

MPI_Comm comm_of(int group) { return groups[static_cast<std::size_t>(group)]; }

int take_request() {
  if (unused.empty()) {
    requests.push_back(MPI_REQUEST_NULL);
    return static_cast<int>(requests.size()) - 1;
  }
  const int id = unused.back();
  unused.pop_back();
  return id;
}

/// An extension that Open MPI (since 2.0) and MPICH (since 4.0) have; builds without CUDA say 0, old ones lack it.
int takes_cuda() {
  const auto query = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
  return query != nullptr && query() != 0 ? 1 : 0;
}

int gather_processors(MPI_Comm all, int machine, lockstep::MpiProcessors* processors) {
  MPI_Comm neighbours = MPI_COMM_NULL;
  int error = MPI_Comm_split(all, machine, 0, &neighbours);
  if (error != MPI_SUCCESS) return error;
  MPI_Comm_size(neighbours, &processors->ranks);
  error =
      MPI_Allreduce(MPI_IN_PLACE, processors->bits, sizeof processors->bits, MPI_UNSIGNED_CHAR, MPI_BOR, neighbours);
  MPI_Comm_free(&neighbours);
  return error;
}

bool same(const char* one, const char* other) {
  const char *a = std::getenv(one), *b = std::getenv(other);
  return a != nullptr && b != nullptr && std::strcmp(a, b) == 0;
}

/// As the launcher says: mpirun of Open MPI or of MPICH, or srun.
bool all_ranks_are_here() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return same("OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE");
  if (std::getenv("MPI_LOCALNRANKS") != nullptr) return same("MPI_LOCALNRANKS", "PMI_SIZE");
  const char* const nodes = std::getenv("SLURM_STEP_NUM_NODES");
  return nodes != nullptr && std::strcmp(nodes, "1") == 0;
}

/// Whether the user has chosen Open MPI's transports in the file of the home folder, which the environment would hide.
[[maybe_unused]] bool chosen_in_file() {
  const char* const home = std::getenv("HOME");
  std::ifstream file(std::string(home == nullptr ? "" : home) + "/.openmpi/mca-params.conf");
  for (std::string line; std::getline(file, line);) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line.compare(begin, 3, "btl") != 0) continue;
    const auto next = line.find_first_not_of(" \t", begin + 3);
    if (next != std::string::npos && line[next] == '=') return true;
  }
  return false;
}

/// Whether every rank can have its segment, as all ranks see it: by the size of /dev/shm, not by what is free just now.
bool shared_memory_suffices() {
  constexpr double kSegment = 5e6;  // Open MPI takes 4 MB and a page, MPICH less
  struct statvfs about {};
  rlimit files{};
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"})
    if (const char* ranks = std::getenv(name); ranks != nullptr)
      return ::statvfs("/dev/shm", &about) == 0 && ::getrlimit(RLIMIT_FSIZE, &files) == 0 &&
             static_cast<double>(files.rlim_cur) >= kSegment &&
             static_cast<double>(about.f_blocks) * static_cast<double>(about.f_frsize) >= kSegment * std::atof(ranks);
  return false;
}

/// Ranks of one host need no network: shared memory alone opens no port. Open MPI's TCP transport listens on all
/// addresses of the host, and whoever connects and sends one byte keeps the rank waiting for the next one. What the
/// user has set, as mpirun --mca btl does, stays.
void keep_to_shared_memory() {
  if (!all_ranks_are_here() || !shared_memory_suffices()) return;
#ifdef OPEN_MPI
  std::string names = OMPI_MAJOR_VERSION >= 5 ? "self,sm" : "self,vader";
#if defined(MPIX_CUDA_AWARE_SUPPORT) && MPIX_CUDA_AWARE_SUPPORT
  names += ",smcuda";
#endif
  if (!chosen_in_file()) ::setenv("OMPI_MCA_btl", names.c_str(), 0);
#endif
  // Of the libraries below: UCX (MPICH of Debian), and libfabric, which cannot do without a network.
  if (std::getenv("UCX_NET_DEVICES") == nullptr) ::setenv("UCX_TLS", "^tcp", 0);
  ::setenv("FI_TCP_IFACE", "lo", 0);
  ::setenv("FI_SOCKETS_IFACE", "lo", 0);
}

int start_mpi() {
  // Where ranks share cores, Open MPI yields in every MPI_Test, after a nap too, and the core is lost again for
  // milliseconds. Ranks::wait yields when that is of use.
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
  keep_to_shared_memory();
  int provided = 0;
  const int error = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  started_here = error == MPI_SUCCESS;
  return error;
}

/// The communicator of a group: what somebody else may use too is duplicated, so that messages do not mix.
int open_communicator(const int* communicator, MPI_Comm* all) {
  int started = 0, level = 0;
  MPI_Initialized(&started);
  if (started == 0 && communicator != nullptr) return lockstep::kMpiNotStarted;
  if (started == 0) {
    *all = MPI_COMM_WORLD;
    return start_mpi();
  }
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) return lockstep::kMpiTooFewThreads;
  return MPI_Comm_dup(communicator != nullptr ? MPI_Comm_f2c(*communicator) : MPI_COMM_WORLD, all);
}

int start(const int* communicator, lockstep::MpiFacts* facts, int machine, lockstep::MpiProcessors* processors,
          int* group) {
  MPI_Comm all = MPI_COMM_NULL;
  int length = 0;
  int error = open_communicator(communicator, &all);
  if (error != MPI_SUCCESS) return error;
  *group = static_cast<int>(groups.size());
  groups.push_back(all);
  MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
  MPI_Comm_rank(all, &facts->rank);
  MPI_Comm_size(all, &facts->size);
  MPI_Comm node = MPI_COMM_NULL;
  error = MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  if (error != MPI_SUCCESS) return error;
  MPI_Comm_size(node, &facts->local_size);
  MPI_Comm_rank(node, &facts->local_rank);
  MPI_Comm_free(&node);
  error = gather_processors(all, machine, processors);
  if (error != MPI_SUCCESS) return error;
  char host[MPI_MAX_PROCESSOR_NAME] = {}, library[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  MPI_Get_processor_name(host, &length);
  MPI_Get_library_version(library, &length);
  std::replace(library, library + sizeof library, '\t', ' ');  // MPICH writes its name as a table
  facts->takes_cuda = takes_cuda();
  std::snprintf(facts->host, sizeof facts->host, "%s", host);
  std::snprintf(facts->library, sizeof facts->library, "%.*s", static_cast<int>(std::strcspn(library, "\n,")), library);
  return MPI_SUCCESS;
}

int finish(int group) {
  int ended = 0;
  MPI_Finalized(&ended);
  MPI_Comm& all = groups[static_cast<std::size_t>(group)];
  if (ended == 0 && all != MPI_COMM_WORLD) MPI_Comm_free(&all);
  all = MPI_COMM_NULL;
  const bool last = std::all_of(groups.begin(), groups.end(), [](MPI_Comm each) { return each == MPI_COMM_NULL; });
  return last && started_here && ended == 0 ? MPI_Finalize() : MPI_SUCCESS;
}

int compare(int group, int communicator, int* same) {
  int result = MPI_UNEQUAL;
  const int error = MPI_Comm_compare(comm_of(group), MPI_Comm_f2c(communicator), &result);
  *same = result == MPI_IDENT || result == MPI_CONGRUENT ? 1 : 0;
  return error;
}

int send(int group, int to, int tag, const void* data, std::size_t bytes, int* request) {
  *request = take_request();
  return MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_of(group),
                   &requests[static_cast<std::size_t>(*request)]);
}

int receive(int group, int from, int tag, void* data, std::size_t bytes, int* request) {
  *request = take_request();
  return MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm_of(group),
                   &requests[static_cast<std::size_t>(*request)]);
}

int test(int request, int* finished) {
  const int error = MPI_Test(&requests[static_cast<std::size_t>(request)], finished, MPI_STATUS_IGNORE);
  if (error == MPI_SUCCESS && *finished != 0) unused.push_back(request);
  return error;
}

int sum(int group, void* data, std::size_t count, MPI_Datatype type, int* request) {
  *request = take_request();
  return MPI_Iallreduce(MPI_IN_PLACE, data, static_cast<int>(count), type, MPI_SUM, comm_of(group),
                        &requests[static_cast<std::size_t>(*request)]);
}

int sum_float(int group, float* data, std::size_t count, int* request) {
  return sum(group, data, count, MPI_FLOAT, request);
}
int sum_double(int group, double* data, std::size_t count, int* request) {
  return sum(group, data, count, MPI_DOUBLE, request);
}

void abort(int group, int exit_code) { MPI_Abort(comm_of(group), exit_code); }

void explain(int error, char* text, std::size_t capacity) {
  char message[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(error, message, &length);
  std::snprintf(text, capacity, "%s", message);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const lockstep::MpiPlugin* lockstep_mpi_plugin() {
  static const lockstep::MpiPlugin plugin = {
      lockstep::kMpiPluginVersion, start, finish, compare, send, receive, test, sum_float, sum_double, abort, explain};
  return &plugin;
}
