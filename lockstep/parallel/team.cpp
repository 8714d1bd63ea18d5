#include "lockstep/parallel/team.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace lockstep {

namespace {

/// Longer than the threads of a step usually wait for each other, and than waking one up takes (above all on a virtual
/// machine); much shorter than a time slice.
constexpr std::chrono::microseconds kSpin{100};

/// The quota of control group version 2, in processors; 0 where there is none.
double cgroup_quota() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::strtod(quota.c_str(), nullptr) / period;
}

/// OpenMP ends the process where the system refuses it a thread. So that a user gets a line with the cure, a team that
/// is larger than any before is tried with plain threads first.
[[maybe_unused]] void try_threads(int threads) {
  static std::atomic<int> known = 1;
  if (threads <= known) return;
  std::atomic<bool> release = false;
  std::vector<std::thread> others;
  std::string refused;
  try {
    while (static_cast<int>(others.size()) + 1 < threads) others.emplace_back([&] { release.wait(false); });
  } catch (const std::system_error& error) {
    refused = error.code().message();
  }
  release = true;
  release.notify_all();
  for (std::thread& each : others) each.join();
  if (!refused.empty())
    throw Error(ErrorCode::resources,
                fmt::format("asked for {} threads, the system gives {} ({}); use fewer threads, or raise the limit of "
                            "processes or memory (ulimit -u, ulimit -v, pids.max of the control group)",
                            threads, others.size() + 1, refused));
  known = threads;
}

/// Calls program(index) for each index on a thread of its own, index 0 on this one.
template <class Program>
void fork_join(int threads, const Program& program) {
#if defined(_OPENMP) && !defined(__SANITIZE_THREAD__)
  try_threads(threads);
  int started = 0;
#pragma omp parallel num_threads(threads) default(shared)
  {
#pragma omp single
    started = omp_get_num_threads();
    if (started == threads) program(omp_get_thread_num());
  }
  if (started != threads)
    throw Error(ErrorCode::resources,
                fmt::format("asked for {} threads, OpenMP gives {} {}; use fewer threads or raise {}", threads, started,
                            omp_in_parallel() != 0 ? "inside a parallel region" : "here",
                            omp_in_parallel() != 0 ? "OMP_MAX_ACTIVE_LEVELS" : "OMP_THREAD_LIMIT"));
#else
  // libgomp is not instrumented, so ThreadSanitizer would report its own hand-over; everything above is the same.
  std::vector<std::jthread> others;
  for (int index = 1; index < threads; ++index) others.emplace_back([&program, index] { program(index); });
  program(0);
#endif
}

}  // namespace

std::vector<int> allowed_cpus() {
  std::vector<int> cpus;
#ifdef _OPENMP
  // With OMP_PROC_BIND the first thread was bound to one place before main began: its mask is not that of the process.
  if (omp_get_proc_bind() != omp_proc_bind_false)
    for (int place = 0; place < omp_get_num_places(); ++place) {
      std::vector<int> members(static_cast<std::size_t>(omp_get_place_num_procs(place)));
      omp_get_place_proc_ids(place, members.data());
      cpus.insert(cpus.end(), members.begin(), members.end());
    }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  if (!cpus.empty()) return cpus;
#endif
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  return cpus;
}

int available_cpus() {
  int cpus = static_cast<int>(allowed_cpus().size());
  if (cpus == 0) cpus = static_cast<int>(std::thread::hardware_concurrency());
  if (const double quota = cgroup_quota(); quota > 0) cpus = std::min(cpus, static_cast<int>(std::ceil(quota)));
  return std::max(cpus, 1);
}

int default_threads() {
  const int wanted = static_cast<int>(environment_integer("OMP_NUM_THREADS").value_or(available_cpus()));
#ifdef _OPENMP
  // Inside of somebody's parallel region OpenMP gives one thread, unless it was told to nest.
  if (omp_get_active_level() >= omp_get_max_active_levels()) return 1;
  return std::min(wanted, omp_get_thread_limit());
#else
  return wanted;
#endif
}

std::vector<std::string> thread_map(int threads) {
  std::vector<std::string> lines(static_cast<std::size_t>(threads));
  run_team(threads, [&](const Member& member) {
    lines[static_cast<std::size_t>(member.index)] = fmt::format("thread {} on cpu {}", member.index, sched_getcpu());
  });
  return lines;
}

std::chrono::nanoseconds barrier_spin(int threads) {
  return threads <= available_cpus() ? kSpin : std::chrono::microseconds{0};
}

Team::Team(int threads)
    : size_(threads),
      spin_(barrier_spin(threads)),
      barrier_(std::make_unique<Barrier>(size_, spin_)),
      failures_(static_cast<std::size_t>(threads)) {}

void Team::run(const std::function<void(const Member&)>& program) {
  if (size_ == 1) return program({.index = 0, .size = 1, .barrier = *barrier_});
  fork_join(size_, [&](int index) {
    try {
      program({.index = index, .size = size_, .barrier = *barrier_});
    } catch (const TeamFailed&) {
      // another member's exception tells why
    } catch (...) {
      failures_[static_cast<std::size_t>(index)] = std::current_exception();
      barrier_->fail();
    }
  });
  std::exception_ptr first;
  for (std::exception_ptr& failure : failures_) {
    if (!first) first = failure;
    failure = nullptr;
  }
  if (!first) return;
  barrier_ = std::make_unique<Barrier>(size_, spin_);
  std::rethrow_exception(first);
}

void run_team(int threads, const std::function<void(const Member&)>& program) { Team(threads).run(program); }

}  // namespace lockstep
