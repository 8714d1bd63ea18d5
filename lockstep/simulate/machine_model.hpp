#pragma once
// Real machines as a simulation has to see them to be compared with: ranks that share cores, the processor's part in
// messages, and when a rank that waits notices that the waiting is over. All of it is measured (cli/simulate).

#include <span>
#include <string>
#include <vector>

namespace lockstep {

/// Two ranks send each other `bytes` at the same time: how long until both have them, and for how much of that
/// each keeps its core busy.
struct MessageTime {
  double bytes = 0, seconds = 0, cpu_seconds = 0;
};

/// Straight lines between the points; before the first as the first, after the last in proportion. 0 without points.
MessageTime message_time(std::span<const MessageTime> points, double bytes);

/// A rank that waits looks again and again at first, then sleeps between two looks (parallel/ranks.hpp).
struct NapTime {
  double seconds = 0;      // from one look to the next; 0: it notices at once
  double cpu_seconds = 0;  // that its core is busy meanwhile
};

struct MachineModel {
  std::vector<int> machine{};  // of every rank; empty: every rank has a core of its own
  std::vector<int> cores{};    // of every machine
  std::vector<int> host{};     // of every rank: messages within a host are its processors' work and take no network
  std::vector<MessageTime> local{}, remote{};
  NapTime nap{};

  bool empty() const { return machine.empty(); }
  /// Whether ranks of this one's machine have to take turns.
  bool crowded(int rank) const;
  /// What either end of a message is busy with it.
  double message_cpu(int from, int to, double bytes) const;
};

/// When a rank notices what happened after `waited` seconds of waiting, by its own clock; never before.
double noticed_after(const NapTime& nap, double waited);

std::string model_json(const MachineModel& model);
/// Error(usage) when it is none.
MachineModel parse_model(const std::string& json);

}  // namespace lockstep
