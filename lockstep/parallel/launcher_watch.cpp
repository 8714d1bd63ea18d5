#include "lockstep/parallel/launcher_watch.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include "lockstep/core/environment.hpp"

namespace lockstep {

namespace {

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

LauncherWatch::LauncherWatch() : parent_(::getppid()), launcher_(parent_) {
  // Inside a container the number means another process, or none: it counts only as an ancestor.
  const int wanted = process_of_session();
  for (int ancestor = parent_; wanted > 0 && ancestor > 1; ancestor = parent_of(ancestor))
    if (ancestor == wanted) launcher_ = wanted;
}

bool LauncherWatch::gone() const { return ::getppid() != parent_ || (::kill(launcher_, 0) != 0 && errno == ESRCH); }

}  // namespace lockstep
