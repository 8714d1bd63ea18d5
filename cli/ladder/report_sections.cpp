// Which part of the network gains from which kind of parallelism: every gain beside what it could be at most, the lanes
// of a vector or the processors, so that a factor of 2 by threads is not lost beside one of 20 by SIMD.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/ladder/report_parts.hpp"
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

BarChart stacked_sections(const std::vector<const Result*>& rungs) {
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
  for (const Result* rung : rungs) {
    std::map<std::string, double> sums;
    double all = 0;
    for (const auto& [name, values] : rung->series)
      if (values.size() >= 2 && name != "validation") {
        sums[kind_of(name)] += values[1];
        all += values[1];
      }
    if (all <= 0) continue;
    BarGroup group{.label = rung->word("title")};
    for (const std::string& kind : kinds) group.bars.emplace_back(sums[kind] / all);
    chart.groups.push_back(std::move(group));
  }
  return chart;
}

/// Seconds per epoch of a section on a rung.
std::optional<double> seconds_in(const Result* rung, const std::string& section) {
  const auto* values = rung == nullptr ? nullptr : series(*rung, section);
  if (values == nullptr || values->size() < 2 || (*values)[1] <= 0) return std::nullopt;
  return (*values)[1];
}

/// A kind of parallelism: the sections of a rung without it and of one with it.
struct Kind {
  std::string name;
  const Result *without = nullptr, *with = nullptr;
  double ideal = 0;    // the gain that it promises; 0: nobody can say
  std::string unit{};  // of the ideal: "lanes", "threads"

  std::optional<double> gain(const std::string& section) const {
    const auto before = seconds_in(without, section), after = seconds_in(with, section);
    return before && after ? std::optional(*before / *after) : std::nullopt;
  }
  /// "SIMD (8 lanes)"
  std::string title() const { return ideal > 0 ? fmt::format("{} ({:.0f} {})", name, ideal, unit) : name; }
  std::string of_ideal(double gain) const { return fmt::format("{:.0f} % of {:.0f}", 100 * gain / ideal, ideal); }
  /// Workers cannot bring far more than there are of them; lanes can, for vectors are not all that SIMD kernels have.
  bool usable(double gain) const { return unit == "lanes" || ideal <= 0 || is_efficiency(gain / ideal); }
};

/// The kinds that were measured here, each on its widest rung that has a processor for every worker.
std::vector<Kind> kinds_of(const ResultSet& results) {
  const Result *simd = results.find("section", "simd"), *machine = results.find("machine", "ceilings");
  const double processors = machine == nullptr ? 1 : machine->number("threads").value_or(1);
  std::vector<Kind> kinds = {{.name = "SIMD",
                              .without = results.find("section", "naive"),
                              .with = simd,
                              .ideal = machine == nullptr ? 0 : machine->number("lanes").value_or(0),
                              .unit = "lanes"}};
  for (const char* group : {"threads", "ranks", "device"}) {
    Kind kind{.name = group, .without = simd, .unit = group};
    double most = 0;
    for (const Result* rung : results.rungs()) {
      const double workers = rung->number("threads").value_or(1) * rung->number("ranks").value_or(1);
      const Result* sections = results.find("section", rung->name);
      if (rung->word("group") != group || sections == nullptr || workers < most || workers > processors) continue;
      most = workers;
      kind.with = sections;
      if (workers > 1) kind.ideal = workers;
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

std::vector<Part> parts_of(const Result& simd) {
  std::vector<std::pair<double, Part>> placed;
  double all = 0;
  for (const auto& [name, values] : simd.series)
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

std::vector<std::string> section_sentences(const ResultSet& results) {
  const Result* simd = results.find("section", "simd");
  if (simd == nullptr) return {};
  std::vector<std::string> sentences;
  for (const Kind& kind : kinds_of(results)) {
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

void add_sections(const ResultSet& results, Document& document) {
  const auto rungs = results.of("section");
  if (rungs.empty()) return;
  Section& section = document.section("Sections");
  section.add(stacked_sections(rungs));
  const Result* simd = results.find("section", "simd");
  const std::vector<Kind> kinds = kinds_of(results);
  if (simd == nullptr || kinds.empty()) return;
  section.add(List{.items = section_sentences(results)});
  Table table{.id = "sections",
              .title = "What each part gains from which kind of parallelism",
              .columns = {{.title = "Section"}, {.title = "Of one thread", .format = percent(1)}},
              .notes = {"Ratios of seconds per epoch, and below them the share of the ideal: lanes of a vector, or "
                        "workers. SIMD against plain loops, the others against SIMD on one thread. In full: 85 % of "
                        "the ideal or more; in part: half of it; little: less."}};
  for (const Kind& kind : kinds)
    table.columns.push_back({.title = kind.title(), .format = ratio(), .key = slug(kind.name)});
  table.columns.push_back({.title = "What it gains"});
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
