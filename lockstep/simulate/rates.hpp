#pragma once
// How long work takes on one core of this machine: measured once, then charged to every simulated rank.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lockstep/lab/recorder.hpp"

namespace lockstep {

/// A measured amount of work and its time. Work is counted in operations, or in bytes where there are none.
struct RatePoint {
  double work = 0, seconds = 0;
};

/// By section (lab/recorder.hpp), each with the most and the least work last and first. A section without points takes
/// no time, or that of a call where there is one.
struct SectionRates {
  std::vector<std::vector<RatePoint>> sections{};
  std::vector<double> call_seconds{};  // of sections that count no work; may be empty

  /// Between two points a straight line; outside, in proportion to the nearest.
  double seconds(std::int32_t section, double flops, double bytes) const;
};

/// The medians of rates that were measured for the same work several times.
SectionRates median_rates(const std::vector<SectionRates>& rounds);

std::string rates_json(const SectionRates& rates);
/// Error(usage) when it is none.
SectionRates parse_rates(const std::string& json);

/// Of every rank, or one for all.
std::string rank_rates_json(const std::vector<SectionRates>& rates);
std::vector<SectionRates> parse_rank_rates(const std::string& json);

/// Lets the time of every section pass as the rates say.
class RatesCharge final : public SectionCharge {
 public:
  /// `pass(seconds)` advances the clock.
  RatesCharge(const SectionRates& rates, std::function<void(double)> pass) : rates_(rates), pass_(std::move(pass)) {}

  void charge(std::int32_t section, double flops, double bytes) override;
  double total_seconds() const { return total_; }

 private:
  const SectionRates& rates_;
  double total_ = 0;
  std::function<void(double)> pass_;
};

}  // namespace lockstep
