// Which part of the network gains from which kind of parallelism: every gain beside what it could be at most, the lanes
// of a vector or the processors, so that a factor of 2 by threads is not lost beside one of 20 by SIMD.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/ladder/report.hpp"
#include "lockstep/lab/fits.hpp"

namespace lockstep::cli {

using namespace report;  // NOLINT(google-build-using-namespace): the words of documents

namespace {

constexpr double kShown = 0.002;                 // sections with a smaller share of one thread's time are not shown
constexpr double kJudged = 0.02;                 // and with a smaller one than this not judged
constexpr double kInFull = 0.85, kPartly = 0.5;  // shares of the ideal

/// "3 conv2d backward" -> backward; "wait" -> wait
std::string kind_of(const std::string& name) {
  if (name.ends_with(" forward")) return "forward";
  if (name.ends_with(" backward")) return "backward";
  if (name == "load" || name == "loss") return "load and loss";
  if (name == "reduce" || name == "update") return "reduce and update";
  if (name == "exchange" || name == "gather" || name == "broadcast") return "exchange";
  if (name == "wait" || name == "bubble") return "wait";
  return "rest";
}

BarChart stacked_sections(const std::vector<Line<SectionsRecord>>& rungs) {
  const std::vector<std::string> kinds = {"forward",  "backward", "load and loss", "reduce and update",
                                          "exchange", "wait",     "rest"};
  BarChart chart{.id = "section-bars",
                 .title = "Where the time of each rung goes",
                 .description =
                     "Stacked bars: shares of forward, backward, loading, reduction, exchange and waiting in the time "
                     "of every rung.",
                 .axis = {.title = "share of the time", .low = 0.0, .high = 1.0, .format = percent(0)},
                 .stacked = true,
                 .note = "Means over the threads of rank 0."};
  for (const std::string& kind : kinds) chart.series.push_back({.name = kind});
  for (const SectionsRecord& rung : rungs) {
    std::map<std::string, double> sums;
    double all = 0;
    for (const auto& [name, values] : rung.sections)
      if (values.size() >= 2 && name != "validation") {
        sums[kind_of(name)] += values[1];
        all += values[1];
      }
    if (all <= 0) continue;
    BarGroup group{.label = rung.title};
    for (const std::string& kind : kinds) group.bars.emplace_back(sums[kind] / all);
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

/// Seconds per epoch of a section on a rung.
std::optional<double> seconds_in(const SectionsRecord& rung, const std::string& section) {
  const auto found = rung.sections.find(section);
  if (found == rung.sections.end() || found->second.size() < 2 || found->second[1] <= 0) return std::nullopt;
  return found->second[1];
}

/// A kind of parallelism: the sections of a rung without it and of one with it.
struct Kind {
  std::string name;
  const SectionsRecord *without = nullptr, *with = nullptr;
  double ideal = 0;    // the gain that it promises; 0: not known
  std::string unit{};  // of the ideal: "lanes", "threads"

  std::optional<double> gain(const std::string& section) const {
    const auto before = seconds_in(*without, section), after = seconds_in(*with, section);
    return before && after ? std::optional(*before / *after) : std::nullopt;
  }
  /// "SIMD (8 lanes)"
  std::string title() const { return ideal > 0 ? fmt::format("{} ({:.0f} {})", name, ideal, unit) : name; }
  std::string of_ideal(double gain) const { return fmt::format("{:.0f} % of {:.0f}", 100 * gain / ideal, ideal); }
  /// Workers cannot bring far more than there are of them; lanes can, for vectors are not all that SIMD kernels have.
  bool usable(double gain) const { return unit == "lanes" || ideal <= 0 || is_efficiency(gain / ideal); }
};

/// The kinds that were measured here, each on its widest rung that has a processor for every worker.
std::vector<Kind> kinds_of(const LadderLines& ladder) {
  const SectionsRecord* simd = ladder.sections_of("simd");
  const int processors = ladder.ceilings ? ladder.ceilings->threads : 1;
  std::vector<Kind> kinds = {{.name = "SIMD",
                              .without = ladder.sections_of("naive"),
                              .with = simd,
                              .ideal = ladder.ceilings ? ladder.ceilings->lanes : 0,
                              .unit = "lanes"}};
  for (const RungGroup group : {RungGroup::threads, RungGroup::ranks, RungGroup::device}) {
    Kind kind{.name = enum_name(group), .without = simd, .unit = enum_name(group)};
    int most = 0;
    for (const RungLine& rung : ladder.rungs) {
      const SectionsRecord* sections = ladder.sections_of(rung.name);
      if (rung.group != group || sections == nullptr || rung.workers() < most || rung.workers() > processors) continue;
      most = rung.workers();
      kind.with = sections;
      if (most > 1) kind.ideal = most;
    }
    kinds.push_back(std::move(kind));
  }
  std::erase_if(kinds, [](const Kind& kind) { return kind.without == nullptr || kind.with == nullptr; });
  return kinds;
}

struct Part {
  std::string name;
  double share = 0;  // of the time of one thread
};

std::vector<Part> parts_of(const SectionsRecord& simd) {
  std::vector<std::pair<double, Part>> placed;
  double all = 0;
  for (const auto& [name, values] : simd.sections)
    if (values.size() >= 2 && name != "validation") {
      placed.push_back({values[0], {name, values[1]}});
      all += values[1];
    }
  std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Part> parts;
  for (auto& [position, part] : placed)
    if (part.share > kShown * all) parts.push_back({part.name, part.share / all});
  return parts;
}

/// "SIMD more than its lanes; threads in full; ranks hardly"
std::string reading(const std::vector<Kind>& kinds, const std::string& section) {
  std::vector<std::string> words;
  for (const Kind& kind : kinds) {
    const auto gain = kind.gain(section);
    if (!gain) continue;
    const double share = kind.ideal > 0 ? *gain / kind.ideal : 0;
    const bool simd = kind.unit == "lanes";
    if (!kind.usable(*gain))
      words.push_back(fmt::format("{} {}", kind.name, kNotUsable));
    else if (kind.ideal <= 0)
      words.push_back(fmt::format("{} {}", kind.name, *gain > 1 ? "faster" : "slower"));
    else if (*gain < 1.1)
      words.push_back(fmt::format("{} nothing", kind.name));
    else
      words.push_back(fmt::format("{} {}", kind.name,
                                  simd && share > 1.1 ? "more than its lanes"
                                  : share >= kInFull  ? "in full"
                                  : share >= kPartly  ? "in part"
                                                      : "little"));
  }
  return fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace

std::vector<std::string> section_sentences(const LadderLines& ladder) {
  const SectionsRecord* simd = ladder.sections_of("simd");
  if (simd == nullptr) return {};
  std::vector<std::string> sentences;
  for (const Kind& kind : kinds_of(ladder)) {
    const Part *most = nullptr, *least = nullptr;
    const std::vector<Part> parts = parts_of(*simd);
    for (const Part& part : parts) {
      const auto gain = kind.gain(part.name);
      if (!gain || part.share < kJudged || !kind.usable(*gain)) continue;
      if (most == nullptr || *gain > *kind.gain(most->name)) most = &part;
      if (least == nullptr || *gain < *kind.gain(least->name)) least = &part;
    }
    if (most == nullptr || most == least) continue;
    const auto told = [&](const Part& part) {
      const double gain = *kind.gain(part.name);
      return fmt::format("`{}` {:.3g} times{}", part.name, gain,
                         kind.ideal > 0 ? fmt::format(" ({})", kind.of_ideal(gain)) : "");
    };
    std::string text = fmt::format("**{}**: most in {}, least in {}, which is {:.0f} % of the time of one thread.",
                                   kind.title(), told(*most), told(*least), 100 * least->share);
    if (kind.unit == "lanes" && kind.ideal > 0 && *kind.gain(most->name) > kind.ideal)
      text += " More than the lanes: SIMD kernels also keep sums in registers and multiply and add in one instruction.";
    sentences.push_back(std::move(text));
  }
  return sentences;
}

void add_sections(const LadderLines& ladder, Document& document) {
  if (ladder.sections.empty()) return;
  Section& section = document.section("Sections");
  section.add(stacked_sections(ladder.sections));
  const SectionsRecord* simd = ladder.sections_of("simd");
  const std::vector<Kind> kinds = kinds_of(ladder);
  if (simd == nullptr || kinds.empty()) return;
  section.add(List{.items = section_sentences(ladder)});
  Table table{.id = "sections",
              .title = "What each part gains from which kind of parallelism",
              .columns = {column("Section"), column("Of one thread", percent(1))},
              .notes = {"Ratios of seconds per epoch, and below them the share of the ideal: lanes of a vector, or "
                        "workers. SIMD against plain loops, the others against SIMD on one thread. In full: 85 % of "
                        "the ideal or more; in part: half of it; little: less."}};
  for (const Kind& kind : kinds) table.columns.push_back(column(kind.title(), ratio(), slug(kind.name)));
  table.columns.push_back(column("What it gains"));
  for (const Part& part : parts_of(*simd)) {
    Row row{.cells = {part.name, part.share}};
    for (const Kind& kind : kinds) {
      const auto gain = kind.gain(part.name);
      if (gain && !kind.usable(*gain)) {
        row.cells.push_back(not_usable_cell());
        continue;
      }
      row.cells.emplace_back(gain);
      if (gain && kind.ideal > 0) row.cells.back().noted(kind.of_ideal(*gain));
    }
    row.cells.emplace_back(reading(kinds, part.name));
    table.rows.push_back(std::move(row));
  }
  if (!table.rows.empty()) section.add(std::move(table));
}

}  // namespace lockstep::cli
