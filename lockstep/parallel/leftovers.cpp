#include "lockstep/parallel/leftovers.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace lockstep {

namespace {

namespace fs = std::filesystem;

bool begins_with_one_of(const std::string& text, std::initializer_list<const char*> beginnings) {
  for (const char* each : beginnings)
    if (text.starts_with(each)) return true;
  return false;
}

/// /dev/shm/vader_segment.<host>.<user>.<job>.<rank> of Open MPI, /dev/shm/mpich_* of MPICH: ours, because mapped here.
void remove_shared_memory() {
  const std::string folder = "/dev/shm/";
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto at = line.find(folder);
    if (at == std::string::npos) continue;
    const std::string path = line.substr(at);
    if (begins_with_one_of(path.substr(folder.size()), {"vader_segment.", "sm_segment.", "mpich"}))
      ::unlink(path.c_str());  // a name that is gone already is as good
  }
}

/// <tmp>/ompi.<host>.<user>/pid.<n> on the launcher's host, jf.<n> on others; the folder above it if nothing else is
/// there.
void remove_session() {
  const char* name = std::getenv("OMPI_MCA_orte_jobfam_session_dir");
  if (name == nullptr) return;
  const fs::path session = name;
  if (!begins_with_one_of(session.filename().string(), {"pid.", "jf."}) ||
      !begins_with_one_of(session.parent_path().filename().string(), {"ompi."}))
    return;
  std::error_code error;
  fs::remove_all(session, error);
  fs::remove(session.parent_path(), error);
}

}  // namespace

void remove_mpi_leftovers(bool launcher_gone) {
  remove_shared_memory();
  if (launcher_gone) remove_session();
}

}  // namespace lockstep
