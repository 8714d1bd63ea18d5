#include "cli/ladder/report_parts.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/words.hpp"
#include "lockstep/lab/fits.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

LineSeries line_of(const Result& fit, const std::string& name, LineKind kind, const std::string& values) {
  LineSeries line{.name = name, .kind = kind};
  const auto *x = series(fit, "workers"), *y = series(fit, values), *low = series(fit, "low"),
             *high = series(fit, "high");
  if (x == nullptr || y == nullptr) return line;
  for (std::size_t i = 0; i < std::min(x->size(), y->size()); ++i) {
    line.points.push_back({(*x)[i], (*y)[i], {}});
    if (values != "speedup" || low == nullptr || high == nullptr || i >= std::min(low->size(), high->size())) continue;
    if (kind == LineKind::measured)
      line.points.back().error = Interval{(*low)[i], (*high)[i]};
    else
      line.band.push_back({(*x)[i], (*low)[i], (*high)[i]});
  }
  return line;
}

LineChart scaling_chart(const std::vector<const Result*>& fits, const std::string& of) {
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
  for (const Result* fit : fits) {
    if (fit->word("of") != of) continue;
    const std::string law = fit->word("law");
    if (law == "none") continue;
    if (const auto* x = series(*fit, "workers"); x != nullptr && !x->empty()) farthest = std::max(farthest, x->back());
    if (law == "measured")
      chart.series.push_back(line_of(*fit, "measured", LineKind::measured, "speedup"));
    else
      chart.series.push_back(line_of(*fit,
                                     law == "amdahl" ? "Amdahl, fitted"
                                     : law == "usl"  ? "universal law, fitted"
                                                     : "Gustafson, fitted",
                                     LineKind::fit, "speedup"));
    if (series(*fit, "predicted") != nullptr)
      chart.series.push_back(line_of(*fit, "Amdahl, from the spans", LineKind::predicted, "predicted"));
  }
  if (chart.series.empty()) return chart;
  chart.series.push_back({.name = "ideal",
                          .points = {{1, 1, {}}, {farthest, farthest, {}}},
                          .tone = Tone::neutral,
                          .kind = LineKind::ideal});
  return chart;
}

}  // namespace

Table pop_table(const ResultSet& results) {
  Table table{.id = "pop",
              .title = "Parallel efficiency and its factors (POP)",
              .columns = {{.title = "Rung"},
                          {.title = "Load balance", .format = percent(1)},
                          {.title = "Serialisation", .format = percent(1)},
                          {.title = "Transfer", .format = percent(1)},
                          {.title = "Communication", .format = percent(1)},
                          {.title = "Parallel efficiency", .format = percent(1)}},
              .notes = {"Parallel efficiency = load balance x communication; communication = serialisation x transfer. "
                        "Transfer is estimated from the least "
                        "time that any worker spends in exchanges. Threads: of the turn with spans."}};
  for (const Result* rung : results.rungs())
    if (rung->number("pop_parallel"))
      table.rows.push_back(
          {.cells = {rung->word("title"), rung->number("pop_load_balance"), rung->number("pop_serialisation"),
                     rung->number("pop_transfer"), rung->number("pop_communication"), rung->number("pop_parallel")},
           .tone = tone_of(*rung)});
  return table;
}

const std::vector<double>* series(const Result& result, const std::string& name) {
  const auto found = result.series.find(name);
  return found == result.series.end() ? nullptr : &found->second;
}

std::vector<const Result*> ResultSet::of(const std::string& kind) const {
  std::vector<const Result*> found;
  for (const Result& each : results_)
    if (each.kind == kind) found.push_back(&each);
  return found;
}

const Result* ResultSet::find(const std::string& kind, const std::string& name) const {
  for (const Result& each : results_)
    if (each.kind == kind && each.name == name) return &each;
  return nullptr;
}

std::vector<const Result*> ResultSet::rungs() const {
  std::vector<const Result*> found;
  for (const Result* each : of("ladder"))
    if (each->word("group") != "weak" && !each->samples.empty()) found.push_back(each);
  return found;
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

Tone tone_of(const Result& rung) {
  const std::string group = rung.word("group");
  return group == "naive"     ? Tone::naive
         : group == "library" ? Tone::library
         : group == "simd"    ? Tone::simd
         : group == "threads" ? Tone::threads
         : group == "ranks"   ? Tone::ranks
         : group == "hybrid"  ? Tone::hybrid
         : group == "device"  ? Tone::device
         : group == "peer"    ? Tone::peer
                              : Tone::neutral;
}

Table scaling_table(const ResultSet& results) {
  Table table{
      .id = "scaling",
      .title = "Speed-up and Karp-Flatt's serial share, point by point",
      .columns = {{.title = "Of"},
                  {.title = "Workers", .format = integer()},
                  {.title = "Speed-up", .format = ratio()},
                  {.title = "Karp-Flatt", .format = percent(1)}},
      .notes = {"Karp-Flatt: the serial share that one point alone implies. The same at every number of workers: "
                "a serial part; growing: overhead."}};
  for (const Result* fit : results.of("fit")) {
    if (fit->word("law") != "measured") continue;
    const auto *x = series(*fit, "workers"), *y = series(*fit, "speedup"), *n = series(*fit, "n"),
               *low = series(*fit, "low"), *high = series(*fit, "high");
    if (x == nullptr || y == nullptr) continue;
    for (std::size_t i = 0; i < std::min(x->size(), y->size()); ++i) {
      Cell speedup((*y)[i]);
      if (low != nullptr && high != nullptr && i < std::min(low->size(), high->size()))
        speedup.interval((*low)[i], (*high)[i]);
      else if (n != nullptr && i < n->size())
        speedup.noted(too_few_text(static_cast<std::int64_t>((*n)[i])));
      const auto serial = fit->number(fmt::format("karp_flatt_{:.0f}", (*x)[i]));
      table.rows.push_back(
          {.cells = {fit->word("of"), Cell((*x)[i]), std::move(speedup),
                     !serial || is_share({*serial, *serial, *serial}) ? Cell(serial) : not_usable_cell()}});
    }
  }
  return table;
}

void add_scaling(const ResultSet& results, Document& document) {
  const auto fits = results.of("fit");
  if (fits.empty()) return;
  Section& section = document.section("Scaling");
  Panels panels;
  for (const char* of : {"threads", "ranks", "weak threads"})
    if (LineChart chart = scaling_chart(fits, of); !chart.series.empty()) panels.charts.emplace_back(std::move(chart));
  if (!panels.charts.empty()) section.add(std::move(panels));
  if (Table table = scaling_table(results); !table.rows.empty()) section.add(std::move(table));
  for (const Result* fit : fits)
    if (!fit->word("text").empty()) section.add(Paragraph{fit->word("text")});
  if (Table table = pop_table(results); !table.rows.empty()) section.add(std::move(table));
}

void add_roofline(const ResultSet& results, Document& document) {
  const Result *machine = results.find("machine", "ceilings"), *points = results.find("roofline", "simd");
  if (machine == nullptr || points == nullptr || points->series.empty()) return;
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
              .columns = {{.title = "Section"},
                          {.title = "FLOP per byte", .format = significant(3)},
                          {.title = "GFLOP/s", .format = significant(3)},
                          {.title = "Of the roof", .format = percent(1)}}};
  const double peak = machine->number("peak_flops_1").value_or(0),
               bandwidth = machine->number("bandwidth_1").value_or(0);
  if (peak > 0)
    chart.ceilings.push_back({.label = fmt::format("arithmetic, {:.0f} GFLOP/s", peak * 1e-9), .level = peak * 1e-9});
  if (bandwidth > 0)
    chart.ceilings.push_back(
        {.label = fmt::format("memory, {:.0f} GB/s", bandwidth * 1e-9), .slope = bandwidth * 1e-9});
  for (const auto& [name, values] : points->series) {
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

void add_curves(const ResultSet& results, Document& document) {
  const Result* curve = results.find("curve", "training");
  if (curve == nullptr) return;
  const auto chart = [&](const char* id, const char* title, std::initializer_list<const char*> names, Format format) {
    LineChart made{.id = id,
                   .title = title,
                   .description = fmt::format("{} epoch by epoch.", title),
                   .x = {.title = "epoch"},
                   .y = {.title = title, .format = format}};
    for (const char* name : names) {
      const auto* values = series(*curve, name);
      if (values == nullptr) continue;
      LineSeries line{.name = name};
      for (std::size_t i = 0; i < values->size(); ++i) line.points.push_back({double(i + 1), (*values)[i], {}});
      made.series.push_back(std::move(line));
    }
    return made;
  };
  Panels panels;
  panels.charts.emplace_back(chart("loss", "Loss", {"loss", "validation loss"}, significant(3)));
  if (series(*curve, "accuracy") != nullptr)
    panels.charts.emplace_back(chart("accuracy", "Accuracy", {"accuracy", "validation accuracy"}, percent(1)));
  document.section("Loss and accuracy")
      .add(Paragraph{fmt::format("The whole training of the configuration, on {}: {:.1f} s. Every rung that is marked "
                                 "the same would draw the same curve.",
                                 curve->word("rung"), curve->number("seconds").value_or(0))})
      .add(std::move(panels));
}

void add_method(const ResultSet& results, Document& document) {
  const auto rungs = results.rungs();
  const Result& first = *rungs.front();
  Section& section = document.section("Machine and method");
  const MachineDescription& machine = first.origin.machine;
  Facts facts{.title = "The machine"};
  facts.facts = {{"processor", machine.processor},
                 {"cores", fmt::format("{} ({})", machine.cores, count_of(machine.processors, "processor"))},
                 {"instruction sets", fmt::format("{}", fmt::join(machine.instruction_sets, ", "))}};
  if (const Result* ceilings = results.find("machine", "ceilings")) {
    const auto giga = [&](const char* key) { return ceilings->number(key).value_or(0) * 1e-9; };
    facts.facts.push_back(
        {"arithmetic", fmt::format("{:.1f} GFLOP/s on one thread, {:.1f} on {:.0f}", giga("peak_flops_1"),
                                   giga("peak_flops_all"), ceilings->number("threads").value_or(1))});
    facts.facts.push_back({"memory", fmt::format("{:.1f} GB/s on one thread, {:.1f} on all", giga("bandwidth_1"),
                                                 giga("bandwidth_all"))});
    for (const auto& [name, value] : ceilings->words)
      if (name.starts_with("doctor ")) facts.facts.push_back({name, value});
  }
  for (const auto& [name, version] : first.origin.versions) facts.facts.push_back({name, version});
  facts.facts.push_back({"commit", first.origin.commit});
  section.add(std::move(facts));
  Checklist rules{.title = "Rules of measuring (Hoefler and Belli, 2015), kept and not kept"};
  for (const Result* check : results.of("check")) {
    const std::string state = check->word("state");
    rules.rules.push_back({.state = state == "kept"     ? Rule::State::kept
                                    : state == "partly" ? Rule::State::partly
                                    : state == "broken" ? Rule::State::broken
                                                        : Rule::State::not_applicable,
                           .rule = check->name,
                           .why = check->word("why")});
  }
  section.add(std::move(rules));
  std::string commands = first.origin.command;
  for (const Result* rung : rungs) commands += fmt::format("\n# {}\n{}", rung->word("title"), rung->word("command"));
  section.add(Code{.text = std::move(commands), .title = "To repeat it: everything, and each rung by itself"});
  section.add(Code{.text = first.configuration, .title = "The configuration, every value resolved"});
}

}  // namespace lockstep::cli
