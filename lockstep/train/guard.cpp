#include "lockstep/train/guard.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/random.hpp"

namespace lockstep {

namespace {

/// The processors that this thread may run on.
std::vector<int> thread_cores() {
  std::vector<int> cores;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &mask)) cores.push_back(core);
  return cores;
}

bool bind_thread(const std::vector<int>& cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(core, &mask);
  return ::sched_setaffinity(0, sizeof mask, &mask) == 0;
}

/// Binds this thread to the cores it may use, without these; where a launcher has bound it to no other, to any other
/// core of the machine. False: there is none.
bool bind_without(const std::vector<int>& avoided) {
  const auto is_avoided = [&](int core) { return std::find(avoided.begin(), avoided.end(), core) != avoided.end(); };
  std::vector<int> cores = thread_cores();
  std::erase_if(cores, is_avoided);
  if (!cores.empty()) return bind_thread(cores);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (!is_avoided(core)) cores.push_back(core);
  return bind_thread(cores);
}

}  // namespace

int current_core() { return ::sched_getcpu(); }

AwayFromCore::AwayFromCore(int core, std::vector<int> avoided) {
  if (current_core() != core) return;
  avoided.push_back(core);
  before_ = thread_cores();
  if (!bind_without(avoided)) before_.clear();
}

AwayFromCore::~AwayFromCore() {
  if (!before_.empty()) bind_thread(before_);
}

Guard::Guard(const GuardOptions& options, std::uint64_t seed, int rank, std::string host)
    : share_(options.recheck),
      seed_(seed),
      rank_(rank),
      host_(std::move(host)),
      planted_(PlantedFault::from_environment()) {}

bool Guard::draws(std::int64_t step, std::int64_t number) const {
  const RandomKey key{.seed = seed_, .purpose = Purpose::recheck, .sample = static_cast<std::uint64_t>(step)};
  return uniform(key, static_cast<std::uint64_t>(number)) < share_;
}

void Guard::note_difference(const ChunkDifference& difference) {
  const int wrong = difference.right == 0 ? difference.second_core : difference.right == 1 ? difference.first_core : -1;
  const std::string verdict =
      wrong < 0 ? "plain loops agree with neither" : fmt::format("core {} is wrong, by the plain loops", wrong);
  const std::lock_guard lock(mutex_);
  last_ = fmt::format("rank {} on {}: step {}, slot {}: {} is {} on core {} and {} on core {}; {}", rank_, host_,
                      difference.step + 1, difference.slot, difference.what, difference.first, difference.first_core,
                      difference.second, difference.second_core, verdict);
  std::string line = "guard: " + last_ + "; the step is repeated";
  if (std::exchange(wrong_step_, difference.step) != difference.step) wrong_.clear();
  if (wrong >= 0) {
    const auto known = [&](const std::vector<int>& cores) {
      return std::find(cores.begin(), cores.end(), wrong) != cores.end();
    };
    if (known(wrong_) && !known(left_out_)) {
      left_out_.push_back(wrong);
      left_out_count_.store(left_out_.size(), std::memory_order_release);
      line += fmt::format(" without core {}", wrong);
    }
    wrong_.push_back(wrong);
  }
  lines_.push_back(std::move(line));
  differences_.fetch_add(1, std::memory_order_acq_rel);
}

std::vector<std::string> Guard::take_lines() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lines_, {});
}

void Guard::give_up(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  throw Error(ErrorCode::integrity,
              fmt::format("guard: step {} has other bits each time it is computed; {}; go on from the last checkpoint "
                          "without this host",
                          step + 1, last_));
}

std::vector<int> Guard::left_out() {
  const std::lock_guard lock(mutex_);
  return left_out_;
}

void Guard::leave_cores(std::size_t& settled) {
  if (left_out_count_.load(std::memory_order_acquire) == settled) return;
  const std::lock_guard lock(mutex_);
  settled = left_out_.size();
  if (!bind_without(left_out_))
    throw Error(ErrorCode::integrity, fmt::format("guard: {}; this process has no other core: go on from the last "
                                                  "checkpoint on another host",
                                                  last_));
}

}  // namespace lockstep
