#include "lockstep/lab/report/document.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace lockstep::report {

namespace {

// In the order of Mark, Tone and Rule::State.
constexpr std::string_view kMarkNames[] = {"",        "same",      "differs",   "best", "baseline",
                                           "warning", "published", "simulated", "muted"};
constexpr std::string_view kMarkSymbols[] = {"", "✓", "≠", "★", "", "!", "", "", ""};
constexpr std::string_view kToneNames[] = {"simd",  "neutral", "naive",  "library", "simd",      "threads",
                                           "ranks", "hybrid",  "device", "peer",    "published", "simulated"};
constexpr std::string_view kStateNames[] = {"kept", "partly kept", "not kept", "does not apply"};

constexpr std::size_t at(auto value) { return static_cast<std::size_t>(value); }
static_assert(std::size(kMarkNames) == at(Mark::muted) + 1 && std::size(kMarkSymbols) == at(Mark::muted) + 1);
static_assert(std::size(kToneNames) == at(Tone::simulated) + 1);
static_assert(std::size(kStateNames) == at(Rule::State::not_applicable) + 1);

}  // namespace

template <class Part>
Block::Block(Part part) : variant(std::move(part)) {}
template Block::Block(Paragraph);
template Block::Block(List);
template Block::Block(Table);
template Block::Block(Code);
template Block::Block(Checklist);
template Block::Block(Facts);
template Block::Block(Notice);
template Block::Block(Headline);
template Block::Block(BarChart);
template Block::Block(LineChart);
template Block::Block(ScatterChart);
template Block::Block(HeatMap);
template Block::Block(PointCloud);
template Block::Block(NetworkDrawing);
template Block::Block(PictureGrid);
template Block::Block(Panels);
Block::Block(const Block&) = default;
Block::Block(Block&&) noexcept = default;
Block& Block::operator=(const Block&) = default;
Block& Block::operator=(Block&&) noexcept = default;
Block::~Block() = default;

Section& Section::add(Block block) { return blocks.push_back(std::move(block)), *this; }

Section& Document::section(std::string name) { return sections.emplace_back(Section{.title = std::move(name)}); }

std::string slug(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      out += capital ? static_cast<char>(c - 'A' + 'a') : c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  constexpr std::size_t kLongest = 60;  // it becomes part of a file name
  if (out.size() > kLongest) out.resize(kLongest);
  while (out.ends_with('-')) out.pop_back();
  return out.empty() ? "item" : out;
}

std::vector<NamedTable> tables_of(const Document& document) {
  std::vector<NamedTable> out;
  std::map<std::string, int> seen;
  for (const Section& section : document.sections)
    for (const Block& block : section.blocks)
      if (const auto* table = std::get_if<Table>(&block)) {
        std::string name = slug(table->id.empty() ? table->title : table->id);
        if (const int count = ++seen[name]; count > 1) name += fmt::format("-{}", count);
        out.push_back({name, table});
      }
  return out;
}

bool holds_numbers(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const Row& row) { return column < row.cells.size() && row.cells[column].number(); });
}

std::string_view mark_name(Mark mark) { return kMarkNames[at(mark)]; }
std::string_view mark_symbol(Mark mark) { return kMarkSymbols[at(mark)]; }
std::string_view tone_name(Tone tone) { return kToneNames[at(tone)]; }

Tone automatic_tone(std::size_t index) {
  constexpr Tone kOrder[] = {Tone::simd, Tone::ranks,     Tone::threads, Tone::device, Tone::library,
                             Tone::peer, Tone::simulated, Tone::hybrid,  Tone::naive};
  return kOrder[index % std::size(kOrder)];
}

std::string_view rule_word(const Rule& rule) { return rule.word.empty() ? kStateNames[at(rule.state)] : rule.word; }

}  // namespace lockstep::report
