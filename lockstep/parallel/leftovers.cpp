#include "lockstep/parallel/leftovers.hpp"

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

/// <tmp>/ompi.<host>.<user>/pid.<n> on the launcher's host, jf.<n> on others.
bool is_session(const fs::path& path) {
  return begins_with_one_of(path.filename().string(), {"pid.", "jf."}) &&
         path.parent_path().filename().string().starts_with("ompi.");
}

}  // namespace

std::vector<fs::path> mpi_leftovers(pid_t process, bool launcher_gone) {
  const fs::path about = fs::path("/proc") / std::to_string(process);
  std::vector<fs::path> found;
  // /dev/shm/vader_segment.<host>.<user>.<job>.<rank> of Open MPI, /dev/shm/mpich* of MPICH.
  const std::string folder = "/dev/shm/";
  std::ifstream maps(about / "maps");
  for (std::string line; std::getline(maps, line);) {
    const auto at = line.find(folder);
    if (at == std::string::npos || line.ends_with(" (deleted)")) continue;
    if (begins_with_one_of(line.substr(at + folder.size()), {"vader_segment.", "sm_segment.", "mpich"}))
      found.emplace_back(line.substr(at));
  }
  const std::string variable = "OMPI_MCA_orte_jobfam_session_dir=";
  std::ifstream environment(about / "environ");
  for (std::string entry; launcher_gone && std::getline(environment, entry, '\0');)
    if (entry.starts_with(variable) && is_session(entry.substr(variable.size())))
      found.emplace_back(entry.substr(variable.size()));
  return found;
}

void remove_leftovers(const std::vector<fs::path>& leftovers) {
  std::error_code error;  // what is gone already is as good
  for (const fs::path& path : leftovers) {
    fs::remove_all(path, error);
    if (is_session(path)) fs::remove(path.parent_path(), error);  // unless other sessions are there
  }
}

}  // namespace lockstep
