#include "cli/ladder/analysis.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/ladder/scaling.hpp"
#include "lockstep/kernels/simd/table.hpp"
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
    const auto& names = backend_names();
    const auto found = std::find(names.begin(), names.end(), rung.backend);
    try {
      return kernel_lines(static_cast<Backend>(found - names.begin()), ladder_.config.model.precision);
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
    if (measured.rung.workers() > ladder_.ceilings.threads) line.warnings.push_back("more workers than processors");
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
