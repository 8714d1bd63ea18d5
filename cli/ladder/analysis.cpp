#include "cli/ladder/analysis.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/ladder/scaling.hpp"
#include "lockstep/kernels/simd/table.hpp"
#include "lockstep/lab/efficiency.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/run/verbose.hpp"

namespace lockstep::cli {

namespace {

/// Numbers that a vector of the SIMD kernels holds.
double lanes(Precision precision) {
  const Isa isa = chosen_isa();
  const double bytes = isa == Isa::avx512 ? 64 : isa == Isa::avx2 ? 32 : 16;
  return bytes / (precision == Precision::float32 ? 4 : 8);
}

const SectionTime* slowest_layer(const TurnProfile& profile) {
  const SectionTime* slowest = nullptr;
  for (const SectionTime& section : profile.sections)
    if (section.flops > 0 && (slowest == nullptr || section.seconds > slowest->seconds)) slowest = &section;
  return slowest;
}

/// Where the time of a rung went, as shares: phases of all ranks, and the parts of rank 0 that phases do not have.
RungShares shares_of(const Climbed& climbed, const Ceilings& ceilings, double flops_per_second) {
  RungShares shares{.workers = climbed.rung.workers()};
  const double count = double(climbed.last.ranks.size());
  for (const PhaseSeconds& rank : climbed.last.ranks) {
    const double total = rank.at("total");
    for (const auto& [phase, seconds] : rank)
      if (phase != "total" && phase != "validation" && total > 0) shares.phases[phase] += seconds / total / count;
  }
  // The host waits for its device: that is the device's work, unless it is starting kernels.
  const bool device = climbed.rung.group == RungGroup::device;
  if (device) shares.phases.erase("wait");
  if (!climbed.profile) return shares;
  const TurnProfile& profile = *climbed.profile;
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
    const double busy = profile.device_seconds / double(profile.samples) * double(climbed.samples);
    shares.phases["launch"] = std::max(0.0, 1 - busy / median(climbed.sampled.samples));
  }
  const bool many = climbed.rung.workers() > 1 || device;
  const double peak = many ? ceilings.flops_all : ceilings.flops_one,
               bandwidth = many ? ceilings.bandwidth_all : ceilings.bandwidth_one;
  if (peak > 0) shares.flops_share = flops_per_second / peak;
  if (bandwidth > 0 && profile.seconds > 0)
    shares.bandwidth_share = bytes * climbed.rung.ranks / profile.seconds / bandwidth;
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

void add_pop_factors(const Climbed& climbed, Result& result) {
  if (climbed.rung.workers() == 1) return;
  const std::vector<PhaseSeconds>* workers = climbed.rung.ranks > 1 ? &climbed.last.ranks
                                             : climbed.profile      ? &climbed.profile->by_thread
                                                                    : nullptr;
  if (workers == nullptr) return;
  std::vector<WorkerTimes> times;
  for (const PhaseSeconds& each : *workers) times.push_back(worker_times(each));
  const auto factors = pop_factors(times);
  if (!factors) return;
  result.numbers["pop_load_balance"] = factors->load_balance;
  result.numbers["pop_communication"] = factors->communication;
  result.numbers["pop_serialisation"] = factors->serialisation;
  result.numbers["pop_transfer"] = factors->transfer;
  result.numbers["pop_parallel"] = factors->parallel;
}

class Analysis {
 public:
  Analysis(const Climb& climb, const LadderArguments& arguments, const ResultOrigin& origin,
           const std::vector<Finding>& findings)
      : climb_(climb), arguments_(arguments), findings_(findings), warnings_(warning_lines(findings)) {
    common_.origin = origin;
    common_.configuration = resolved_toml(climb.config);
    common_.seed = climb.config.train.seed;
    common_.warnings = warnings_;
  }

  std::vector<Result> run() {
    add_machine();
    for (const Climbed& each : climb_.rungs) add_rung(each);
    for (const LeftOut& each : climb_.left_out) add_left_out(each);
    for (const Climbed& each : climb_.rungs) add_sections(each);
    ScalingStudy(climb_, common_).add_to(results_);
    add_curve();
    add_checks();
    return std::move(results_);
  }

 private:
  Result make(std::string kind, std::string name) const {
    Result result = common_;
    result.kind = std::move(kind);
    result.name = std::move(name);
    return result;
  }

  double scale(const Climbed& climbed) const { return double(climb_.epoch_samples) / double(climbed.samples); }

  void add_machine() {
    Result result = make("machine", "ceilings");
    const Ceilings& c = climb_.ceilings;
    result.numbers = {{"threads", double(c.threads)},   {"peak_flops_1", c.flops_one},
                      {"peak_flops_all", c.flops_all},  {"lanes", lanes(climb_.config.model.precision)},
                      {"bandwidth_1", c.bandwidth_one}, {"bandwidth_all", c.bandwidth_all}};
    for (const Finding& finding : findings_)
      result.words["doctor " + finding.check] = fmt::format("{}: {}", to_string(finding.grade), finding.seen);
    result.words["config"] = arguments_.config;
    results_.push_back(std::move(result));
  }

  std::vector<std::string> kernels_of(const Rung& rung) const {
    if (rung.is_peer()) return {rung.backend + " " + rung.variant};
    const auto& names = backend_names();
    const auto found = std::find(names.begin(), names.end(), rung.backend);
    try {
      return kernel_lines(static_cast<Backend>(found - names.begin()), climb_.config.model.precision);
    } catch (const Error&) {
      return {rung.backend};
    }
  }

  /// Operations of a pass over the samples that were measured, from whatever rung has spans: they are the same for all.
  double flops_per_sample() const {
    for (const Climbed& each : climb_.rungs)
      if (each.profile && each.profile->samples > 0 && each.profile->flops > 0 && each.rung.ranks == 1 &&
          each.rung.group != RungGroup::device)
        return each.profile->flops / double(each.profile->samples);
    return 0;
  }

  void add_rung(const Climbed& climbed) {
    const Rung& rung = climbed.rung;
    Result result = make("ladder", rung.id);
    result.unit = "s/epoch";
    for (const double seconds : climbed.sampled.samples)
      result.samples.push_back(seconds * scale(climbed) / rung.growth);
    result.baseline = "naive";
    result.kernels = kernels_of(rung);
    result.weight_hash = climbed.check.weight_hash;
    result.words = {{"title", rung.title},
                    {"group", to_string(rung.group)},
                    {"mark", climbed.mark},
                    {"end", to_string(climbed.sampled.end)},
                    {"best_serial", "simd"},
                    {"command", rung.is_peer() ? "bench/peers" : turn_command(rung, climb_.setting, climbed.samples)}};
    if (!climbed.version.empty()) result.words["version"] = climbed.version;
    const double flops = flops_per_sample() * double(climb_.epoch_samples);
    result.numbers = {{"threads", double(rung.threads)},
                      {"ranks", double(rung.ranks)},
                      {"growth", double(rung.growth)},
                      {"measured_samples", double(climbed.samples * rung.growth)},
                      {"check_samples", double(climb_.check_samples)},
                      {"samples_per_epoch", double(climb_.epoch_samples)},
                      {"scale", scale(climbed) / rung.growth},
                      {"flops", flops}};
    if (climbed.last.accuracy) result.numbers["accuracy"] = *climbed.last.accuracy;
    if (climbed.last.loss) result.numbers["loss"] = *climbed.last.loss;
    if (climbed.largest_difference && std::isfinite(*climbed.largest_difference))
      result.numbers["largest_difference"] = *climbed.largest_difference;
    if (climbed.profile) result.numbers["explained"] = climbed.profile->explained;
    const auto summary = result.summary();
    const double rate = flops > 0 ? flops / summary->median : 0;
    result.numbers["flops_per_second"] = rate;
    const double peak =
        rung.workers() > 1 || rung.group == RungGroup::device ? climb_.ceilings.flops_all : climb_.ceilings.flops_one;
    result.numbers["peak_share"] = peak > 0 ? rate / peak : 0;
    if (!rung.is_peer()) {
      const Limit limit = find_limit(shares_of(climbed, climb_.ceilings, rate));
      result.words["limit"] = limit.what;
      result.words["verdict"] = limit.sentence;
      add_pop_factors(climbed, result);
    }
    if (rung.workers() > climb_.ceilings.threads) result.warnings.push_back("more workers than processors");
    if (!climbed.sampled.settled()) result.warnings.push_back(unsettled_text(climbed.sampled, arguments_.share));
    results_.push_back(std::move(result));
  }

  void add_left_out(const LeftOut& each) {
    Result result = make("verdict", "left out: " + each.rung.id);
    result.words = {{"text", fmt::format("{} was left out: {}", each.rung.title, each.why)},
                    {"rung", each.rung.id},
                    {"title", each.rung.title},
                    {"why", each.why}};
    results_.push_back(std::move(result));
  }

  /// Seconds per epoch of every section, and the points of the roofline.
  void add_sections(const Climbed& climbed) {
    if (!climbed.profile || climbed.rung.group == RungGroup::weak || climbed.profile->samples == 0) return;
    const double factor = double(climb_.epoch_samples) / double(climbed.profile->samples);
    Result sections = make("section", climbed.rung.id), roofline = make("roofline", climbed.rung.id);
    sections.words["title"] = roofline.words["title"] = climbed.rung.title;
    sections.unit = "s/epoch";
    double position = 0;
    for (const SectionTime& section : climbed.profile->sections) {
      sections.series[section.name] = {position++, section.seconds * factor, section.flops * factor,
                                       section.bytes * factor};
      if (section.flops > 0 && section.bytes > 0 && section.seconds > 0)
        roofline.series[section.name] = {section.flops / section.bytes, section.flops / section.seconds};
    }
    results_.push_back(std::move(sections));
    if (climbed.rung.group == RungGroup::simd || climbed.rung.group == RungGroup::threads) {
      roofline.numbers["threads"] = climbed.rung.threads;
      results_.push_back(std::move(roofline));
    }
  }

  void add_curve() {
    if (climb_.curve_loss.empty()) return;
    Result result = make("curve", "training");
    result.words["rung"] = climb_.curve_rung;
    result.numbers["seconds"] = climb_.curve_seconds;
    if (climb_.final_accuracy) result.numbers["test_accuracy"] = *climb_.final_accuracy;
    result.series["loss"] = climb_.curve_loss;
    for (const auto& [name, values] : {std::pair{"accuracy", &climb_.curve_accuracy},
                                       {"validation loss", &climb_.curve_validation_loss},
                                       {"validation accuracy", &climb_.curve_validation_accuracy}})
      if (!values->empty()) result.series[name] = *values;
    results_.push_back(std::move(result));
  }

  void add_check(const char* rule, const char* state, std::string why) {
    Result result = make("check", rule);
    result.words = {{"state", state}, {"why", std::move(why)}};
    results_.push_back(std::move(result));
  }

  /// Hoefler and Belli's rules, and which of them this run kept.
  void add_checks() {
    std::int64_t settled = 0, most_scaled = 0, few = 0;
    double explained = 1;
    bool serial_base = false;
    for (const Climbed& each : climb_.rungs) {
      settled += each.sampled.settled();
      few += summarise(each.sampled.samples).interval ? 0 : 1;
      most_scaled += each.samples < climb_.epoch_samples;
      serial_base |= each.rung.id == "naive";
      if (each.profile) explained = std::min(explained, each.profile->explained);
    }
    const auto count = static_cast<std::int64_t>(climb_.rungs.size());
    add_check("Every speed-up names its baseline", serial_base ? "kept" : "partly",
              serial_base ? "plain serial loops (naive) and the best serial rung (simd, 1 thread)"
                          : "naive was not measured");
    add_check("Medians with non-parametric 95 % intervals, no bare means", few == 0 ? "kept" : "partly",
              few == 0 ? "order statistics of all samples"
                       : fmt::format("{} of {} rungs have fewer than {} samples: no interval is shown for them; a "
                                     "larger --budget takes more",
                                     few, count, kLeastForInterval));
    add_check("Repeated until the interval is within the stated share of the median",
              settled == count ? "kept"
              : settled > 0    ? "partly"
                               : "broken",
              fmt::format(
                  "{} of {} rungs within {:.0f} %; the others ran into the budget of {:.0f} s or the limit of samples",
                  settled, count, 100 * arguments_.share, arguments_.budget));
    add_check("Variants interleaved", "kept", "round after round, every rung once");
    add_check("Warm-up not counted", "kept", "the first epoch of every process");
    add_check("Every sample kept", "kept", "results.jsonl");
    add_check("The slowest rank counts", "kept", "the longest epoch of all ranks");
    add_check("The whole of the work measured", most_scaled == 0 ? "kept" : "partly",
              most_scaled == 0
                  ? ""
                  : fmt::format("{} of {} rungs on a part of the epoch, scaled; the table says on how many samples",
                                most_scaled, count));
    add_check("Spans explain the time", explained >= 0.98 ? "kept" : "broken",
              fmt::format("at least {:.2f} % of every rung", 100 * explained));
    add_check("A quiet machine", warnings_.empty() ? "kept" : "broken",
              warnings_.empty() ? "lockstep doctor has no warning"
                                : fmt::format("{} warnings of lockstep doctor", warnings_.size()));
    add_check("What was measured", "kept",
              "the training loop of an epoch, from gathering the samples of a batch to the optimiser's step; start-up, "
              "reading of data, validation and saving are outside");
    add_check("Not measured", "not applicable",
              "energy, other machines, larger data sets, the time to a given accuracy");
  }

  const Climb& climb_;
  const LadderArguments& arguments_;
  const std::vector<Finding>& findings_;
  std::vector<std::string> warnings_;
  Result common_{};
  std::vector<Result> results_;
};

}  // namespace

std::vector<Result> ladder_results(const Climb& climb, const LadderArguments& arguments, const ResultOrigin& origin,
                                   const std::vector<Finding>& findings) {
  return Analysis(climb, arguments, origin, findings).run();
}

}  // namespace lockstep::cli
