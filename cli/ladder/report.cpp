#include "cli/ladder/report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/sha256.hpp"
#include "lockstep/lab/fits.hpp"
#include "lockstep/lab/report/results_page.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

const RungLine* fastest(const std::vector<RungLine>& rungs, bool same_bits) {
  const RungLine* best = nullptr;
  for (const RungLine& each : rungs)
    if ((!same_bits || each.mark == WeightMark::same) &&
        (best == nullptr || each.summary()->median < best->summary()->median))
      best = &each;
  return best;
}

Cell speedup_cell(const std::optional<Speedup>& speedup) {
  if (!speedup) return {};
  Cell cell(speedup->value);
  return speedup->interval ? cell.interval(speedup->interval->low, speedup->interval->high)
                           : cell.noted(too_few_text(speedup->samples));
}

/// The hash that all rungs of the promise share; of other rungs the distance, because their hash says nothing.
Cell weights_cell(const RungLine& rung) {
  if (rung.mark == WeightMark::same) return Cell(short_hash(rung.weight_hash)).marked(Mark::same);
  if (rung.largest_difference)
    return Cell(rung.weight_hash).shown(fmt::format("within {:.1e}", *rung.largest_difference)).marked(Mark::differs);
  return Cell(enum_name(rung.mark)).marked(Mark::muted);
}

Cell efficiency_cell(const std::optional<Speedup>& against_one, int workers) {
  if (!against_one || workers <= 1) return {};
  const double efficiency = against_one->value / workers;
  return is_efficiency(efficiency) ? Cell(efficiency) : not_usable_cell();
}

Cell measured_cell(const RungLine& rung) {
  Cell cell(double(rung.measured_samples));
  return rung.measured_samples < rung.samples_per_epoch
             ? cell.noted(fmt::format("of {}, scaled", rung.samples_per_epoch))
             : cell;
}

Row rung_row(const RungLine& rung, const RungLine* naive, const RungLine* simd, const RungLine* best) {
  const auto against_simd = speedup_of(simd, rung);
  Row row{.cells = {rung.title, median_cell(*rung.summary()).sampled(rung.samples),
                    Cell(static_cast<std::int64_t>(rung.samples.size())), measured_cell(rung),
                    speedup_cell(speedup_of(naive, rung)), speedup_cell(against_simd),
                    rung.is_peer() ? Cell() : efficiency_cell(against_simd, rung.workers()),
                    Cell(rung.flops_per_second * 1e-9), Cell(rung.peak_share), Cell(rung.accuracy), weights_cell(rung),
                    Cell(rung.explained), Cell(double(rung.threads)), Cell(double(rung.ranks))},
          .tone = tone_of(rung.group)};
  if (&rung == naive) row.mark = Mark::baseline;
  if (&rung == best) row.mark = Mark::best;
  return row;
}

/// "30.9 to 32.0", "n = 2"
std::string spread(const Speedup& speedup) {
  return speedup.interval ? fmt::format("{:.3g} to {:.3g}", speedup.interval->low, speedup.interval->high)
                          : too_few_text(speedup.samples);
}

std::string times(const Speedup& speedup) { return fmt::format("{:.3g} times ({})", speedup.value, spread(speedup)); }

BarChart bars(const std::vector<RungLine>& rungs) {
  BarChart chart{
      .id = "ladder-bars",
      .title = "Time per epoch, rung by rung",
      .description = "Bars of the median seconds per epoch of every rung, on a logarithmic axis; shorter is faster.",
      .axis = {.title = "time per epoch", .unit = "s", .scale = Scale::log, .format = seconds()},
      .note = "Whiskers: 95 % interval of the median; none where there are fewer than 6 samples."};
  for (const RungLine& each : rungs) {
    const Summary s = *each.summary();
    BarValue bar(s.median);
    if (s.interval) bar.error = Interval{s.interval->low, s.interval->high};
    chart.groups.push_back({.label = each.title, .bars = {bar}, .tone = tone_of(each.group)});
  }
  return chart;
}

Table verdict_table(const std::vector<RungLine>& rungs) {
  Table table{.id = "verdicts",
              .title = "What limits each rung",
              .columns = {column("Rung"), column("Limit"), column("From the spans")},
              .notes = {"Spans are taken in one more turn of each rung, whose times are not used."}};
  for (const RungLine& each : rungs)
    if (!each.limit.empty())
      table.rows.push_back({.cells = {each.title, each.limit, each.verdict}, .tone = tone_of(each.group)});
  return table;
}

std::int64_t count_same(const std::vector<RungLine>& rungs) {
  return std::count_if(rungs.begin(), rungs.end(), [](const RungLine& r) { return r.mark == WeightMark::same; });
}

Headline headline(const LadderLines& ladder) {
  Headline top;
  const RungLine* best = fastest(ladder.rungs, true);
  const auto add = [&](const char* against, const char* label) {
    if (best == nullptr || best->name == against) return;
    if (const auto speedup = speedup_of(ladder.rung(against), *best))
      top.numbers.push_back({fmt::format("{:.3g}×", speedup->value), label,
                             fmt::format("{}{}", speedup->interval ? "95 %: " : "", spread(*speedup))});
  };
  add("naive", "faster than plain loops");
  add("simd", "faster than one thread");
  const std::int64_t same = count_same(ladder.rungs);
  top.numbers.push_back({fmt::format("{}", same),
                         same == 1 ? "rung with the reference's bits" : "rungs, one and the same weights",
                         "compared by hash"});
  if (const auto& curve = ladder.curve; curve && curve->test_accuracy)
    top.numbers.push_back({fmt::format("{:.1f} %", 100 * *curve->test_accuracy), "accuracy, trained in full",
                           fmt::format("{:.1f} s on {}", curve->seconds, curve->rung)});
  return top;
}

/// Rungs that did not run here; those with the same reason in one line.
std::vector<std::string> left_out_lines(const std::vector<Line<LeftOutRecord>>& left_out) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // in the order of the rungs
  for (const LeftOutRecord& each : left_out) {
    if (each.why.empty()) continue;
    auto found =
        std::find_if(reasons.begin(), reasons.end(), [&](const auto& reason) { return reason.first == each.why; });
    if (found == reasons.end()) found = reasons.insert(reasons.end(), {each.why, {}});
    found->second.push_back(each.title);
  }
  std::vector<std::string> lines;
  for (const auto& [why, titles] : reasons) lines.push_back(fmt::format("{}: {}", fmt::join(titles, "; "), why));
  return lines;
}

std::string weights_note(std::int64_t samples) {
  return fmt::format(
      "Weights: the hash of the weights after two epochs on the same {} samples, which every rung trains before it is "
      "measured; same: every bit is that of SIMD kernels on one thread. Otherwise the largest difference of a weight "
      "(PyTorch and JAX: from their own first weights, without shuffling, on the samples measured).",
      samples > 0 ? fmt::format("{}", samples) : "few");
}

}  // namespace

std::vector<std::string> ladder_summary(const LadderLines& ladder) {
  const RungLine *naive = ladder.rung("naive"), *simd = ladder.rung("simd"), *best = fastest(ladder.rungs, true);
  std::vector<std::string> sentences;
  if (best != nullptr) {
    std::string text = fmt::format("**{}** is the fastest rung that keeps the bits: {:.3g} s per epoch", best->title,
                                   best->summary()->median);
    if (const auto s = speedup_of(naive, *best); s && best != naive)
      text += fmt::format(", {} the speed of plain serial loops", times(*s));
    if (const auto s = speedup_of(simd, *best); s && best != simd)
      text += fmt::format(" and {} that of the best serial rung", times(*s));
    sentences.push_back(text + ".");
    sentences.push_back(fmt::format("What limits it: {}.", best->verdict));
  }
  std::vector<std::string> differ, peers;
  for (const RungLine& each : ladder.rungs) {
    if (each.mark == WeightMark::differs)
      differ.push_back(fmt::format("{} (largest difference {:.1e})", each.title, each.largest_difference.value_or(0)));
    if (each.is_peer() && best != nullptr)
      if (const auto s = speedup_of(&each, *best))
        peers.push_back(fmt::format("{} takes {} as long", each.title, times(*s)));
  }
  sentences.push_back(fmt::format(
      "{} of {} rungs end with the same weights, bit for bit{}.", count_same(ladder.rungs), ladder.rungs.size(),
      differ.empty()
          ? ""
          : fmt::format("; not those of {}, whose sums round in another order (training makes such differences grow)",
                        fmt::join(differ, ", "))));
  if (!peers.empty()) sentences.push_back(fmt::format("{}.", fmt::join(peers, "; ")));
  return sentences;
}

Table columns_of(const Table& table, std::initializer_list<std::string_view> keys) {
  Table chosen = table;
  chosen.columns.clear();
  for (Row& row : chosen.rows) row.cells.clear();
  for (const std::string_view key : keys)
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].key != key) continue;
      chosen.columns.push_back(table.columns[c]);
      for (std::size_t r = 0; r < table.rows.size(); ++r) chosen.rows[r].cells.push_back(table.rows[r].cells[c]);
    }
  return chosen;
}

Table ladder_table(const LadderLines& ladder) {
  const RungLine *naive = ladder.rung("naive"), *simd = ladder.rung("simd"), *best = fastest(ladder.rungs, false);
  Table table{.id = "ladder",
              .title = "Every rung",
              .columns = {{.title = "Rung", .key = "rung", .role = report::Role::call_path},
                          {.title = "Time per epoch",
                           .unit = "s",
                           .format = significant(4),
                           .key = "seconds_per_epoch",
                           .role = report::Role::metric},
                          column("Samples", integer(), "samples"),
                          column("Measured on", integer(), "measured_samples"),
                          column("× plain loops", ratio(), "speedup_naive"),
                          column("× one thread", ratio(), "speedup_simd"),
                          column("Efficiency", percent(0), "efficiency"),
                          column("GFLOP/s", significant(3), "gflops"),
                          column("Of peak", percent(1), "peak_share"),
                          column("Accuracy", percent(1), "accuracy"),
                          column("Weights", {}, "weights"),
                          column("Explained", percent(2), "explained"),
                          {.title = "Threads", .format = integer(), .key = "threads", .role = report::Role::parameter},
                          {.title = "Ranks", .format = integer(), .key = "ranks", .role = report::Role::parameter}}};
  for (const RungLine& each : ladder.rungs) table.rows.push_back(rung_row(each, naive, simd, best));
  table.notes = {
      fmt::format(
          "Medians of samples taken in turns, with non-parametric 95 % intervals; n = 2: fewer than {} samples, "
          "so no interval. × plain loops: the speed against optimised plain loops; × one thread: against SIMD "
          "kernels on one thread. Efficiency: × one thread / (threads x ranks). Of peak: of the multiply-add "
          "peak measured before, on one or on all processors.",
          kLeastForInterval),
      weights_note(ladder.rungs.front().check_samples),
      "Accuracy: on test samples after two epochs on the samples measured, so rungs on other numbers of samples have "
      "other accuracies. Explained: the share of the time that spans account for."};
  return table;
}

Table short_ladder_table(const LadderLines& ladder) {
  Table table = columns_of(ladder_table(ladder),
                           {"rung", "seconds_per_epoch", "speedup_naive", "speedup_simd", "efficiency", "weights"});
  table.title.clear();
  for (Row& row : table.rows)
    for (const std::size_t c : {std::size_t{2}, std::size_t{3}}) {
      row.cells[c].error.reset();  // the report has them
      row.cells[c].note.clear();
    }
  table.notes = {
      fmt::format("Time: the median and its 95 % interval (n: too few samples for one). Efficiency: × one thread / "
                  "workers. Weights: their hash after {} samples, trained twice by every rung; same: bit for bit.",
                  ladder.rungs.front().check_samples)};
  return table;
}

Document ladder_document(std::span<const Result> results) {
  const LadderLines ladder = ladder_lines(results);
  const RungLine& first = ladder.rungs.front();
  Document document{.title = "The ladder", .subtitle = ladder.ceilings ? ladder.ceilings->config : ""};
  document.footer = fmt::format("Lockstep {}, commit {}, {}",
                                first.origin.versions.contains("lockstep") ? first.origin.versions.at("lockstep") : "?",
                                first.origin.commit, first.origin.time);
  Section& summary = document.section("Summary");
  summary.add(headline(ladder));
  for (std::string& sentence : ladder_summary(ladder)) summary.add(Paragraph{std::move(sentence)});
  for (const std::string& warning :
       ladder.ceilings && !first.origin.command.empty() ? ladder.ceilings->warnings : std::vector<std::string>{})
    summary.add(Notice{.kind = Notice::Kind::warning, .text = "Taken under a warning: " + warning});
  Section& section = document.section("The ladder");
  const Table all = ladder_table(ladder);
  // Narrow enough for a page; all columns stand together at its end.
  Table times =
      columns_of(all, {"rung", "seconds_per_epoch", "measured_samples", "speedup_naive", "speedup_simd", "efficiency"});
  Table work = columns_of(all, {"rung", "gflops", "peak_share", "accuracy", "weights", "explained"});
  times.id = "times", times.title = "Time and speed-up of every rung";
  work.id = "work", work.title = "Speed, accuracy and weights of every rung";
  times.notes.resize(1);
  work.notes.erase(work.notes.begin());
  section.add(std::move(times)).add(bars(ladder.rungs)).add(std::move(work)).add(verdict_table(ladder.rungs));
  List left_out{.items = left_out_lines(ladder.left_out)};
  if (!left_out.items.empty()) section.add(Paragraph{"Not measured here:"}).add(std::move(left_out));
  for (const auto add : {add_scaling, add_roofline, add_sections, add_curves, add_method}) add(ladder, document);
  document.section("All columns").add(all);
  return document;
}

}  // namespace lockstep::cli
