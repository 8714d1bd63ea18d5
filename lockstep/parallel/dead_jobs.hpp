#pragma once
// What MPI jobs of Lockstep left on this host when their mpirun was killed while they started: the next start removes
// it, but only what is known to be ours, and dead (docs/design/0008-no-hang.md).

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace lockstep {

/// Marks the job of this process as one of Lockstep, before MPI is started: by a file in the session folder of Open
/// MPI, which goes with the folder, or by a file beside MPICH's shared memory, which this object removes: once MPICH
/// has started, its memory has no name any more.
class StartMark {
 public:
  StartMark();
  ~StartMark() { remove(); }
  StartMark(const StartMark&) = delete;
  StartMark& operator=(const StartMark&) = delete;

  /// MPI has started, or this process ends.
  void remove() const;

 private:
  std::filesystem::path mpich_{};
};

/// Removes the session folders and the shared memory of jobs of this user that are marked, or were started by one of
/// the mpirun processes `launched`, or by an mpirun that died before it had started any process; in each case mpirun
/// and all of its ranks are dead. False when something was left alone because a rank still lives.
bool remove_dead_jobs(const std::vector<pid_t>& launched = {});

/// The same in other folders, for tests.
struct JobFolders {
  std::vector<std::filesystem::path> sessions;  // <tmp>/ompi.<host>.<user>
  std::filesystem::path memory = "/dev/shm";
};
bool remove_dead_jobs(const JobFolders& folders, const std::vector<pid_t>& launched);

}  // namespace lockstep
