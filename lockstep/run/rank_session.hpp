#pragma once
// What the ranks of a run under mpirun or srun do together besides training: agree to begin, and end together. Rank 0
// alone reports and writes.

#include <exception>
#include <functional>
#include <memory>
#include <string>

#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/parallel/ranks.hpp"
#include "lockstep/parallel/watchdog.hpp"

namespace lockstep {

/// The end that all ranks of a run come to, on a rank other than 0: rank 0 throws the error itself and reports it. A
/// program that catches it should end with exit code 0: a launcher that sees another one ends all ranks at once,
/// perhaps before rank 0 has reported.
struct ReportedByRank0 : Error {
  using Error::Error;
};

/// The default number of threads of a rank: the processors that the launcher bound it to; when it is not bound, its
/// share of the processors of its host.
int threads_of_rank(const Transport& transport);

/// Runs `preparation` on every rank and exchanges the outcomes. After a failure rank 0 throws the error of the lowest
/// rank that failed (with its name, if it is another rank), the others ReportedByRank0.
void prepare_together(Ranks& ranks, const std::function<void()>& preparation);

/// Error(integrity) on rank 0, ReportedByRank0 on the others, that names the first rank and field that differ from
/// rank 0: program, configuration, data, numerics version. Returns the digest of the data.
std::string check_agreement(Ranks& ranks, const RunConfig& config, const DataSplits& data);

/// This process as one of the ranks that the launcher started, or as the only one, as long as the object lives: MPI is
/// started and ended once in a process. It is watched by the heartbeat (lockstep/parallel/heartbeat.hpp): a rank that
/// is lost, and a launcher that is gone, end all ranks with exit code 7. All ranks make it, and end it, together. `say`
/// and `over` as in run_as_rank. `patient`: all ranks may be idle for hours, as scripts are between two trainings.
/// `connect` makes the transport where it is not that of the launcher: over the ranks of a communicator of mpi4py.
class RankSession {
 public:
  using Connect = std::function<std::unique_ptr<Transport>(LibraryCalls*)>;

  explicit RankSession(std::function<void(const std::string&)> say,
                       std::function<void(int, const std::string&)> over = {}, bool patient = false,
                       const Connect& connect = {});
  ~RankSession();
  RankSession(const RankSession&) = delete;
  RankSession& operator=(const RankSession&) = delete;

  Ranks& ranks();
  /// As run_as_rank; again and again.
  void run(const std::function<void(Ranks&)>& program);
  /// The same, and returns the end that all ranks come to instead of throwing it; null: there is none.
  std::exception_ptr run_to_end(const std::function<void(Ranks&)>& program);
  /// Says `line` and ends the processes of all ranks: this one cannot go on.
  [[noreturn]] void end_all(ErrorCode code, const std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs `program` as this rank, under the eye of the heartbeat (lockstep/parallel/heartbeat.hpp): a rank that is lost,
/// and a launcher that is gone, end all ranks with exit code 7. Errors that all ranks meet at the same step
/// (divergence, a signal) leave it as they are on rank 0 and as ReportedByRank0 on the others; any other failure is
/// said by the rank that met it and ends all ranks. `say` is called from any thread; so is `over`, with the exit code
/// and the line (empty: another rank has said it), when a rank is lost or has failed: the process may end seconds
/// later, in the midst of anything.
void run_as_rank(const std::function<void(Ranks&)>& program, const std::function<void(const std::string&)>& say,
                 const std::function<void(int, const std::string&)>& over = {});

}  // namespace lockstep
