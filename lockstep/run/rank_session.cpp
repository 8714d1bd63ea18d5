#include "lockstep/run/rank_session.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/model/checkpoint.hpp"
#include "lockstep/parallel/dead_jobs.hpp"
#include "lockstep/parallel/heartbeat.hpp"
#include "lockstep/parallel/launcher.hpp"
#include "lockstep/parallel/leftovers.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/parallel/watchdog.hpp"

namespace lockstep {

namespace {

constexpr std::int64_t kMaxProgramBytes = std::int64_t{1} << 32;

/// An error that all ranks know of: rank 0 reports it, and all ranks end by themselves.
struct AgreedError : Error {
  using Error::Error;
};

std::string text_hash(const std::string& text) { return sha256_hex(std::as_bytes(std::span(text))); }

[[noreturn]] void end_with(const Ranks& ranks, ErrorCode code, const std::string& message) {
  if (ranks.leader()) throw AgreedError(code, message);
  throw ReportedByRank0(code, message);
}

/// All ranks come to such an end at the same step.
bool is_common(ErrorCode code) { return code == ErrorCode::diverged || code == ErrorCode::preempted; }

}  // namespace

int threads_of_rank(const Transport& transport) {
  const int own = default_threads(), all = static_cast<int>(std::thread::hardware_concurrency());
  if (environment_integer("OMP_NUM_THREADS") || own < all) return own;
  return std::max(1, own / transport.local_size());
}

void prepare_together(Ranks& ranks, const std::function<void()>& preparation) {
  std::string outcome;  // empty: well; else the exit code as one character, and the message
  try {
    preparation();
  } catch (const Error& error) {
    outcome = static_cast<char>('0' + static_cast<int>(error.code())) + std::string(error.what());
  }
  const std::vector<std::string> outcomes = ranks.all_gather(outcome, "preparation");
  const std::vector<std::string> hosts = ranks.all_gather(ranks.transport().host(), "preparation");
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    if (outcomes[rank].empty()) continue;
    const std::string message = outcomes[rank].substr(1);
    end_with(ranks, static_cast<ErrorCode>(outcomes[rank][0] - '0'),
             rank == 0 ? message : fmt::format("rank {} on {}: {}", rank, hosts[rank], message));
  }
}

namespace {

/// What the ranks must have in common. A rank may find a file in another folder: what the file holds is compared by the
/// digest of the data.
std::string common_configuration(RunConfig config) {
  for (std::string* path : {&config.data.source, &config.data.test, &config.data.labels, &config.data.test_labels})
    *path = std::filesystem::path(*path).filename().string();
  return resolved_toml(config);
}

}  // namespace

std::string check_agreement(Ranks& ranks, const RunConfig& config, const DataSplits& data) {
  const std::vector<std::byte> program = read_file("/proc/self/exe", kMaxProgramBytes, ErrorCode::resources);
  // What rank 0 has sent is checked where it arrives.
  std::string digest = !config.data.from_rank0 ? data_digest(data)
                       : ranks.leader()        ? ranks.broadcast(data_digest(data), "agreement")
                                               : ranks.broadcast("", "agreement");
  const std::pair<const char*, std::string> facts[] = {{"program", sha256_hex(program)},
                                                       {"configuration", text_hash(common_configuration(config))},
                                                       {"data", digest},
                                                       {"numerics version", std::to_string(kNumericsVersion)}};
  for (const auto& [field, own] : facts) {
    const std::vector<std::string> all = ranks.all_gather(own, "agreement");
    const std::vector<std::string> hosts = ranks.all_gather(ranks.transport().host(), "agreement");
    for (std::size_t rank = 1; rank < all.size(); ++rank)
      if (all[rank] != all[0])
        end_with(ranks, ErrorCode::integrity,
                 fmt::format("rank {} on {} has another {} ({}) than rank 0 on {} ({}); all ranks must start with the "
                             "same",
                             rank, hosts[rank], field, short_hash(all[rank]), hosts[0], short_hash(all[0])));
  }
  return digest;
}

namespace {

// How long a call into MPI may take that should take none: MPI_Abort, and MPI_Finalize once all ranks have met.
constexpr std::chrono::seconds kAbort{3}, kFinalize{10};
// Starting takes longer the more ranks there are; the first of them may have to wait for the last host.
constexpr std::chrono::seconds kStart{2};
constexpr std::chrono::milliseconds kStartPerRank{50};
// Rank 1 speaks where rank 0 does not; a busy machine does not start them at the same instant.
constexpr std::chrono::milliseconds kNextSpeaker{1500};
// A failure may be the echo of another rank's, which is known by then.
constexpr std::chrono::seconds kEcho{2};

// How often, and how long in between, the first rank of a host looks whether it is the last one that lives.
constexpr int kLastLooks = 20;
constexpr std::chrono::milliseconds kLastLook{50};

/// The first of these variables that is set; none: there is no launcher.
std::optional<int> launched_number(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto number = environment_integer(name)) return static_cast<int>(*number);
  return std::nullopt;
}
/// The rank that the launcher gave to this process.
std::optional<int> launched_rank() { return launched_number({"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}); }

/// The launcher is gone before MPI has started. Ranks may still be making files: the last one tidies up, or the next
/// start does.
void remove_own_job() {
  const bool first = launched_number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}) == 0;
  for (int i = 0; !remove_dead_jobs() && first && i < kLastLooks; ++i) std::this_thread::sleep_for(kLastLook);
}

/// Ends this process when MPI has not started in time: another rank may be stopped before there are beats. One rank
/// speaks; when it ends, the launcher ends the rest. Without a launcher it ends in silence: MPI would, too.
void guard_start(std::optional<Watchdog>& guard, const LauncherWatch& watch, const StartMark& mark) {
  const auto launcher = find_launcher();
  if (!launcher) return;
  const std::chrono::nanoseconds limit = peer_timeout() + kStart + kStartPerRank * launcher->size;
  const int rank = launched_rank().value_or(0);
  std::string line = fmt::format(
      "lockstep: rank {} has not met the other {} after {:.3g} s: one of them is dead, stopped or cut off; where ranks "
      "take longer to start, LOCKSTEP_PEER_TIMEOUT gives more seconds",
      rank, launcher->size - 1, std::chrono::duration<double>(limit).count());
  if (rank >= 2) line.clear();
  const auto end = [line, &watch, &mark](int exit_code) {
    if (watch.gone()) {
      remove_own_job();
    } else {
      if (!line.empty()) write_line(line);
      remove_leftovers(mpi_leftovers(::getpid(), false));
      mark.remove();
    }
    ::_exit(exit_code);
  };
  guard.emplace(limit + kNextSpeaker * std::min(rank, 2), "", static_cast<int>(ErrorCode::peer_lost), end,
                [&watch] { return watch.gone(); });
}

/// Runs it and returns the end that all ranks come to, where there is one.
std::exception_ptr run_to_common_end(Ranks& ranks, const std::function<void(Ranks&)>& program) {
  try {
    program(ranks);
  } catch (const ReportedByRank0&) {
    return std::current_exception();
  } catch (const AgreedError&) {
    return std::current_exception();
  } catch (const Error& error) {
    if (ranks.size() > 1 && !is_common(error.code())) throw;
    return ranks.leader() ? std::current_exception()
                          : std::make_exception_ptr(ReportedByRank0(error.code(), error.what()));
  }
  return nullptr;
}

/// Says why, unless another rank has said why the run is over, and ends all ranks.
[[noreturn]] void end_all(Ranks& ranks, std::optional<Heartbeat>& heartbeat, ErrorCode code,
                          const std::string& message) {
  if (code == ErrorCode::peer_lost) heartbeat->verdict(kEcho);
  heartbeat->end_all(
      static_cast<int>(code),
      ranks.leader() ? message : fmt::format("rank {} on {}: {}", ranks.rank(), ranks.transport().host(), message));
  const int exit_code = heartbeat->verdict({});
  heartbeat.reset();                                                            // the others know now
  if (exit_code == static_cast<int>(ErrorCode::peer_lost)) ::_exit(exit_code);  // MPI would wait for the lost rank
  const Watchdog guard(kAbort, "", exit_code);
  ranks.transport().abort(exit_code);
  ::_exit(exit_code);
}

}  // namespace

struct RankSession::State {
  State(std::function<void(const std::string&)> said, std::function<void(int, const std::string&)> over, bool patient,
        const Connect& connect)
      : say(std::move(said)) {
    if (connect)  // MPI has started already
      ranks.emplace(connect(&calls));
    else
      start_mpi();
    HeartbeatOptions options{.calls = &calls,
                             .launcher_gone = [this] { return launcher.gone(); },
                             .say = say,
                             .on_loss = [this] { remove_leftovers(mpi_leftovers(::getpid(), launcher.gone())); },
                             .on_over = std::move(over)};
    if (patient) options.idle = std::chrono::hours(24 * 365);
    if ((launched_rank() && !connect) || ranks->size() > 1) heartbeat.emplace(*ranks, std::move(options));
    guard.reset();
  }

  void start_mpi() {
    if (launched_rank()) remove_dead_jobs();
    mark.emplace();
    guard_start(guard, launcher, *mark);
    ranks.emplace(connect_transport(&calls));
    mark->remove();
  }

  // In this order: they end in the reverse one.
  const LauncherWatch launcher{};
  LibraryCalls calls{};
  const std::function<void(const std::string&)> say;
  std::optional<StartMark> mark{};
  std::optional<Watchdog> guard{};
  std::optional<Ranks> ranks{};
  std::optional<Heartbeat> heartbeat{};
};

RankSession::RankSession(std::function<void(const std::string&)> say, std::function<void(int, const std::string&)> over,
                         bool patient, const Connect& connect)
    : state_(std::make_unique<State>(std::move(say), std::move(over), patient, connect)) {
  const auto& [ranks, heartbeat] = std::tie(*state_->ranks, state_->heartbeat);
  if (ranks.leader() && heartbeat && heartbeat->unwatched() > 0)
    state_->say(fmt::format(
        "warning: {} of {} ranks cannot be reached over TCP: should one die, that is noticed after {:.0f} s",
        heartbeat->unwatched(), ranks.size(), std::chrono::duration<double>(wait_timeout()).count()));
}

RankSession::~RankSession() {
  const Ranks& ranks = *state_->ranks;
  if (ranks.size() == 1) return;
  state_->guard.emplace(
      kFinalize,
      fmt::format("lockstep: rank {} on {}: MPI does not end: mpirun, or another rank, is dead, stopped or cut off; "
                  "the run is complete or saved, resume it to see",
                  ranks.rank(), state_->ranks->transport().host()),
      static_cast<int>(ErrorCode::peer_lost));
  state_->heartbeat.reset();
}

Ranks& RankSession::ranks() { return *state_->ranks; }

void RankSession::end_all(ErrorCode code, const std::string& line) {
  if (state_->heartbeat) lockstep::end_all(*state_->ranks, state_->heartbeat, code, line);
  ::_exit(static_cast<int>(code));
}

std::exception_ptr RankSession::run_to_end(const std::function<void(Ranks&)>& program) {
  Ranks& ranks = *state_->ranks;
  if (ranks.size() == 1) return run_to_common_end(ranks, program);
  try {
    std::exception_ptr common = run_to_common_end(ranks, program);
    ranks.barrier("end");
    return common;
  } catch (const Error& error) {
    end_all(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    end_all(ErrorCode::resources, "out of memory; a smaller train.batch or data.stream needs less");
  } catch (const std::exception& error) {
    end_all(ErrorCode::bug, error.what());
  }
}

void RankSession::run(const std::function<void(Ranks&)>& program) {
  if (const std::exception_ptr common = run_to_end(program)) std::rethrow_exception(common);
}

void run_as_rank(const std::function<void(Ranks&)>& program, const std::function<void(const std::string&)>& say,
                 const std::function<void(int, const std::string&)>& over) {
  std::exception_ptr common;
  {
    RankSession session(say, over);
    common = session.run_to_end(program);
  }  // MPI ends here: while an exception is on its way the transport would not wait for the other ranks
  if (common) std::rethrow_exception(common);
}

}  // namespace lockstep
