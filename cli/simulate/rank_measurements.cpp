#include "cli/simulate/rank_measurements.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <thread>

#include <nlohmann/json.hpp>

#include "lockstep/core/system.hpp"
#include "lockstep/lab/measure.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/parallel/rank_wait.hpp"
#include "lockstep/parallel/team.hpp"
#include "lockstep/simulate/calibrate.hpp"

namespace lockstep::cli {

namespace {

using nlohmann::json;

constexpr const char* kPhase = "measurement";
constexpr double kExchangeBytes[] = {64, 1024, 4096, 16384, 65536, 262144, 1048576};
constexpr int kExchangeRounds = 101, kLeastRounds = 3;
constexpr double kSwapSeconds = 0.2;  // for one size: a slow link has fewer rounds
constexpr int kNapRounds = 101;

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

/// The position of each text among the different ones.
std::vector<int> numbered(const std::vector<std::string>& texts) {
  std::vector<std::string> known;
  std::vector<int> numbers;
  for (const std::string& text : texts) {
    const auto found = std::find(known.begin(), known.end(), text);
    numbers.push_back(static_cast<int>(found - known.begin()));
    if (found == known.end()) known.push_back(text);
  }
  return numbers;
}

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Which turn each group of ranks has, so that no machine has more ranks at work than cores; a group larger than that
/// has a turn to itself.
std::vector<int> turns_of(const MachineModel& model, const std::vector<std::vector<int>>& groups) {
  std::vector<std::vector<int>> busy;  // by turn and machine
  std::vector<int> turns;
  for (const std::vector<int>& group : groups) {
    std::vector<int> wanted(model.cores.size());
    for (const int rank : group) ++wanted[at(model.machine[at(rank)])];
    const auto fits = [&](const std::vector<int>& turn) {
      for (std::size_t machine = 0; machine < wanted.size(); ++machine)
        if (wanted[machine] > 0 && turn[machine] + wanted[machine] > model.cores[machine]) return false;
      return true;
    };
    const auto found = std::find_if(busy.begin(), busy.end(), fits);
    turns.push_back(static_cast<int>(found - busy.begin()));
    if (found == busy.end()) busy.emplace_back(wanted.size());
    for (std::size_t machine = 0; machine < wanted.size(); ++machine)
      busy[at(turns.back())][machine] += wanted[machine];
  }
  return turns;
}

/// `body` for the group that this rank is in, in the turn of that group; the others wait.
template <class Body>
void take_turns(Ranks& ranks, const MachineModel& model, const std::vector<std::vector<int>>& groups,
                const Body& body) {
  const std::vector<int> turns = turns_of(model, groups);
  const int count = turns.empty() ? 0 : *std::max_element(turns.begin(), turns.end()) + 1;
  for (int turn = 0; turn < count; ++turn) {
    ranks.barrier(kPhase);
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (turns[i] == turn && std::find(groups[i].begin(), groups[i].end(), ranks.rank()) != groups[i].end())
        body(groups[i]);
  }
  ranks.barrier(kPhase);
}

/// So many as there is time for, as the first of the two finds.
std::int32_t agreed_rounds(Ranks& ranks, int partner, double seconds) {
  auto rounds =
      static_cast<std::int32_t>(std::clamp(kSwapSeconds / seconds, double(kLeastRounds), double(kExchangeRounds)));
  if (ranks.rank() < partner)
    ranks.send(partner, bytes_of(&rounds, 1));
  else
    ranks.receive(partner, writable_bytes_of(&rounds, 1));
  ranks.wait(kPhase);
  return rounds;
}

/// How much longer it takes to fill bytes that another core has read than to fill them once more: a message is new
/// data, and the core that writes them has to take its lines back first.
double take_back(std::span<std::byte> bytes, int value) {
  const double start = steady_seconds();
  std::memset(bytes.data(), value, bytes.size());
  const double middle = steady_seconds();
  std::memset(bytes.data(), value + 1, bytes.size());
  return std::max(0.0, 2 * middle - start - steady_seconds());
}

/// What a swap of new data takes, and how long the calls that begin it do not return. The median; but where ranks share
/// cores (`disturbed`) the shortest: of all others, a rank that waits on the same core took some, which a simulation
/// adds by itself.
std::vector<MessageTime> swap_messages(Ranks& ranks, int partner, bool disturbed) {
  const auto typical = [disturbed](const std::vector<double>& times) {
    return disturbed ? *std::min_element(times.begin(), times.end()) : median(times);
  };
  std::vector<MessageTime> times;
  for (const double bytes : kExchangeBytes) {
    std::vector<std::byte> out(static_cast<std::size_t>(bytes)), in(out.size());
    std::vector<double> seconds, calls;
    std::int32_t rounds = kLeastRounds;
    for (int round = 0; round < rounds; ++round) {
      const double before = take_back(out, round), start = steady_seconds();
      ranks.send(partner, out);
      ranks.receive(partner, in);
      calls.push_back(steady_seconds() - start);
      ranks.wait(kPhase);
      seconds.push_back(steady_seconds() - start + before);
      if (round + 1 == kLeastRounds) rounds = agreed_rounds(ranks, partner, median(seconds));
    }
    times.push_back({bytes, typical(seconds), typical(calls)});
  }
  return times;
}

json to_json(const std::vector<MessageTime>& times) {
  json list = json::array();
  for (const MessageTime& each : times) list.push_back({each.bytes, each.seconds, each.cpu_seconds});
  return list;
}

/// The medians over pairs. On one host the processors carry messages: all of the time is theirs. Between hosts, taking
/// one in is as much work as giving it away.
std::vector<MessageTime> merged(const std::vector<std::string>& pairs, bool near) {
  std::vector<MessageTime> result;
  for (std::size_t size = 0; size < std::size(kExchangeBytes); ++size) {
    std::vector<double> seconds, calls;
    for (const std::string& text : pairs) {
      if (text.empty()) continue;
      const json pair = json::parse(text);
      seconds.push_back(pair.at(size).at(1));
      calls.push_back(pair.at(size).at(2));
    }
    const double whole = median(seconds), twice = 2 * median(calls);
    result.push_back({kExchangeBytes[size], whole, near ? whole : std::min(whole, twice)});
  }
  return result;
}

}  // namespace

MachineModel median_model(const std::vector<MachineModel>& rounds) {
  MachineModel result = rounds.front();
  const auto middle = [&](const auto& number) {
    std::vector<double> numbers;
    for (const MachineModel& round : rounds) numbers.push_back(number(round));
    return median(std::move(numbers));
  };
  for (const auto points : {&MachineModel::local, &MachineModel::remote})
    for (std::size_t i = 0; i < (result.*points).size(); ++i) {
      (result.*points)[i].seconds = middle([&](const MachineModel& round) { return (round.*points)[i].seconds; });
      (result.*points)[i].cpu_seconds =
          middle([&](const MachineModel& round) { return (round.*points)[i].cpu_seconds; });
    }
  result.nap = {middle([](const MachineModel& round) { return round.nap.seconds; }),
                middle([](const MachineModel& round) { return round.nap.cpu_seconds; })};
  return result;
}

MachineModel locate_ranks(Ranks& ranks) {
  const std::string host = ranks.transport().host();
  const std::string machine = boot_id();
  const std::vector<std::string> machines = ranks.all_gather(machine.empty() ? host : machine, kPhase);
  const std::vector<std::string> cores = ranks.all_gather(std::to_string(available_cpus()), kPhase);
  MachineModel model{.machine = numbered(machines), .host = numbered(ranks.all_gather(host, kPhase))};
  for (std::size_t rank = 0; rank < machines.size(); ++rank)
    if (at(model.machine[rank]) == model.cores.size()) model.cores.push_back(std::stoi(cores[rank]));
  return model;
}

void bind_to_core(const Ranks& ranks, const MachineModel& model) {
  const auto own = model.machine.begin() + ranks.rank();
  const auto place = std::count(model.machine.begin(), own, *own);
  cpu_set_t allowed, one;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_ZERO(&one);
  auto skipped = place % std::max(1, CPU_COUNT(&allowed));
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && skipped-- == 0) CPU_SET(cpu, &one);
  static_cast<void>(::sched_setaffinity(0, sizeof one, &one));  // where it is refused, the ranks stay free
}

void measure_messages(Ranks& ranks, MachineModel& model) {
  const auto near = [&](int a, int b) { return model.host[at(a)] == model.host[at(b)]; };
  for (const bool wanted : {true, false})
    for (int bit = 1; bit < ranks.size(); bit *= 2) {  // the partners of a tree, nearest first
      std::vector<std::vector<int>> pairs;
      for (int rank = 0; rank < ranks.size(); ++rank)
        if ((rank & bit) == 0 && (rank ^ bit) < ranks.size() && near(rank, rank ^ bit) == wanted)
          pairs.push_back({rank, rank ^ bit});
      if (pairs.empty()) continue;
      std::string own;
      take_turns(ranks, model, pairs, [&](const std::vector<int>&) {
        own = to_json(swap_messages(ranks, ranks.rank() ^ bit, wanted && model.crowded(ranks.rank()))).dump();
      });
      (wanted ? model.local : model.remote) = merged(ranks.all_gather(own, kPhase), wanted);
      break;
    }
}

void measure_naps(Ranks& ranks, MachineModel& model) {
  // Every second rank naps, the others compute: a sleeping rank has to get its core back from a computing one.
  const bool naps = ranks.rank() % 2 == 1;
  const int partner = ranks.rank() ^ 1;
  std::byte answer{};
  json own;
  ranks.barrier(kPhase);
  if (naps) {
    std::vector<double> seconds, cpu;
    ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);  // as Ranks::wait
    const TransportRequest request = ranks.transport().start_receive(partner, 0, {&answer, 1});
    for (int round = 0; round < kNapRounds; ++round) {
      const double start = steady_seconds(), start_cpu = cpu_seconds();
      std::this_thread::sleep_for(RankWait::kNap);
      static_cast<void>(ranks.transport().finished(request));
      seconds.push_back(steady_seconds() - start);
      cpu.push_back(cpu_seconds() - start_cpu);
    }
    own = {median(seconds), median(cpu)};
    ranks.send(partner, {&answer, 1});
    while (!ranks.transport().finished(request)) std::this_thread::sleep_for(RankWait::kNap);
  } else if (partner < ranks.size()) {
    const TransportRequest request = ranks.transport().start_receive(partner, 0, {&answer, 1});
    while (!ranks.transport().finished(request)) {
    }
    ranks.send(partner, {&answer, 1});
  }
  ranks.wait(kPhase);
  std::vector<double> seconds, cpu;
  for (const std::string& text : ranks.all_gather(own.is_null() ? "" : own.dump(), kPhase)) {
    if (text.empty()) continue;
    const json pair = json::parse(text);
    seconds.push_back(pair.at(0));
    cpu.push_back(pair.at(1));
  }
  if (!seconds.empty()) model.nap = {median(seconds), median(cpu)};
}

std::vector<SectionRates> measure_work(Ranks& ranks, const MachineModel& model, const StepPlan& plan,
                                       const Dataset& samples) {
  std::vector<std::vector<int>> alone;
  for (int rank = 0; rank < ranks.size(); ++rank) alone.push_back({rank});
  std::string own;
  take_turns(ranks, model, alone, [&](const std::vector<int>&) {
    own = rates_json(measure_own_work(plan, samples, ranks.rank(), ranks.size()));
  });
  std::vector<SectionRates> all;
  for (const std::string& text : ranks.all_gather(own, kPhase)) all.push_back(parse_rates(text));
  return all;
}

}  // namespace lockstep::cli
