#include "lockstep/parallel/leftovers.hpp"

#include <fstream>
#include <string>

namespace lockstep {

namespace {

namespace fs = std::filesystem;

/// /dev/shm/vader_segment.<host>.<user>.<job>.<rank> of Open MPI: those of all ranks of the job on this host, of which
/// one that was killed early may be mapped by nobody. /dev/shm/mpich* of MPICH has a name of its own for every job.
void add_segments(const fs::path& mapped, std::set<fs::path>& found) {
  const std::string name = mapped.filename().string();
  if (name.starts_with("mpich")) found.insert(mapped);
  if (!name.starts_with("vader_segment.")) return;
  const std::string job = name.substr(0, name.rfind('.') + 1);
  std::error_code error;
  for (fs::directory_iterator each(mapped.parent_path(), error), end; !error && each != end; each.increment(error))
    if (each->path().filename().string().starts_with(job)) found.insert(each->path());
}

}  // namespace

bool is_session(const fs::path& path) {
  const std::string name = path.filename().string();
  return (name.starts_with("pid.") || name.starts_with("jf.")) &&
         path.parent_path().filename().string().starts_with("ompi.");
}

std::set<fs::path> mpi_leftovers(pid_t process, bool launcher_gone) {
  const fs::path about = fs::path("/proc") / std::to_string(process);
  std::set<fs::path> found;
  const std::string folder = "/dev/shm/";
  std::ifstream maps(about / "maps");
  for (std::string line; std::getline(maps, line);)
    if (const auto at = line.find(folder); at != std::string::npos && !line.ends_with(" (deleted)"))
      add_segments(line.substr(at), found);
  const std::string variable = "OMPI_MCA_orte_jobfam_session_dir=";
  std::ifstream environment(about / "environ");
  for (std::string entry; launcher_gone && std::getline(environment, entry, '\0');) {
    if (!entry.starts_with(variable)) continue;
    const fs::path session = entry.substr(variable.size());
    if (is_session(session)) found.insert(session);
  }
  return found;
}

void remove_leftovers(const std::set<fs::path>& leftovers) {
  std::error_code error;  // what is gone already is as good
  for (const fs::path& path : leftovers) {
    fs::remove_all(path, error);
    if (is_session(path)) fs::remove(path.parent_path(), error);  // unless other sessions are there
  }
}

}  // namespace lockstep
