#include "lockstep/lab/efficiency.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace lockstep {

namespace {

/// An overhead below this share of the time does not limit a rung.
constexpr double kMatters = 0.10;
/// So near to a ceiling of the machine nothing else limits.
constexpr double kNearCeiling = 0.60;

struct Overhead {
  const char* limit;
  std::vector<const char*> phases;
  const char* sentence;  // {0}: percent of the time
};

const std::vector<Overhead>& overheads() {
  static const std::vector<Overhead> all = {
      {"barrier wait",
       {"wait", "bubble"},
       "{0:.0f} % of its time the workers wait for each other at barriers: too little work per step for their number, "
       "or something else runs on their cores"},
      {"exchange", {"exchange", "broadcast", "gather"}, "{0:.0f} % of its time goes into messages between ranks"},
      {"reduction", {"reduce", "update"}, "{0:.0f} % of its time goes into adding up gradients and the optimiser step"},
      {"serial part", {"shuffle", "report"}, "{0:.0f} % of its time is work that one thread does alone"},
      {"launch overhead",
       {"launch", "copy", "device wait"},
       "{0:.0f} % of its time goes into starting kernels on the device and copying"},
      {"load", {"load"}, "{0:.0f} % of its time goes into gathering samples"},
  };
  return all;
}

}  // namespace

std::optional<PopFactors> pop_factors(const std::vector<WorkerTimes>& workers) {
  double sum = 0, most = 0, time = 0, least_transfer = 0;
  for (const WorkerTimes& each : workers) {
    sum += each.useful;
    most = std::max(most, each.useful);
    time = std::max(time, each.useful + each.transfer + each.wait);
    least_transfer = &each == workers.data() ? each.transfer : std::min(least_transfer, each.transfer);
  }
  if (workers.empty() || most <= 0) return std::nullopt;
  PopFactors factors;
  factors.load_balance = sum / double(workers.size()) / most;
  factors.communication = most / time;
  factors.transfer = std::max((time - least_transfer) / time, factors.communication);
  factors.serialisation = factors.communication / factors.transfer;
  factors.parallel = factors.load_balance * factors.communication;
  return factors;
}

Limit find_limit(const RungShares& shares) {
  const Overhead* largest = nullptr;
  double largest_share = 0;
  for (const Overhead& overhead : overheads()) {
    double share = 0;
    for (const char* phase : overhead.phases)
      if (const auto found = shares.phases.find(phase); found != shares.phases.end()) share += found->second;
    if (share > largest_share) {
      largest = &overhead;
      largest_share = share;
    }
  }
  if (largest != nullptr && largest_share >= kMatters)
    return {largest->limit, fmt::format(fmt::runtime(largest->sentence), 100 * largest_share)};
  if (shares.bandwidth_share >= kNearCeiling)
    return {"memory", fmt::format("it moves {:.0f} % of the bytes that this machine's memory can deliver",
                                  100 * shares.bandwidth_share)};
  if (shares.flops_share >= kNearCeiling)
    return {"arithmetic",
            fmt::format("it computes at {:.0f} % of the machine's arithmetic peak: little is left to gain with this "
                        "number of workers",
                        100 * shares.flops_share)};
  return {"kernels",
          fmt::format(
              "its kernels reach {:.1f} % of the arithmetic peak{}", 100 * shares.flops_share,
              shares.slowest_section.empty() ? "" : fmt::format("; most time goes into {}", shares.slowest_section))};
}

}  // namespace lockstep
