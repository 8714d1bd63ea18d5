#include "lockstep/parallel/launcher.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {

namespace {

int number(const Environment& environment, const char* name) {
  const char* text = environment(name);
  return text == nullptr || *text == '\0' ? 0 : static_cast<int>(environment_integer(name, text));
}

/// 0 where there is none, or it cannot be told.
int parent_of(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(") ");  // the name may hold anything
  return name_end == std::string::npos ? 0 : std::atoi(text.c_str() + name_end + 4);
}

/// The number in <tmp>/ompi.<host>.<user>/pid.<n>, Open MPI's folder for the session; 0: none.
int process_of_session() {
  const std::string path = environment_text("OMPI_MCA_orte_jobfam_session_dir").value_or("");
  const auto at = path.rfind("/pid.");
  return at == std::string::npos ? 0 : std::atoi(path.c_str() + at + 5);
}

}  // namespace

std::optional<Launcher> find_launcher(const Environment& environment) {
  const auto several = [](Launcher launcher) { return launcher.size > 1 ? std::optional(launcher) : std::nullopt; };
  if (environment("OMPI_COMM_WORLD_SIZE") != nullptr)
    return several({MpiLibrary::open_mpi, number(environment, "OMPI_COMM_WORLD_SIZE"), "Open MPI's mpirun"});
  // Before PMIx: MPICH's mpirun inside a Slurm job starts its helpers by srun, and what srun left for those (PMIX_RANK,
  // where pmix is the default, and the number of helpers) is still in the environment of the ranks.
  if (environment("PMI_RANK") != nullptr || environment("PMI_FD") != nullptr) {
    const char* type = environment("SLURM_MPI_TYPE");
    const bool by_srun = type != nullptr && std::strcmp(type, "pmi2") == 0;
    return several(
        {MpiLibrary::mpich, number(environment, "PMI_SIZE"), by_srun ? "srun --mpi=pmi2" : "MPICH's mpirun"});
  }
  const int tasks = environment("SLURM_STEP_NUM_TASKS") != nullptr ? number(environment, "SLURM_STEP_NUM_TASKS")
                                                                   : number(environment, "SLURM_NTASKS");
  if (environment("PMIX_RANK") != nullptr) return several({MpiLibrary::open_mpi, tasks, "srun --mpi=pmix"});
  // Inside sbatch, but not started by srun: SLURM_PROCID is there, SLURM_STEP_NUM_TASKS is not.
  if (environment("SLURM_STEP_NUM_TASKS") != nullptr && environment("SLURM_PROCID") != nullptr && tasks > 1)
    throw Error(ErrorCode::usage,
                fmt::format("srun started {} processes that cannot find each other: use srun --mpi=pmix "
                            "(Open MPI) or srun --mpi=pmi2 (MPICH)",
                            tasks));
  return std::nullopt;
}

std::optional<int> find_local_rank(const Environment& environment) {
  // Slurm last: inside of a job, another launcher's processes still have what srun left for its helpers.
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "PMIX_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MVP_COMM_WORLD_LOCAL_RANK",
        "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "SLURM_LOCALID"})
    if (const char* const text = environment(name); text != nullptr && *text != '\0') return number(environment, name);
  return std::nullopt;
}

namespace {

template <class Find>
auto in_this_environment(const Find& find) {
  std::string value;
  return find([&](const char* name) {
    const auto text = environment_text(name);
    value = text.value_or("");
    return text ? value.c_str() : nullptr;
  });
}

}  // namespace

std::optional<Launcher> find_launcher() {
  return in_this_environment([](const Environment& environment) { return find_launcher(environment); });
}

std::optional<int> find_local_rank() {
  return in_this_environment([](const Environment& environment) { return find_local_rank(environment); });
}

std::unique_ptr<Transport> connect_transport(LibraryCalls* calls) {
  const std::optional<Launcher> launcher = find_launcher();
  return launcher ? make_mpi_transport(*launcher, calls) : make_self_transport();
}

LauncherWatch::LauncherWatch() : parent_(::getppid()), launcher_(parent_) {
  // Inside a container the number means another process, or none: it counts only as an ancestor.
  const int wanted = process_of_session();
  for (int ancestor = parent_; wanted > 0 && ancestor > 1; ancestor = parent_of(ancestor))
    if (ancestor == wanted) launcher_ = wanted;
}

bool LauncherWatch::gone() const { return ::getppid() != parent_ || (::kill(launcher_, 0) != 0 && errno == ESRCH); }

}  // namespace lockstep
