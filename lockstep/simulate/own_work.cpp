#include "lockstep/simulate/own_work.hpp"

#include "lockstep/lab/profile.hpp"
#include "lockstep/simulate/silent_transport.hpp"
#include "lockstep/simulate/step_program.hpp"

namespace lockstep {

namespace {

/// No part of a step: they come once per epoch.
bool between_epochs(std::size_t section) {
  return section == kReportSection || section == kShuffleSection || section == kValidationSection;
}

}  // namespace

SectionRates measure_own_work(const StepPlan& plan, const Dataset& samples, int rank, int ranks) {
  Ranks silent(make_silent_transport(rank, ranks));
  Profile profile(0);
  std::vector<SectionSum> before;  // with the first step, which touches new memory
  const auto at_step = [&] {
    if (before.empty()) before = profile.recorder(0).sums();
    return 0.0;
  };
  run_steps(plan, samples, silent, {.seconds = at_step, .profile = &profile});
  const std::vector<SectionSum>& after = profile.recorder(0).sums();
  SectionRates rates;
  rates.sections.resize(after.size());
  rates.call_seconds.resize(after.size());
  for (std::size_t section = 0; section < after.size(); ++section) {
    const auto calls = double(after[section].calls - before[section].calls);
    if (calls == 0 || between_epochs(section)) continue;
    const double seconds = double(after[section].ns - before[section].ns) * 1e-9 / calls;
    const double flops = after[section].flops - before[section].flops;
    const double work = (flops > 0 ? flops : after[section].bytes - before[section].bytes) / calls;
    if (work > 0)
      rates.sections[section] = {{work, seconds}};
    else
      rates.call_seconds[section] = seconds;
  }
  return rates;
}

}  // namespace lockstep
