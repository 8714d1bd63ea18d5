#include "cli/ladder/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/lab/fits.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

LineSeries curve_of(const FitRecord& fit, const std::string& name, LineKind kind) {
  LineSeries line{.name = name, .kind = kind};
  const bool predicted = kind == LineKind::predicted;
  const std::vector<double>& y = predicted ? fit.predicted_speedup : fit.speedup;
  for (std::size_t i = 0; i < std::min(fit.workers.size(), y.size()); ++i) {
    line.points.push_back({fit.workers[i], y[i], {}});
    if (predicted || i >= std::min(fit.low.size(), fit.high.size())) continue;
    if (kind == LineKind::measured)
      line.points.back().error = Interval{fit.low[i], fit.high[i]};
    else
      line.band.push_back({fit.workers[i], fit.low[i], fit.high[i]});
  }
  return line;
}

LineChart scaling_chart(const std::vector<Line<FitRecord>>& fits, const std::string& of) {
  LineChart chart{.id = "scaling-" + slug(of),
                  .title = fmt::format("{} scaling: speed-up over {}", of == "weak threads" ? "Weak" : "Strong",
                                       of == "weak threads" ? "threads" : of),
                  .description =
                      "Measured speed-up with intervals, the fitted law with its confidence band, the prediction from "
                      "the spans, and the ideal line.",
                  .x = {.title = of == "weak threads" ? "threads" : of},
                  .y = {.title = of == "weak threads" ? "scaled speed-up" : "speed-up against one thread"},
                  .note = "Bands: bootstrap, 95 %. Beyond the last measured point a curve is a guess."};
  double farthest = 1;
  for (const FitRecord& fit : fits) {
    if (fit.of != of || fit.law == ScalingLaw::none) continue;
    if (!fit.workers.empty()) farthest = std::max(farthest, fit.workers.back());
    if (fit.law == ScalingLaw::measured)
      chart.series.push_back(curve_of(fit, "measured", LineKind::measured));
    else
      chart.series.push_back(curve_of(fit,
                                      fit.law == ScalingLaw::amdahl ? "Amdahl, fitted"
                                      : fit.law == ScalingLaw::usl  ? "universal law, fitted"
                                                                    : "Gustafson, fitted",
                                      LineKind::fit));
    if (!fit.predicted_speedup.empty())
      chart.series.push_back(curve_of(fit, "Amdahl, from the spans", LineKind::predicted));
  }
  if (chart.series.empty()) return chart;
  chart.series.push_back({.name = "ideal",
                          .points = {{1, 1, {}}, {farthest, farthest, {}}},
                          .tone = Tone::neutral,
                          .kind = LineKind::ideal});
  return chart;
}

}  // namespace

Table pop_table(const LadderLines& ladder) {
  Table table{.id = "pop",
              .title = "Parallel efficiency and its factors (POP)",
              .columns = {column("Rung"), column("Load balance", percent(1)), column("Serialisation", percent(1)),
                          column("Transfer", percent(1)), column("Communication", percent(1)),
                          column("Parallel efficiency", percent(1))},
              .notes = {"Parallel efficiency = load balance x communication; communication = serialisation x transfer. "
                        "Transfer is estimated from the least "
                        "time that any worker spends in exchanges. Threads: of the turn with spans."}};
  for (const RungLine& rung : ladder.rungs)
    if (rung.pop_parallel)
      table.rows.push_back({.cells = {rung.title, rung.pop_load_balance, rung.pop_serialisation, rung.pop_transfer,
                                      rung.pop_communication, rung.pop_parallel},
                            .tone = tone_of(rung.group)});
  return table;
}

const RungLine* LadderLines::rung(std::string_view name) const {
  const auto found = std::find_if(rungs.begin(), rungs.end(), [&](const RungLine& each) { return each.name == name; });
  return found == rungs.end() ? nullptr : &*found;
}

const Line<SectionsRecord>* LadderLines::sections_of(std::string_view name) const {
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const auto& each) { return each.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

LadderLines ladder_lines(std::span<const Result> results) {
  LadderLines ladder{.rungs = lines_of<RungRecord>(results, "ladder"),
                     .ceilings = find_line<CeilingsRecord>(results, "machine", "ceilings"),
                     .fits = lines_of<FitRecord>(results, "fit"),
                     .sections = lines_of<SectionsRecord>(results, "section"),
                     .roofline = find_line<RooflineRecord>(results, "roofline", "simd"),
                     .curve = find_line<CurveRecord>(results, "curve", "training"),
                     .checks = lines_of<CheckRecord>(results, "check"),
                     .left_out = lines_of<LeftOutRecord>(results, "verdict")};
  std::erase_if(ladder.rungs,
                [](const RungLine& each) { return each.group == RungGroup::weak || each.samples.empty(); });
  if (ladder.rungs.empty()) throw Error(ErrorCode::data, "the results hold no rung of a ladder");
  return ladder;
}

std::optional<Speedup> speedup_of(const Result* base, const Result& own) {
  if (base == nullptr || base->samples.empty() || own.samples.empty()) return std::nullopt;
  const Summary a = *base->summary(), b = *own.summary();
  if (b.min <= 0) return std::nullopt;
  Speedup speedup{.value = a.median / b.median, .samples = std::min(a.count, b.count)};
  if (a.interval && b.interval)
    speedup.interval = Interval{a.interval->low / b.interval->high, a.interval->high / b.interval->low};
  return speedup;
}

Cell not_usable_cell() { return Cell(kNotUsable).noted(kWhyNotUsable).marked(Mark::muted); }

Tone tone_of(RungGroup group) {
  constexpr std::array kTones = {Tone::naive,  Tone::library, Tone::simd, Tone::threads, Tone::ranks,
                                 Tone::hybrid, Tone::device,  Tone::peer, Tone::neutral};
  static_assert(kTones.size() == kNames<RungGroup>.size());
  return kTones[static_cast<std::size_t>(group)];
}

Table scaling_table(const LadderLines& ladder) {
  Table table{
      .id = "scaling",
      .title = "Speed-up and Karp-Flatt's serial share, point by point",
      .columns = {column("Of"), column("Workers", integer()), column("Speed-up", ratio()),
                  column("Karp-Flatt", percent(1))},
      .notes = {"Karp-Flatt: the serial share that one point alone implies. The same at every number of workers: "
                "a serial part; growing: overhead."}};
  for (const FitRecord& fit : ladder.fits) {
    if (fit.law != ScalingLaw::measured) continue;
    for (std::size_t i = 0; i < std::min(fit.workers.size(), fit.speedup.size()); ++i) {
      Cell speedup(fit.speedup[i]), serial;
      if (i < std::min(fit.low.size(), fit.high.size()))
        speedup.interval(fit.low[i], fit.high[i]);
      else if (i < fit.counts.size())
        speedup.noted(too_few_text(static_cast<std::int64_t>(fit.counts[i])));
      if (const auto found = fit.karp_flatt.find(fmt::format("{:.0f}", fit.workers[i])); found != fit.karp_flatt.end())
        serial = is_share({found->second, found->second, found->second}) ? Cell(found->second) : not_usable_cell();
      table.rows.push_back({.cells = {fit.of, Cell(fit.workers[i]), std::move(speedup), std::move(serial)}});
    }
  }
  return table;
}

void add_scaling(const LadderLines& ladder, Document& document) {
  if (ladder.fits.empty()) return;
  Section& section = document.section("Scaling");
  Panels panels;
  for (const char* of : {"threads", "ranks", "weak threads"})
    if (LineChart chart = scaling_chart(ladder.fits, of); !chart.series.empty())
      panels.charts.emplace_back(std::move(chart));
  if (!panels.charts.empty()) section.add(std::move(panels));
  if (Table table = scaling_table(ladder); !table.rows.empty()) section.add(std::move(table));
  for (const FitRecord& fit : ladder.fits)
    if (!fit.text.empty()) section.add(Paragraph{fit.text});
  if (Table table = pop_table(ladder); !table.rows.empty()) section.add(std::move(table));
}

void add_roofline(const LadderLines& ladder, Document& document) {
  if (!ladder.ceilings || !ladder.roofline || ladder.roofline->points.empty()) return;
  ScatterChart chart{
      .id = "roofline",
      .title = "Roofline: every layer, forward and backward, on one thread",
      .description =
          "Operations per second of every layer over its operations per byte, under the ceilings of arithmetic and "
          "memory.",
      .x = {.title = "operations per byte", .scale = Scale::log},
      .y = {.title = "GFLOP/s", .scale = Scale::log},
      .tones = {{"forward", Tone::simd}, {"backward", Tone::threads}},
      .note = "Bytes: operands once, wherever they lie; layers that stay in cache can lie above the line of memory."};
  Table table{.id = "roofline",
              .title = "The points of the roofline",
              .columns = {column("Section"), column("FLOP per byte", significant(3)), column("GFLOP/s", significant(3)),
                          column("Of the roof", percent(1))}};
  const double peak = ladder.ceilings->flops_one, bandwidth = ladder.ceilings->bandwidth_one;
  if (peak > 0)
    chart.ceilings.push_back({.label = fmt::format("arithmetic, {:.0f} GFLOP/s", peak * 1e-9), .level = peak * 1e-9});
  if (bandwidth > 0)
    chart.ceilings.push_back(
        {.label = fmt::format("memory, {:.0f} GB/s", bandwidth * 1e-9), .slope = bandwidth * 1e-9});
  for (const auto& [name, values] : ladder.roofline->points) {
    if (values.size() != 2) continue;
    chart.points.push_back({.label = name,
                            .x = values[0],
                            .y = values[1] * 1e-9,
                            .tone = name.ends_with("backward") ? Tone::threads : Tone::simd});
    const double roof = std::min(peak, values[0] * bandwidth);
    table.rows.push_back({.cells = {name, values[0], values[1] * 1e-9, roof > 0 ? Cell(values[1] / roof) : Cell()}});
  }
  document.section("Roofline").add(std::move(chart)).add(std::move(table));
}

void add_curves(const LadderLines& ladder, Document& document) {
  if (!ladder.curve) return;
  const CurveRecord& curve = *ladder.curve;
  const auto chart = [](const char* id, const char* title, const std::vector<double>& training,
                        const std::vector<double>& validation, Format format) {
    LineChart made{.id = id,
                   .title = title,
                   .description = fmt::format("{} epoch by epoch.", title),
                   .x = {.title = "epoch"},
                   .y = {.title = title, .format = format}};
    for (const auto& [prefix, values] : {std::pair{"", &training}, {"validation ", &validation}}) {
      if (values->empty()) continue;
      LineSeries line{.name = fmt::format("{}{}", prefix, id)};
      for (std::size_t i = 0; i < values->size(); ++i) line.points.push_back({double(i + 1), (*values)[i], {}});
      made.series.push_back(std::move(line));
    }
    return made;
  };
  Panels panels;
  panels.charts.emplace_back(chart("loss", "Loss", curve.loss, curve.validation_loss, significant(3)));
  if (!curve.accuracy.empty())
    panels.charts.emplace_back(chart("accuracy", "Accuracy", curve.accuracy, curve.validation_accuracy, percent(1)));
  document.section("Loss and accuracy")
      .add(Paragraph{fmt::format("The whole training of the configuration, on {}: {:.1f} s. Every rung that is marked "
                                 "the same would draw the same curve.",
                                 curve.rung, curve.seconds)})
      .add(std::move(panels));
}

void add_method(const LadderLines& ladder, Document& document) {
  const RungLine& first = ladder.rungs.front();
  Section& section = document.section("Machine and method");
  const MachineDescription& machine = first.origin.machine;
  Facts facts{.title = "The machine"};
  facts.facts = {{"processor", machine.processor},
                 {"cores", fmt::format("{} ({})", machine.cores, count_of(machine.processors, "processor"))},
                 {"instruction sets", fmt::format("{}", fmt::join(machine.instruction_sets, ", "))}};
  if (const auto& c = ladder.ceilings) {
    facts.facts.push_back({"arithmetic", fmt::format("{:.1f} GFLOP/s on one thread, {:.1f} on {}", c->flops_one * 1e-9,
                                                     c->flops_all * 1e-9, c->threads)});
    facts.facts.push_back({"memory", fmt::format("{:.1f} GB/s on one thread, {:.1f} on all", c->bandwidth_one * 1e-9,
                                                 c->bandwidth_all * 1e-9)});
    for (const auto& [check, finding] : c->doctor) facts.facts.push_back({"doctor " + check, finding});
  }
  for (const auto& [name, version] : first.origin.versions) facts.facts.push_back({name, version});
  facts.facts.push_back({"commit", first.origin.commit});
  section.add(std::move(facts));
  Checklist rules{.title = "Rules of measuring (Hoefler and Belli, 2015), kept and not kept"};
  for (const auto& check : ladder.checks) rules.rules.push_back({check.state, check.name, check.why});
  section.add(std::move(rules));
  std::string commands = first.origin.command;
  for (const RungLine& rung : ladder.rungs) commands += fmt::format("\n# {}\n{}", rung.title, rung.command);
  section.add(Code{.text = std::move(commands), .title = "To repeat it: everything, and each rung by itself"});
  section.add(Code{.text = first.configuration, .title = "The configuration, every value resolved"});
}

}  // namespace lockstep::cli
