// lockstep launch -n N ... train ...: starts mpirun, and starts it again from the last checkpoint when a rank is lost.
// Returns when the run is complete; ends with the exit code of the run (SilentEnd: the run has reported) when no rank
// is lost, or the restarts are used up. A signal (SIGINT, SIGTERM) is passed on: the run saves and ends with 10; when
// it does not end in time, or at a second signal, all of it is killed and Error(peer_lost) says so. No process that was
// started is left at the end, on this machine and on hosts that can be reached.

#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.hpp"
#include "cli/process/mpirun.hpp"
#include "cli/process/process_tree.hpp"
#include "lockstep/config/config.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/system.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/parallel/dead_jobs.hpp"
#include "lockstep/parallel/leftovers.hpp"
#include "lockstep/run/status.hpp"

namespace lockstep::cli {

namespace {

struct LaunchArguments {
  int ranks = 0, max_restarts = 3;
  MpirunOptions mpirun{};
};

constexpr std::chrono::milliseconds kLook{50}, kLookForLeftovers{100};
// How long a run may take to save after a signal.
constexpr std::chrono::seconds kSaving{30};
// How long mpirun may live when all its ranks of this machine are gone: with a link down, or
// while it waits for a connection that is not its own, it would never end.
constexpr std::chrono::seconds kWithoutRanks{5};
// How long it may take to start them; hosts may have to be reached first.
constexpr std::chrono::seconds kFirstRank{20}, kFirstRankOfHosts{120};
constexpr std::chrono::seconds kKilling{5}, kAnswer{5};
// How long files of MPICH may look as if a process were about to use them.
constexpr std::chrono::milliseconds kSettling{3000};

volatile std::sig_atomic_t signals = 0;
extern "C" void count_signal(int) { signals = signals + 1; }

void note_stop_signals() {
  struct sigaction action {};
  action.sa_handler = count_signal;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
}

/// How mpirun ended.
struct Outcome {
  int code = 0;
  bool killed = false;  // by us: it did not end by itself
};

/// What follows --out.
std::string out_of(const std::vector<std::string>& command) {
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string& word = command[i];
    if (word.starts_with("--out=")) return word.substr(6);
    if (word == "--out" || word == "-o") return i + 1 < command.size() ? command[i + 1] : "";
    if (word.starts_with("-o") && !word.starts_with("--")) return word.substr(2);
  }
  return "";
}

/// Over how many ranks the run spreads one network, by its directory; 1 where it does not say so yet.
int parts_of_run(const std::vector<std::string>& command) {
  try {
    const ParallelOptions parallel = load_config(out_of(command) + "/config.toml").train.parallel;
    return parallel.pipeline * parallel.tensor;
  } catch (const Error&) {
    return 1;
  }
}

class Supervisor {
 public:
  Supervisor(const LaunchArguments& arguments, Console& console)
      : arguments_(arguments),
        console_(console),
        mpirun_(find_mpirun(arguments.mpirun.mpi)),
        mark_(fmt::format("{}-{}-{}", host_name(), ::getpid(), Clock::now().time_since_epoch().count())) {
    if (!arguments.mpirun.hosts.empty()) hosts_ = read_hosts(arguments.mpirun.hosts);
  }

  void run() {
    int ranks = arguments_.ranks;
    for (int restart = 0;; ++restart) {
      const StartCommand start = start_command(mpirun_, arguments_.mpirun, ranks, hosts_, restart > 0, mark_);
      note(fmt::format("{} with {}: {}", count_of(ranks, "rank"), mpirun_.name(),
                       one_line(fmt::format("{}", fmt::join(start.words, " ")))));
      const pid_t mpirun = start_process(start.words, start.environment);
      const Outcome outcome = supervise(mpirun);
      tidy_up(mpirun, outcome);
      finish(outcome);
      if (restart == arguments_.max_restarts)
        fail(fmt::format("a rank was lost ({}) and {} restarts are used up; go on with --resume", words_for(outcome),
                         restart));
      signal_other_hosts("KILL");
      ranks = ranks_left(ranks);
      note(fmt::format("a rank was lost ({}): restart {} of {}, from the last checkpoint, on {}", words_for(outcome),
                       restart + 1, arguments_.max_restarts, count_of(ranks, "rank")));
    }
  }

 private:
  void note(const std::string& line) { console_.note(fmt::format("lockstep launch: {}", line)); }

  /// The run is lost, and no rank is left to write it to the run directory.
  [[noreturn]] void fail(const std::string& message) const {
    note_lost(out_of(arguments_.mpirun.command), message);
    throw Error(ErrorCode::peer_lost, message);
  }

  bool is_loss(const Outcome& outcome) const {
    // The exit code of our own; of a process that a signal ended, as a shell and Open MPI count; and as MPICH does.
    return outcome.killed || outcome.code == static_cast<int>(ErrorCode::peer_lost) || outcome.code >= 128 ||
           (!mpirun_.open_mpi && outcome.code == SIGKILL);
  }

  std::string words_for(const Outcome& outcome) const {
    return outcome.killed ? "mpirun did not end and was killed" : fmt::format("mpirun ended with {}", outcome.code);
  }

  /// Returns where a restart is the answer.
  void finish(const Outcome& outcome) const {
    if (outcome.code == 0 && !outcome.killed) throw SilentEnd{0};
    if (stopping_ && (outcome.killed || outcome.code != static_cast<int>(ErrorCode::preempted)))
      fail(fmt::format("stopped by a signal, but not saved ({}); go on from the last checkpoint with --resume",
                       words_for(outcome)));
    if (!is_loss(outcome)) throw SilentEnd{outcome.code};
  }

  /// Files that the ranks would leave behind if they were killed now: a rank that is gone cannot be asked any more.
  void look_for_leftovers() {
    for (const pid_t rank : ranks_below()) leftovers_.merge(mpi_leftovers(rank, true));
    looked_ = Clock::now();
  }

  /// Whether mpirun has had no ranks for too long: `last` is when there were some, or when it was started.
  bool has_lost_ranks(bool had_ranks, Clock::time_point last, Clock::time_point now) {
    if (had_ranks || hosts_.empty()) return now - last > (had_ranks ? kWithoutRanks : kFirstRank);
    if (now - std::max(last, asked_) <= kFirstRankOfHosts) return false;
    asked_ = now;
    return std::none_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
      return !is_here(host) && succeeds(on_host(host, for_marked("exit 0") + "; exit 1"), kAnswer);
    });
  }

  /// Removes what ranks leave that outlived mpirun or are killed with it.
  void tidy_up(pid_t mpirun, const Outcome& outcome) {
    look_for_leftovers();
    if (!kill_descendants(kKilling)) note("some of its processes cannot be killed; they hang in the kernel");
    // First: the folder of the session tells which memory was its own.
    auto left = outcome.killed || outcome.code != 0 ? kSettling : std::chrono::milliseconds{};
    for (; !remove_dead_jobs({mpirun}) && left.count() > 0; left -= kLook) std::this_thread::sleep_for(kLook);
    remove_leftovers(leftovers_);
    leftovers_.clear();
  }

  /// Until mpirun has ended, or must be ended.
  Outcome supervise(pid_t mpirun) {
    bool had_ranks = false;
    auto seen = Clock::now();
    while (true) {
      if (const std::optional<int> code = ended(mpirun)) return {.code = *code};
      const auto now = Clock::now();
      if (!ranks_below().empty()) {
        had_ranks = true;
        seen = now;
        if (now - looked_ > kLookForLeftovers) look_for_leftovers();
      } else if (has_lost_ranks(had_ranks, seen, now)) {
        return {.killed = true};
      }
      if (signals > 0 && !stopping_) pass_on(mpirun, now);
      if (stopping_ && (signals > 1 || now - *stopping_ > kSaving)) return {.killed = true};
      std::this_thread::sleep_for(kLook);
    }
  }

  /// Signals the ranks themselves: mpirun would kill them after a second. It is enough if one rank receives the signal.
  void pass_on(pid_t mpirun, Clock::time_point now) {
    stopping_ = now;
    note("a signal: the run saves and ends");
    const std::vector<pid_t> ranks = ranks_below();
    for (const pid_t rank : ranks) ::kill(rank, SIGTERM);
    if (!ranks.empty()) return;
    if (hosts_.empty())
      ::kill(mpirun, SIGTERM);  // none has started yet
    else
      signal_other_hosts("TERM");
  }

  bool is_here(const Host& host) const { return host.name == "localhost" || host.name == host_name(); }

  std::vector<std::string> on_host(const Host& host, const std::string& command) const {
    if (!arguments_.mpirun.agent.empty()) return {arguments_.mpirun.agent, host.name, command};
    return {"ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=4", host.name, command};
  }

  /// A command of the shell that does something for every rank of ours, known by the mark in its environment; $p is its
  /// folder in /proc.
  std::string for_marked(const std::string& command) const {
    return fmt::format(
        "for p in /proc/[0-9]*; do if grep -qzx LOCKSTEP_LAUNCH={} $p/environ 2>/dev/null; then {}; fi; done", mark_,
        command);
  }

  void signal_other_hosts(const std::string& signal) const {
    const std::string command = for_marked(fmt::format("kill -{} ${{p#/proc/}}", signal)) + "; true";
    for (const Host& host : hosts_)
      if (!is_here(host)) succeeds(on_host(host, command), kAnswer);
  }

  /// Forgets the hosts that do not answer; how many ranks the others take.
  int ranks_left(int ranks) {
    const std::size_t before = hosts_.size();
    std::erase_if(hosts_, [&](const Host& host) {
      if (is_here(host) || succeeds(on_host(host, "true"), kAnswer)) return false;
      note(fmt::format("host {} does not answer: going on without it", host.name));
      return true;
    });
    if (hosts_.size() == before) return ranks;
    if (hosts_.empty()) fail("no host answers; go on with --resume when one does");
    int slots = 0;
    for (const Host& host : hosts_) slots += host.slots;
    const int left = std::min(ranks, slots), parts = parts_of_run(arguments_.mpirun.command);
    if (left < parts)
      fail(
          fmt::format("the hosts that answer take {} ranks, and the network is in {} parts: go on with --resume "
                      "on more ranks, or with a smaller parallel.pipeline and parallel.tensor",
                      left, parts));
    return left / parts * parts;
  }

  const LaunchArguments& arguments_;
  Console& console_;
  const Mpirun mpirun_;
  const std::string mark_;
  std::vector<Host> hosts_{};  // that are thought to answer
  std::optional<Clock::time_point> stopping_{};
  std::set<std::filesystem::path> leftovers_{};  // of the ranks of the present start
  Clock::time_point looked_{};                   // for them
  Clock::time_point asked_{};                    // the other hosts, whether ranks live there
};

void check_command(const std::vector<std::string>& command) {
  if (command.empty())
    throw Error(ErrorCode::usage, "launch: what to start is missing: lockstep launch -n 4 train ...");
  if (command[0] != "train")
    throw Error(ErrorCode::usage,
                fmt::format("launch: {} {}; it starts lockstep train: see lockstep launch --help",
                            command[0].starts_with("-") ? "unknown option" : "cannot start", command[0]));
  if (out_of(command).empty())
    throw Error(ErrorCode::usage, "launch: train needs --out DIR: a restart goes on with the run there");
}

/// Names only: several of them, and subnets (10.1.0.0/16), are left to the MPI library.
void check_interface(const LaunchArguments& arguments) {
  const std::string& name = arguments.mpirun.interface;
  if (name.empty()) return;
  if (arguments.mpirun.hosts.empty())
    throw Error(ErrorCode::usage,
                "launch: --interface names the network between hosts, and there is one host: give --hosts FILE, or "
                "leave it out: ranks of one host use shared memory");
  if (name.find_first_of(",/") == std::string::npos && ::if_nametoindex(name.c_str()) == 0)
    throw Error(ErrorCode::usage,
                fmt::format("launch: --interface {}: this host has no such network; ip -brief link lists them", name));
}

void run_launch(const LaunchArguments& arguments, Console& console) {
  check_command(arguments.mpirun.command);
  check_interface(arguments);
  remove_dead_jobs();
  Supervisor supervisor(arguments, console);
  adopt_orphans();
  note_stop_signals();
  supervisor.run();
}

}  // namespace

RunCommand launch_command(Options& options) {
  const auto arguments = std::make_shared<LaunchArguments>();
  MpirunOptions& mpirun = arguments->mpirun;
  options.examples(R"(Examples:
  lockstep launch -n 4 train my.toml --out runs/try
  lockstep launch -n 16 --hosts hosts.txt train my.toml --out runs/try --threads 2

It starts mpirun. When a rank or a host is lost, it starts it again from the last checkpoint, on the hosts that answer:
the result is that of a run that lost none. SIGTERM and Ctrl-C save the run and end it with exit code 10.
What follows train is the command line of lockstep train, and must have --out.)");
  options.integer("-n,--ranks", arguments->ranks, 1, 65536, {"N", "How many ranks"}, true);
  options.text("--hosts", mpirun.hosts, {"FILE", "A host per line: name slots=4, or name:4; default: this machine"});
  options.integer("--max-restarts", arguments->max_restarts, 0, 1'000'000,
                  {"R", "How often it may start again; default: 3"});
  options.choice("--mpi", mpirun.mpi, {"openmpi", "mpich"},
                 {"NAME", "openmpi or mpich; default: what is installed, Open MPI first"});
  options.text("--bind-to", mpirun.bind_to, {"WHAT", "To what mpirun binds ranks: core, socket, ...; default: none"});
  options.text("--agent", mpirun.agent, {"PROGRAM", "What starts commands on other hosts; default: ssh"});
  options.text("--interface", mpirun.interface,
               {"NAME", "The network between the hosts, as eth0; default: all of them"});
  options.rest(mpirun.command);
  return [arguments](Console& console) { run_launch(*arguments, console); };
}

}  // namespace lockstep::cli
