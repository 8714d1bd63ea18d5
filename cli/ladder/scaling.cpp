#include "cli/ladder/scaling.hpp"

#include <algorithm>

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

const char* name_of(const std::string& law) {
  return law == "amdahl" ? "Amdahl's serial share"
         : law == "usl"  ? "Universal scalability law"
                         : "Gustafson's serial share";
}

}  // namespace

std::vector<ScalingPoint> ScalingStudy::points(RungGroup group) const {
  std::vector<ScalingPoint> found;
  for (const Climbed& each : climb_.rungs) {
    if (each.rung.group != group && each.rung.group != RungGroup::simd) continue;
    ScalingPoint point{double(each.rung.workers()), {}};
    // Seconds per sample of one pass; in weak scaling, per pass over what grew.
    const double work = double(each.samples);
    for (const double seconds : each.sampled.samples) point.samples.push_back(seconds / work);
    found.push_back(std::move(point));
  }
  return found;
}

std::optional<double> ScalingStudy::predicted_serial() const {
  for (const Climbed& each : climb_.rungs) {
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

void ScalingStudy::add_measured(const char* of, const std::vector<ScalingPoint>& points,
                                std::vector<Result>& results) const {
  const auto one = std::find_if(points.begin(), points.end(), [](const ScalingPoint& p) { return p.workers == 1; });
  if (points.size() < 2 || one == points.end()) return;
  const bool weak = std::string_view(of) == "weak threads";
  const Summary base = summarise(one->samples);
  Result result = common_;
  result.kind = "fit";
  result.name = fmt::format("measured {}", of);
  result.words = {{"law", "measured"}, {"of", of}};
  const bool intervals = least_samples(points) >= kLeastForInterval;
  for (const ScalingPoint& point : points) {
    const Summary own = summarise(point.samples);
    const double factor = weak ? point.workers : 1;
    const double speedup = factor * base.median / own.median;
    result.series["workers"].push_back(point.workers);
    result.series["speedup"].push_back(speedup);
    result.series["n"].push_back(double(std::min(base.count, own.count)));
    if (intervals) {
      result.series["low"].push_back(factor * base.interval->low / own.interval->high);
      result.series["high"].push_back(factor * base.interval->high / own.interval->low);
    }
    if (point.workers > 1 && !weak)
      result.numbers[fmt::format("karp_flatt_{:.0f}", point.workers)] = karp_flatt(speedup, point.workers);
  }
  results.push_back(std::move(result));
}

void ScalingStudy::add_fit(const char* of, std::optional<LawFit> fit, std::int64_t samples,
                           std::vector<Result>& results) const {
  if (!fit) return;
  Result result = common_;
  result.kind = "fit";
  result.name = fmt::format("{} {}", fit->law, of);
  const bool intervals = samples >= kLeastForInterval;
  bool usable = true;
  for (auto& [name, value] : fit->parameters) {
    if (!intervals) value = without_interval(value);
    usable = usable && is_share(value);
  }
  if (!usable) {
    result.words = {{"law", "none"},
                    {"of", of},
                    {"text", fmt::format("{} of {}: {}: {}.", name_of(fit->law), of, kNotUsable, kWhyNotUsable)}};
    results.push_back(std::move(result));
    return;
  }
  result.words = {{"law", fit->law}, {"of", of}, {"exact", fit->exact ? "yes" : "no"}};
  result.numbers["n"] = double(samples);
  result.series = {{"workers", fit->workers}, {"speedup", fit->speedup}};
  if (intervals) result.series.insert({{"low", fit->low}, {"high", fit->high}});
  for (const auto& [name, value] : fit->parameters) {
    result.numbers[name] = value.value;
    if (!intervals) continue;
    result.numbers[name + "_low"] = value.low;
    result.numbers[name + "_high"] = value.high;
  }
  const std::string exact =
      fit->exact ? " Two points and two parameters: it passes through them and proves nothing." : "";
  if (fit->law == "amdahl") {
    const FittedValue& serial = fit->parameters.at("serial");
    std::string text = fmt::format("{} of {}, from the times: {}.", name_of(fit->law), of, percent_of(serial, samples));
    if (const auto predicted = predicted_serial()) {
      result.numbers["predicted"] = *predicted;
      for (const double workers : fit->workers)
        result.series["predicted"].push_back(amdahl_speedup(*predicted, workers));
      text += fmt::format(" From the spans of one thread: {:.2f} %.", 100 * *predicted);
      text +=
          !intervals                       ? " Too few samples to say whether they agree."
          : !disagrees(*predicted, serial) ? " They agree."
          : *predicted < serial.low
              ? " They disagree: what the spans call parallel does not get faster by as much as there are workers. "
                "The rest is waiting, exchange, shared caches and memory, or somebody else's load; see the verdicts."
              : " They disagree: the measured speed-up is better than the spans allow; more workers have more cache.";
    }
    result.words["text"] = text + exact;
  } else if (fit->law == "usl") {
    result.words["text"] = fmt::format("{} of {}: contention {}, coherence {}.", name_of(fit->law), of,
                                       percent_of(fit->parameters.at("contention"), samples),
                                       percent_of(fit->parameters.at("coherence"), samples)) +
                           (fit->exact ? " As many points as parameters: it proves nothing." : "");
  } else {
    result.words["text"] =
        fmt::format("{} of {}: {}.", name_of(fit->law), of, percent_of(fit->parameters.at("serial"), samples)) + exact;
  }
  results.push_back(std::move(result));
}

void ScalingStudy::add_unfitted(const char* of, const char* law, std::size_t points, std::size_t needed,
                                std::vector<Result>& results) const {
  Result result = common_;
  result.kind = "fit";
  result.name = fmt::format("no {} {}", law, of);
  result.words = {
      {"law", "none"},
      {"of", of},
      {"text", fmt::format("No {} of {}: {} point{} measured with a processor for every worker, and it takes "
                           "{}, one of them with one worker.",
                           law, of, points, points == 1 ? " was" : "s were", needed)}};
  results.push_back(std::move(result));
}

void ScalingStudy::add_to(std::vector<Result>& results) const {
  // Workers that take turns on a processor follow no law of scaling.
  const auto crowded = [&](const ScalingPoint& point) { return point.workers > climb_.ceilings.threads; };
  const auto fit = [&](const char* of, const char* law, const auto& fitter, const std::vector<ScalingPoint>& measured,
                       std::size_t needed) {
    const bool one = std::any_of(measured.begin(), measured.end(), [](const auto& p) { return p.workers == 1; });
    if (measured.size() < needed || !one) return add_unfitted(of, law, measured.size(), needed, results);
    add_fit(of, fitter(measured, farthest(measured)), least_samples(measured), results);
  };
  for (const auto& [of, group] : {std::pair{"threads", RungGroup::threads}, {"ranks", RungGroup::ranks}}) {
    auto strong = points(group);
    if (strong.size() < 2) continue;  // none of this kind was measured
    add_measured(of, strong, results);
    std::erase_if(strong, crowded);
    fit(of, "fit of Amdahl's law", fit_amdahl, strong, 2);
    fit(of, "fit of the universal scalability law", fit_usl, strong, 3);
  }
  auto weak = points(RungGroup::weak);
  if (weak.size() < 2) return;
  add_measured("weak threads", weak, results);
  std::erase_if(weak, crowded);
  fit("weak threads", "fit of Gustafson's law", fit_gustafson, weak, 2);
}

}  // namespace lockstep::cli
