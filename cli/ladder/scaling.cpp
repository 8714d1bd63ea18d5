#include "cli/ladder/analysis.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "lockstep/lab/statistics.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

namespace {

/// Curves go beyond what was measured, so that a bend shows; not so far that they are guesses.
constexpr double kBeyond = 4;

double farthest(const std::vector<ScalingPoint>& points) {
  double most = 1;
  for (const ScalingPoint& point : points) most = std::max(most, point.workers);
  return std::min(kBeyond * most, most + 32);
}

/// The samples of the point that has fewest.
std::int64_t least_samples(const std::vector<ScalingPoint>& points) {
  std::size_t least = points.empty() ? 0 : points.front().samples.size();
  for (const ScalingPoint& point : points) least = std::min(least, point.samples.size());
  return static_cast<std::int64_t>(least);
}

/// "12.0 % (95 %: 10.1 to 13.9)"; "12.0 % (n = 2)" where there are too few samples for an interval.
std::string percent_of(const FittedValue& value, std::int64_t samples) {
  if (samples < kLeastForInterval) return fmt::format("{:.1f} % ({})", 100 * value.value, too_few_text(samples));
  return fmt::format("{:.1f} % (95 %: {:.1f} to {:.1f})", 100 * value.value, 100 * value.low, 100 * value.high);
}

/// A bootstrap of too few samples says nothing of the uncertainty.
FittedValue without_interval(const FittedValue& value) { return {value.value, value.value, value.value}; }

const char* title_of(ScalingLaw law) {
  return law == ScalingLaw::amdahl ? "Amdahl's serial share"
         : law == ScalingLaw::usl  ? "Universal scalability law"
                                   : "Gustafson's serial share";
}

/// Seconds per sample of one pass on every number of workers; in weak scaling, per pass over the samples that grew.
std::vector<ScalingPoint> points_of(const LadderMeasurement& ladder, RungGroup group) {
  std::vector<ScalingPoint> found;
  for (const RungMeasurement& each : ladder.rungs) {
    if (each.rung.group != group && each.rung.group != RungGroup::simd) continue;
    ScalingPoint point{double(each.rung.workers()), {}};
    for (const double seconds : each.sampled.samples) point.samples.push_back(seconds / double(each.samples));
    found.push_back(std::move(point));
  }
  return found;
}

/// The share of the time of one thread that no other thread can take over, from the spans of one thread.
std::optional<double> predicted_serial(const LadderMeasurement& ladder) {
  for (const RungMeasurement& each : ladder.rungs) {
    if (each.rung.group != RungGroup::simd || !each.profile) continue;
    double serial = 0, all = 0;
    for (const SectionTime& section : each.profile->sections) {
      if (section.name == "validation") continue;
      all += section.seconds;
      if (section.name == "shuffle" || section.name == "report") serial += section.seconds;
    }
    if (all > 0) return serial / all;
  }
  return std::nullopt;
}

FitRecord measured_speedups(const char* of, bool weak, const std::vector<ScalingPoint>& points, const Summary& base) {
  FitRecord record{.law = ScalingLaw::measured, .of = of};
  const bool intervals = least_samples(points) >= kLeastForInterval;
  for (const ScalingPoint& point : points) {
    const Summary own = summarise(point.samples);
    const double factor = weak ? point.workers : 1;
    const double speedup = factor * base.median / own.median;
    record.workers.push_back(point.workers);
    record.speedup.push_back(speedup);
    record.counts.push_back(double(std::min(base.count, own.count)));
    if (intervals) {
      record.low.push_back(factor * base.interval->low / own.interval->high);
      record.high.push_back(factor * base.interval->high / own.interval->low);
    }
    if (point.workers > 1 && !weak)
      record.karp_flatt[fmt::format("{:.0f}", point.workers)] = karp_flatt(speedup, point.workers);
  }
  return record;
}

/// Whether the serial share of the spans agrees with the fitted one, in words.
std::string agreement(double predicted, const FittedValue& serial, bool intervals) {
  if (!intervals) return " Too few samples to say whether they agree.";
  if (!disagrees(predicted, serial)) return " They agree.";
  return predicted < serial.low
             ? " They disagree: what the spans call parallel does not get faster by as much as there are workers. "
               "The rest is waiting, exchange, shared caches and memory, or somebody else's load; see the verdicts."
             : " They disagree: the measured speed-up is better than the spans allow; more workers have more cache.";
}

/// The parameters of a law as fields, without intervals where there are too few samples.
void add_parameters(const LawFit& fit, bool intervals, FitRecord& record) {
  const auto add = [&](const std::optional<FittedValue>& from, auto& value, auto& low, auto& high) {
    if (!from) return;
    value = from->value;
    if (!intervals) return;
    low = from->low;
    high = from->high;
  };
  add(fit.serial, record.serial, record.serial_low, record.serial_high);
  add(fit.contention, record.contention, record.contention_low, record.contention_high);
  add(fit.coherence, record.coherence, record.coherence_low, record.coherence_high);
}

FitRecord fitted_law(const char* of, LawFit fit, std::int64_t samples, std::optional<double> predicted) {
  const bool intervals = samples >= kLeastForInterval;
  bool usable = true;
  for (std::optional<FittedValue>* value : {&fit.serial, &fit.contention, &fit.coherence}) {
    if (!*value) continue;
    if (!intervals) *value = without_interval(**value);
    usable = usable && is_share(**value);
  }
  if (!usable)
    return {.of = of, .text = fmt::format("{} of {}: {}: {}.", title_of(fit.law), of, kNotUsable, kWhyNotUsable)};
  FitRecord record{.law = fit.law, .of = of, .exact = fit.exact ? "yes" : "no", .samples_of_fewest = double(samples)};
  record.workers = fit.workers;
  record.speedup = fit.speedup;
  if (intervals) record.low = fit.low, record.high = fit.high;
  add_parameters(fit, intervals, record);
  if (fit.law == ScalingLaw::usl) {
    record.text = fmt::format("{} of {}: contention {}, coherence {}.{}", title_of(fit.law), of,
                              percent_of(*fit.contention, samples), percent_of(*fit.coherence, samples),
                              fit.exact ? " As many points as parameters: it proves nothing." : "");
    return record;
  }
  const bool amdahl = fit.law == ScalingLaw::amdahl;
  record.text = fmt::format("{} of {}{}: {}.", title_of(fit.law), of, amdahl ? ", from the times" : "",
                            percent_of(*fit.serial, samples));
  if (amdahl && predicted) {
    record.predicted = predicted;
    for (const double workers : fit.workers) record.predicted_speedup.push_back(amdahl_speedup(*predicted, workers));
    record.text += fmt::format(" From the spans of one thread: {:.2f} %.{}", 100 * *predicted,
                               agreement(*predicted, *fit.serial, intervals));
  }
  if (fit.exact) record.text += " Two points and two parameters: it passes through them and proves nothing.";
  return record;
}

struct LawChoice {
  ScalingLaw law;
  const char* title;
  std::optional<LawFit> (*fit)(const std::vector<ScalingPoint>&, double);
  std::size_t needed;  // points
};
constexpr LawChoice kStrongLaws[] = {{ScalingLaw::amdahl, "fit of Amdahl's law", fit_amdahl, 2},
                                     {ScalingLaw::usl, "fit of the universal scalability law", fit_usl, 3}};
constexpr LawChoice kWeakLaws[] = {{ScalingLaw::gustafson, "fit of Gustafson's law", fit_gustafson, 2}};

}  // namespace

std::vector<NamedFit> scaling_fits(const LadderMeasurement& ladder) {
  struct Kind {
    const char* of;
    RungGroup group;
    std::span<const LawChoice> laws;
  };
  std::vector<NamedFit> fits;
  for (const Kind& kind : {Kind{"threads", RungGroup::threads, kStrongLaws},
                           {"ranks", RungGroup::ranks, kStrongLaws},
                           {"weak threads", RungGroup::weak, kWeakLaws}}) {
    auto points = points_of(ladder, kind.group);
    if (points.size() < 2) continue;  // none of this kind was measured
    const auto is_one = [](const ScalingPoint& point) { return point.workers == 1; };
    const auto one = std::find_if(points.begin(), points.end(), is_one);
    if (one != points.end())
      fits.push_back({fmt::format("measured {}", kind.of),
                      measured_speedups(kind.of, kind.group == RungGroup::weak, points, summarise(one->samples))});
    // Workers that take turns on a processor follow no law of scaling.
    std::erase_if(points, [&](const ScalingPoint& point) { return point.workers > ladder.ceilings.threads; });
    for (const LawChoice& law : kind.laws) {
      if (points.size() < law.needed || std::none_of(points.begin(), points.end(), is_one))
        fits.push_back({fmt::format("no {} {}", law.title, kind.of),
                        {.of = kind.of,
                         .text = fmt::format("No {} of {}: {} point{} measured with a processor for every worker, and "
                                             "it takes {}, one of them with one worker.",
                                             law.title, kind.of, points.size(), points.size() == 1 ? " was" : "s were",
                                             law.needed)}});
      else if (auto fit = law.fit(points, farthest(points)))
        fits.push_back({fmt::format("{} {}", enum_name(law.law), kind.of),
                        fitted_law(kind.of, std::move(*fit), least_samples(points), predicted_serial(ladder))});
    }
  }
  return fits;
}

}  // namespace lockstep::cli
