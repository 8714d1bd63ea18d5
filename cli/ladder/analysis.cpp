#include "cli/ladder/analysis.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/kernels/simd/table.hpp"
#include "lockstep/lab/statistics.hpp"
#include "lockstep/run/verbose.hpp"

namespace lockstep::cli {

namespace {

/// The peak that a rung is compared with: of one processor, or of all.
struct RungCeiling {
  double flops = 0, bandwidth = 0;
};
RungCeiling ceiling_of(const Rung& rung, const CeilingsRecord& ceilings) {
  const bool many = rung.workers() > 1 || rung.group == RungGroup::device;
  return many ? RungCeiling{ceilings.flops_all, ceilings.bandwidth_all}
              : RungCeiling{ceilings.flops_one, ceilings.bandwidth_one};
}

const SectionTime* slowest_layer(const TurnProfile& profile) {
  const SectionTime* slowest = nullptr;
  for (const SectionTime& section : profile.sections)
    if (section.flops > 0 && (slowest == nullptr || section.seconds > slowest->seconds)) slowest = &section;
  return slowest;
}

/// Shares of the time: phases of all ranks, and the sections of rank 0 that are no phases.
RungShares shares_of(const RungMeasurement& measured, const CeilingsRecord& ceilings, double flops_per_second) {
  RungShares shares;
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

/// What limits a rung that reaches this speed.
Limit limit_of(const RungMeasurement& measured, const CeilingsRecord& ceilings, double flops_per_second) {
  return find_limit(shares_of(measured, ceilings, flops_per_second));
}

/// The POP factors of a rung with several workers; nothing where no phases are known.
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

/// Numbers that a vector of the SIMD kernels holds.
double lanes(Precision precision) {
  const Isa isa = chosen_isa();
  const double bytes = isa == Isa::avx512 ? 64 : isa == Isa::avx2 ? 32 : 16;
  return bytes / (precision == Precision::float32 ? 4 : 8);
}

class Analysis {
 public:
  Analysis(const LadderMeasurement& ladder, const LadderArguments& arguments, const ResultOrigin& origin,
           const std::vector<Finding>& findings)
      : ladder_(ladder), arguments_(arguments), findings_(findings) {
    common_.origin = origin;
    common_.configuration = resolved_toml(ladder.config);
    common_.seed = ladder.config.train.seed;
    common_.warnings = warning_lines(findings);
  }

  std::vector<Result> run() {
    add_machine();
    for (const RungMeasurement& each : ladder_.rungs) add_rung(each);
    for (const LeftOutRung& each : ladder_.left_out)
      add("verdict", "left out: " + each.rung.id,
          LeftOutRecord{fmt::format("{} was left out: {}", each.rung.title, each.why), each.rung.id, each.rung.title,
                        each.why});
    for (const RungMeasurement& each : ladder_.rungs) add_sections(each);
    for (const NamedFit& fit : scaling_fits(ladder_)) add("fit", fit.name, fit.record);
    if (!ladder_.curve.loss.empty()) add("curve", "training", ladder_.curve);
    for (const report::Rule& rule : ladder_rules(ladder_, arguments_, common_.warnings.size()))
      add("check", rule.rule, CheckRecord{rule.state, rule.why});
    return std::move(results_);
  }

 private:
  template <class Record>
  Result& add(std::string kind, std::string name, const Record& record) {
    Result& line = results_.emplace_back(common_);
    line.kind = std::move(kind);
    line.name = std::move(name);
    put_record(record, line);
    return line;
  }

  void add_machine() {
    CeilingsRecord ceilings = ladder_.ceilings;
    ceilings.lanes = lanes(ladder_.config.model.precision);
    ceilings.config = arguments_.config;
    for (const Finding& finding : findings_)
      ceilings.doctor[finding.check] = fmt::format("{}: {}", to_string(finding.grade), finding.seen);
    add("machine", "ceilings", ceilings);
  }

  std::vector<std::string> kernels_of(const Rung& rung) const {
    if (rung.is_peer()) return {rung.backend + " " + rung.variant};
    try {
      return kernel_lines(backend_named(rung.backend), ladder_.config.model.precision);
    } catch (const Error&) {
      return {rung.backend};
    }
  }

  /// Operations of a sample, from any rung that has spans: they are the same for all.
  double flops_per_sample() const {
    for (const RungMeasurement& each : ladder_.rungs)
      if (each.profile && each.profile->samples > 0 && each.profile->flops > 0 && each.rung.ranks == 1 &&
          each.rung.group != RungGroup::device)
        return each.profile->flops / double(each.profile->samples);
    return 0;
  }

  RungRecord record_of_rung(const RungMeasurement& measured, double seconds) const {
    const Rung& rung = measured.rung;
    RungRecord record{.title = rung.title,
                      .group = rung.group,
                      .mark = measured.mark.value_or(WeightMark::same),
                      .end = to_string(measured.sampled.end),
                      .best_serial = "simd",
                      .command = rung.is_peer() ? "bench/peers" : turn_command(rung, ladder_.setting, measured.samples),
                      .version = measured.version,
                      .threads = rung.threads,
                      .ranks = rung.ranks,
                      .growth = rung.growth,
                      .measured_samples = measured.samples * rung.growth,
                      .samples_per_epoch = ladder_.epoch_samples,
                      .check_samples = ladder_.check_samples,
                      .scale = scale(measured) / rung.growth,
                      .flops = flops_per_sample() * double(ladder_.epoch_samples),
                      .accuracy = measured.last.accuracy,
                      .loss = measured.last.loss};
    if (measured.largest_difference && std::isfinite(*measured.largest_difference))
      record.largest_difference = measured.largest_difference;
    if (measured.profile) record.explained = measured.profile->explained;
    record.flops_per_second = record.flops > 0 ? record.flops / seconds : 0;
    const double peak = ceiling_of(rung, ladder_.ceilings).flops;
    record.peak_share = peak > 0 ? record.flops_per_second / peak : 0;
    if (rung.is_peer()) return record;
    const Limit limit = limit_of(measured, ladder_.ceilings, record.flops_per_second);
    record.limit = limit.what;
    record.verdict = limit.sentence;
    if (const auto factors = pop_factors_of(measured)) {
      record.pop_load_balance = factors->load_balance;
      record.pop_communication = factors->communication;
      record.pop_serialisation = factors->serialisation;
      record.pop_transfer = factors->transfer;
      record.pop_parallel = factors->parallel;
    }
    return record;
  }

  /// From the samples that a rung was measured on to an epoch.
  double scale(const RungMeasurement& measured) const {
    return double(ladder_.epoch_samples) / double(measured.samples);
  }

  void add_rung(const RungMeasurement& measured) {
    std::vector<double> samples;
    for (const double seconds : measured.sampled.samples)
      samples.push_back(seconds * scale(measured) / measured.rung.growth);
    Result& line = add("ladder", measured.rung.id, record_of_rung(measured, median(samples)));
    line.unit = "s/epoch";
    line.samples = std::move(samples);
    line.baseline = "naive";
    line.kernels = kernels_of(measured.rung);
    line.weight_hash = measured.check.weight_hash;
    if (measured.rung.workers() > ladder_.ceilings.threads) line.warnings.emplace_back("more workers than processors");
    if (!measured.last.threads_note.empty()) line.warnings.push_back(measured.last.threads_note);
    if (!measured.sampled.settled()) line.warnings.push_back(unsettled_text(measured.sampled, arguments_.share));
  }

  /// Seconds per epoch of every section, and the points of the roofline.
  void add_sections(const RungMeasurement& measured) {
    if (!measured.profile || measured.rung.group == RungGroup::weak || measured.profile->samples == 0) return;
    const double factor = double(ladder_.epoch_samples) / double(measured.profile->samples);
    SectionsRecord sections{.title = measured.rung.title};
    RooflineRecord roofline{.title = measured.rung.title, .threads = measured.rung.threads};
    double position = 0;
    for (const SectionTime& each : measured.profile->sections) {
      sections.sections[each.name] = {position++, each.seconds * factor, each.flops * factor, each.bytes * factor};
      if (each.flops > 0 && each.bytes > 0 && each.seconds > 0)
        roofline.points[each.name] = {each.flops / each.bytes, each.flops / each.seconds};
    }
    add("section", measured.rung.id, sections).unit = "s/epoch";
    if (measured.rung.group == RungGroup::simd || measured.rung.group == RungGroup::threads)
      add("roofline", measured.rung.id, roofline);
  }

  const LadderMeasurement& ladder_;
  const LadderArguments& arguments_;
  const std::vector<Finding>& findings_;
  Result common_{};
  std::vector<Result> results_;
};

}  // namespace

std::vector<Result> ladder_results(const LadderMeasurement& ladder, const LadderArguments& arguments,
                                   const ResultOrigin& origin, const std::vector<Finding>& findings) {
  return Analysis(ladder, arguments, origin, findings).run();
}

}  // namespace lockstep::cli
