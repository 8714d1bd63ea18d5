#pragma once
// Whether the process that started this one is still there: mpirun, or its agent on this host.

namespace lockstep {

class LauncherWatch {
 public:
  /// To be made early: a launcher that was gone before is not missed.
  LauncherWatch();

  bool gone() const;

 private:
  int parent_;
  int launcher_;  // an ancestor; the parent itself unless there is a script in between
};

}  // namespace lockstep
