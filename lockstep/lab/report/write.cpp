#include "lockstep/lab/report/write.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/file.hpp"
#include "lockstep/lab/report/document.hpp"
#include "lockstep/lab/report/escape.hpp"

namespace lockstep::report {

namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json value_json(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return *whole;
  if (const auto* real = std::get_if<double>(&cell.value)) return number_json(*real);
  if (const auto* words = std::get_if<std::string>(&cell.value)) return *words;
  return {};
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    out += c;
    if (c == '"') out += '"';
  }
  return out + '"';
}

std::string csv_value(const Cell& cell) {
  if (const auto* words = std::get_if<std::string>(&cell.value)) return csv_field(*words);
  if (const auto* whole = std::get_if<std::int64_t>(&cell.value)) return fmt::format("{}", *whole);
  if (const auto* real = std::get_if<double>(&cell.value)) return fmt::format("{}", *real);
  return {};
}

const Cell& cell_at(const Row& row, std::size_t column) {
  static const Cell kEmpty;
  return column < row.cells.size() ? row.cells[column] : kEmpty;
}

bool has_interval(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [&](const Row& row) { return cell_at(row, column).error.has_value(); });
}

bool has_mark(const Table& table) {
  return std::any_of(table.rows.begin(), table.rows.end(), [](const Row& row) { return row.mark != Mark::none; });
}

Json cell_json(const Column& column, const Cell& cell) {
  Json out{{"text", clean(cell_text(column, cell))}, {"value", value_json(cell)}};
  if (cell.error) {
    out["low"] = number_json(cell.error->low);
    out["high"] = number_json(cell.error->high);
    out["interval"] = interval_text(column, cell);
  }
  if (cell.mark != Mark::none) out["mark"] = mark_name(cell.mark);
  if (!cell.note.empty()) out["note"] = clean(cell.note);
  for (const double sample : cell.samples) out["samples"].push_back(number_json(sample));
  return out;
}

Json table_json(const NamedTable& named) {
  const Table& table = *named.table;
  Json out{{"name", named.name}, {"title", clean(table.title)}, {"columns", Json::array()}, {"rows", Json::array()}};
  for (const Column& column : table.columns)
    out["columns"].push_back(
        {{"key", column_key(column)}, {"title", clean(column.title)}, {"unit", clean(column.unit)}});
  for (const Row& row : table.rows) {
    Json line{{"mark", mark_name(row.mark)}, {"cells", Json::array()}};
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      line["cells"].push_back(cell_json(table.columns[c], cell_at(row, c)));
    out["rows"].push_back(std::move(line));
  }
  return out;
}

/// The parameters of a row; nothing where one of them is no number.
std::optional<Json> parameters_of(const Table& table, const Row& row) {
  Json parameters = Json::object();
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].role != Role::parameter) continue;
    const auto number = cell_at(row, c).number();
    if (!number || !std::isfinite(*number)) return {};
    parameters[column_key(table.columns[c])] = *number;
  }
  return parameters.empty() ? std::nullopt : std::optional(parameters);
}

std::string call_path_of(const NamedTable& named, const Row& row) {
  for (std::size_t c = 0; c < named.table->columns.size(); ++c)
    if (named.table->columns[c].role == Role::call_path) return cell_text(named.table->columns[c], cell_at(row, c));
  return named.name;
}

}  // namespace

std::vector<std::filesystem::path> write_report(const Document& document, const std::filesystem::path& folder,
                                                const FileOptions& options) {
  std::vector<std::filesystem::path> written;
  const auto write = [&](const std::string& name, const std::string& text) {
    written.push_back(folder / name);
    write_file_atomically(written.back(), text);
  };
  write(options.name + ".html", to_html(document));
  if (options.json) write(options.name + ".json", tables_json(document));
  for (const NamedTable& table : tables_of(document)) {
    if (options.csv) write(table.name + ".csv", table_csv(*table.table));
    if (!options.extra_p) continue;
    if (const std::string lines = extra_p_lines(table); !lines.empty()) write(table.name + ".extra-p.jsonl", lines);
  }
  return written;
}

std::string table_csv(const Table& table) {
  std::string out;
  const bool marks = has_mark(table);
  const auto finish_line = [&] {
    if (out.ends_with(',')) out.pop_back();
    out += "\r\n";
  };
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string key = column_key(table.columns[c]);
    out += csv_field(key) + ',';
    if (has_interval(table, c)) out += csv_field(key + "_low") + ',' + csv_field(key + "_high") + ',';
  }
  if (marks) out += "mark,";
  finish_line();
  for (const Row& row : table.rows) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const Cell& cell = cell_at(row, c);
      if (c > 0) out += ',';
      out += csv_value(cell);
      if (has_interval(table, c)) out += cell.error ? fmt::format(",{},{}", cell.error->low, cell.error->high) : ",,";
    }
    if (marks) out += fmt::format(",{}", mark_name(row.mark));
    out += "\r\n";
  }
  return out;
}

std::string tables_json(const Document& document) {
  Json out{{"title", clean(document.title)}, {"tables", Json::array()}};
  for (const NamedTable& named : tables_of(document)) out["tables"].push_back(table_json(named));
  return dump(out, 1) + '\n';
}

std::string extra_p_lines(const NamedTable& named) {
  std::string out;
  const Table& table = *named.table;
  for (const Row& row : table.rows) {
    const auto parameters = parameters_of(table, row);
    if (!parameters) continue;
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.columns[c].role != Role::metric) continue;
      const Cell& cell = cell_at(row, c);
      std::vector<double> values = cell.samples;
      if (values.empty() && cell.number()) values.push_back(*cell.number());
      for (const double value : values)
        if (std::isfinite(value))
          out += dump(Json{{"params", *parameters},
                           {"metric", column_key(table.columns[c])},
                           {"callpath", call_path_of(named, row)},
                           {"value", value}}) +
                 '\n';
    }
  }
  return out;
}

}  // namespace lockstep::report
