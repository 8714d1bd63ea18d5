#include <algorithm>

#include "cli/ladder/analysis.hpp"
#include "lockstep/lab/statistics.hpp"

namespace lockstep::cli {

namespace {

const SectionTime* slowest_layer(const TurnProfile& profile) {
  const SectionTime* slowest = nullptr;
  for (const SectionTime& section : profile.sections)
    if (section.flops > 0 && (slowest == nullptr || section.seconds > slowest->seconds)) slowest = &section;
  return slowest;
}

/// Shares of the time: phases of all ranks, and the sections of rank 0 that are no phases.
RungShares shares_of(const RungMeasurement& measured, const CeilingsRecord& ceilings, double flops_per_second) {
  RungShares shares{.workers = measured.rung.workers()};
  const double count = double(measured.last.ranks.size());
  for (const PhaseSeconds& rank : measured.last.ranks) {
    const double total = rank.at("total");
    for (const auto& [phase, seconds] : rank)
      if (phase != "total" && phase != "validation" && total > 0) shares.phases[phase] += seconds / total / count;
  }
  // The host waits for its device: that is the device's work, unless it is starting kernels.
  const bool device = measured.rung.group == RungGroup::device;
  if (device) shares.phases.erase("wait");
  if (!measured.profile) return shares;
  const TurnProfile& profile = *measured.profile;
  shares.explained = profile.explained;
  double bytes = 0;
  for (const SectionTime& section : profile.sections) {
    bytes += section.bytes;
    if (device && section.name == "wait") continue;
    const bool known =
        shares.phases.contains(section.name) || section.flops > 0 || section.name.find(' ') != std::string::npos;
    if (!known && section.name != "validation" && profile.seconds > 0)
      shares.phases[section.name] = section.seconds / profile.seconds;
  }
  if (profile.device_seconds > 0 && profile.samples > 0) {
    // What is not the time of kernels is starting them, copying, and waiting for the last one.
    const double busy = profile.device_seconds / double(profile.samples) * double(measured.samples);
    shares.phases["launch"] = std::max(0.0, 1 - busy / median(measured.sampled.samples));
  }
  const RungCeiling ceiling = ceiling_of(measured.rung, ceilings);
  if (ceiling.flops > 0) shares.flops_share = flops_per_second / ceiling.flops;
  if (ceiling.bandwidth > 0 && profile.seconds > 0)
    shares.bandwidth_share = bytes * measured.rung.ranks / profile.seconds / ceiling.bandwidth;
  if (const SectionTime* slowest = slowest_layer(profile)) shares.slowest_section = slowest->name;
  return shares;
}

WorkerTimes worker_times(const PhaseSeconds& phases) {
  WorkerTimes times;
  for (const auto& [name, seconds] : phases) {
    if (name == "total" || name == "validation") continue;
    if (name == "exchange" || name == "broadcast" || name == "gather")
      times.transfer += seconds;
    else if (name == "wait" || name == "bubble")
      times.wait += seconds;
    else
      times.useful += seconds;
  }
  return times;
}

}  // namespace

RungCeiling ceiling_of(const Rung& rung, const CeilingsRecord& ceilings) {
  const bool many = rung.workers() > 1 || rung.group == RungGroup::device;
  return many ? RungCeiling{ceilings.flops_all, ceilings.bandwidth_all}
              : RungCeiling{ceilings.flops_one, ceilings.bandwidth_one};
}

Limit limit_of(const RungMeasurement& measured, const CeilingsRecord& ceilings, double flops_per_second) {
  return find_limit(shares_of(measured, ceilings, flops_per_second));
}

std::optional<PopFactors> pop_factors_of(const RungMeasurement& measured) {
  if (measured.rung.workers() == 1) return std::nullopt;
  const std::vector<PhaseSeconds>* workers = measured.rung.ranks > 1 ? &measured.last.ranks
                                             : measured.profile      ? &measured.profile->by_thread
                                                                     : nullptr;
  if (workers == nullptr) return std::nullopt;
  std::vector<WorkerTimes> times;
  for (const PhaseSeconds& each : *workers) times.push_back(worker_times(each));
  return pop_factors(times);
}

}  // namespace lockstep::cli
