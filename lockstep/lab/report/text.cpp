#include "lockstep/lab/report/write.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/report/escape.hpp"
#include "lockstep/lab/text_table.hpp"

namespace lockstep::report {

namespace {

constexpr std::int64_t kWidth = 100;

/// Lines of at most kWidth characters; the first begins with `line` and a space, later ones with `indent` spaces.
std::string wrapped(std::string_view text, int indent = 0, std::string line = {}) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > kWidth) {
      out += line + '\n';
      line = std::string(static_cast<std::size_t>(indent), ' ');
      line += word;
    } else {
      if (!line.empty()) line += ' ';
      line += word;
    }
  }
  return out + line + '\n';
}

std::string cell_line(const Column& column, const Cell& cell) {
  std::string out = clean(cell_text(column, cell));
  if (cell.error) out += ' ' + interval_text(column, cell);
  if (const auto mark = mark_name(cell.mark); !mark.empty() && mark != out && cell.mark != Mark::muted)
    out += fmt::format(" ({})", mark);
  if (!cell.note.empty()) out += fmt::format(" ({})", clean(cell.note));
  return out;
}

char alignment_of(const Table& table, std::size_t column) {
  return table.columns[column].align == Align::right || holds_numbers(table, column) ? 'r' : 'l';
}

std::string block_text(const Paragraph& block) { return wrapped(running_text(block.text)); }

std::string block_text(const List& block) {
  std::string out;
  for (const std::string& item : block.items) out += wrapped("- " + running_text(item), 2);
  return out;
}

std::string block_text(const Table& block) { return table_text(block); }

std::string block_text(const Code& block) {
  std::string out = block.title.empty() ? "" : clean(block.title) + ":\n";
  const std::string text = clean(block.text, true);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "  " + text.substr(at, end - at) + '\n';
    at = end + 1;
  }
  return out;
}

std::string block_text(const Checklist& block) {
  std::string out = block.title.empty() ? "" : clean(block.title) + ":\n";
  std::int64_t widest = 0;
  for (const Rule& rule : block.rules) widest = std::max(widest, display_width(clean(rule_word(rule))));
  const std::string before(block.title.empty() ? 0 : 2, ' ');
  for (const Rule& rule : block.rules) {
    std::string word = before + clean(rule_word(rule));
    word.append(static_cast<std::size_t>(widest - display_width(clean(rule_word(rule))) + 1), ' ');
    const char* const between = rule.why.empty() ? "" : rule.rule.ends_with('.') ? " " : ": ";
    out += wrapped(running_text(rule.rule) + between + running_text(rule.why),
                   static_cast<int>(before.size()) + static_cast<int>(widest) + 2, word);
  }
  return out;
}

std::string block_text(const Facts& block) {
  TextTable table("ll");
  for (const Fact& fact : block.facts) table.row({clean(fact.name), clean(fact.value)});
  return (block.title.empty() ? "" : clean(block.title) + ":\n") + table.str(block.title.empty() ? 0 : 2);
}

std::string block_text(const Notice& block) {
  const std::string mark = !block.word.empty()                   ? clean(block.word) + ' '
                           : block.kind == Notice::Kind::warning ? "warning: "
                                                                 : "";
  return wrapped(mark + running_text(block.text), block.word.empty() ? static_cast<int>(mark.size()) : 0);
}

std::string block_text(const Headline& block) {
  TextTable table("rll");
  for (const auto& number : block.numbers) table.row({clean(number.value), clean(number.label), clean(number.detail)});
  return table.str();
}

template <class Drawing>
std::string block_text(const Drawing&) {
  return {};
}

}  // namespace

std::string table_text(const Table& table) {
  std::string alignment;
  for (std::size_t c = 0; c < table.columns.size(); ++c) alignment += alignment_of(table, c);
  const bool marks = std::any_of(table.rows.begin(), table.rows.end(),
                                 [](const Row& row) { return row.mark != Mark::none && row.mark != Mark::muted; });
  if (marks) alignment += 'l';
  TextTable text(alignment);
  std::vector<std::string> head;
  for (const Column& column : table.columns)
    head.push_back(clean(column.unit.empty() ? column.title : fmt::format("{} ({})", column.title, column.unit)));
  text.row(std::move(head));
  for (const Row& row : table.rows) {
    std::vector<std::string> cells;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      cells.push_back(cell_line(table.columns[c], c < row.cells.size() ? row.cells[c] : Cell()));
    if (marks && row.mark != Mark::muted) cells.emplace_back(mark_name(row.mark));
    text.row(std::move(cells));
  }
  std::string out = table.title.empty() ? "" : clean(table.title) + '\n';
  out += text.str();
  for (const std::string& note : table.notes) out += wrapped(running_text(note));
  return out;
}

std::string to_text(const Document& document) {
  std::string out = clean(document.title) + '\n';
  if (!document.subtitle.empty()) out += clean(document.subtitle) + '\n';
  for (const Section& section : document.sections) {
    if (!section.title.empty()) {
      const std::string title = clean(section.title);
      out += '\n' + title + '\n' + std::string(static_cast<std::size_t>(display_width(title)), '-') + '\n';
    }
    bool first = true;
    for (const Block& block : section.blocks) {
      const std::string text = std::visit([](const auto& b) { return block_text(b); }, block);
      if (text.empty()) continue;
      if (!first || section.title.empty()) out += '\n';
      out += text;
      first = false;
    }
  }
  if (!document.footer.empty()) out += '\n' + wrapped(running_text(document.footer));
  return out;
}

}  // namespace lockstep::report
