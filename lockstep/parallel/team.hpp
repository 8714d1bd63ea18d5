#pragma once
// A team of OpenMP threads: one parallel region for the length of a run, in which every thread executes the same
// program on its share (SPMD) and meets the others at barriers.

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep/parallel/barrier.hpp"

namespace lockstep {

/// The processors this process may use, ascending: its affinity mask; with OMP_PROC_BIND, the places of OpenMP.
std::vector<int> allowed_cpus();

/// How many processors this process may use: allowed_cpus() and the CPU quota of its control group, at least 1.
int available_cpus();

/// Threads to use where none were asked for: OMP_NUM_THREADS, else available_cpus(); 1 inside an OpenMP region that
/// does not nest, and never more than OMP_THREAD_LIMIT. Error(usage) for an OMP_NUM_THREADS that is no number of
/// threads.
int default_threads();

/// How long the threads of a team of that size look at a barrier before they sleep: not at all where they are more than
/// the processors.
std::chrono::nanoseconds barrier_spin(int threads);

/// "thread 0 on cpu 3": where each thread of a team of that size runs right now.
std::vector<std::string> thread_map(int threads);

/// What a thread knows about its team.
struct Member {
  int index = 0;  // from 0, the calling thread
  int size = 1;
  Barrier& barrier;

  /// This member's share of [0, count): [share(count, index), share(count, index + 1)).
  std::int64_t share(std::int64_t count, int member) const { return count * member / size; }
};

/// A team for short programs, one after the other: nothing is allocated or looked up between them.
class Team {
 public:
  explicit Team(int threads);

  int size() const { return size_; }
  /// Runs program(member) on every thread and returns when all have ended. When members throw, the others are released
  /// from their barriers and the exception of the lowest member is thrown again here.
  void run(const std::function<void(const Member&)>& program);

 private:
  int size_;
  std::chrono::nanoseconds spin_;
  std::unique_ptr<Barrier> barrier_;  // a new one after a failure
  std::vector<std::exception_ptr> failures_;
};

/// Team(threads).run(program).
void run_team(int threads, const std::function<void(const Member&)>& program);

}  // namespace lockstep
