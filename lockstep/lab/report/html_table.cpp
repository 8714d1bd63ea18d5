#include "lockstep/lab/report/html_parts.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/report/drawing.hpp"
#include "lockstep/lab/report/escape.hpp"

namespace lockstep::report {

namespace {

std::string_view class_of(const Table& table, std::size_t column) {
  return table.columns[column].align == Align::right || holds_numbers(table, column) ? "r" : "l";
}

/// Names that need no second line on a desk.
bool has_short_names(const Table& table) {
  constexpr double kPixels = 230;
  return std::all_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
    return row.cells.empty() || text_width(cell_text(table.columns[0], row.cells[0]), 14) < kPixels;
  });
}

/// Many columns stand closer together.
std::string class_attribute(const Table& table) {
  constexpr std::size_t kMostColumns = 8;
  const bool dense = table.columns.size() > kMostColumns, short_names = !dense && has_short_names(table);
  return dense ? " class=\"dense\"" : short_names ? " class=\"short\"" : "";
}

/// The raw value, so that the page alone gives back what was measured.
std::string value_attribute(const Cell& cell) {
  const auto number = cell.number();
  return number && std::isfinite(*number) ? fmt::format(" data-value=\"{}\"", *number) : "";
}

std::string cell_html(const Column& column, const Cell& cell) {
  std::string out = fmt::format("<span class=\"v\">{}</span>", escape_html(cell_text(column, cell)));
  if (cell.mark != Mark::none)
    out = fmt::format("<span class=\"mark {}\">{}</span>", mark_name(cell.mark),
                      std::string(mark_symbol(cell.mark)) + (mark_symbol(cell.mark).empty() ? "" : " ") + out);
  if (cell.error) out += fmt::format(" <span class=\"i\">{}</span>", escape_html(interval_text(column, cell)));
  if (!cell.note.empty()) out += fmt::format("<span class=\"n\">{}</span>", running_html(cell.note));
  return out;
}

std::string row_html(const Table& table, const Row& row) {
  std::string out = row.mark == Mark::none ? "<tr>" : fmt::format("<tr class=\"{}\">", mark_name(row.mark));
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const Cell& cell = c < row.cells.size() ? row.cells[c] : Cell();
    std::string before, after;
    if (c == 0 && row.tone != Tone::automatic) before = fmt::format("<i class=\"dot t-{}\"></i>", tone_name(row.tone));
    if (c == 0 && row.mark != Mark::none && row.mark != Mark::muted)
      after = fmt::format(" <span class=\"tag\">{}</span>", mark_name(row.mark));
    const std::string_view tag = c == 0 ? "th scope=\"row\"" : "td";
    out += fmt::format("<{} class=\"{}\"{}>{}{}{}</{}>", tag, class_of(table, c), value_attribute(cell), before,
                       cell_html(table.columns[c], cell), after, tag.substr(0, 2));
  }
  return out + "</tr>\n";
}

}  // namespace

std::string table_html(const NamedTable& named) {
  const Table& table = *named.table;
  const std::string title = escape_html(table.title);
  std::string out = fmt::format("<div class=\"table\" id=\"{}\">\n", named.name);
  if (table.folded)
    out += fmt::format("<details>\n<summary class=\"caption\">{} <span class=\"unit\">{} rows</span></summary>\n",
                       title, table.rows.size());
  else if (!title.empty())
    out += fmt::format("<p class=\"caption\" aria-hidden=\"true\">{}</p>\n", title);
  out += fmt::format("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table{}>\n", title,
                     class_attribute(table));
  out += fmt::format("<caption>{}</caption>\n<thead><tr>", title);
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    out += fmt::format("<th scope=\"col\" class=\"{}\">{}", class_of(table, c), escape_html(table.columns[c].title));
    if (!table.columns[c].unit.empty())
      out += fmt::format(" <span class=\"unit\">{}</span>", escape_html(table.columns[c].unit));
    out += "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const Row& row : table.rows) out += row_html(table, row);
  out += "</tbody>\n</table>\n</div>\n";
  for (const std::string& note : table.notes) out += fmt::format("<p class=\"note\">{}</p>\n", running_html(note));
  if (table.folded) out += "</details>\n";
  return out + "</div>\n";
}

}  // namespace lockstep::report
