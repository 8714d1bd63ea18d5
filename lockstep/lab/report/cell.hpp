#pragma once
// What a table of a report is made of. A cell keeps the raw value beside the text that is shown, so that a test can
// compare a page with the results it was made from.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace lockstep::report {

/// How a number is written.
enum class Style {
  automatic,    // whole numbers with commas, others with 4 significant digits
  integer,      // 61,706
  fixed,        // 3.14                  `digits` after the point
  significant,  // 3.142, 0.003142       `digits` significant ones, never an exponent between 1e-4 and 1e7
  scientific,   // 3.1e-05               `digits` after the point
  percent,      // 0.9752 -> 97.52 %     `digits` after the point
  ratio,        // 3.42×                 3 significant digits
  seconds,      // 1.23 ms, 45.6 s, 4 min 07 s
  prefix,       // 416.5 k, 2.31 G       4 significant digits
  bytes,        // 4.00 MiB
};

struct Format {
  Style style = Style::automatic;
  int digits = 3;
};

constexpr Format integer() { return {Style::integer, 0}; }
constexpr Format fixed(int digits) { return {Style::fixed, digits}; }
constexpr Format significant(int digits) { return {Style::significant, digits}; }
constexpr Format scientific(int digits) { return {Style::scientific, digits}; }
constexpr Format percent(int digits = 1) { return {Style::percent, digits}; }
constexpr Format ratio() { return {Style::ratio, 3}; }
constexpr Format seconds() { return {Style::seconds, 3}; }
constexpr Format prefix() { return {Style::prefix, 4}; }
constexpr Format bytes() { return {Style::bytes, 3}; }

/// "nan" and "inf" come out as "not a number" and "∞".
std::string format_number(double value, Format format);

/// What a row or a cell is: it gives it its colour and its symbol, never only its colour.
enum class Mark {
  none,
  same,       // ✓: the same bits
  differs,    // ≠
  best,       // ★
  baseline,   // what the others are compared with
  warning,    // !
  published,  // not ours: printed in a paper
  simulated,  // not measured: computed
  muted,      // of less weight
};

/// 95 % of the median, or what the columns of its table say.
struct Interval {
  double low = 0, high = 0;
};

/// Made from a text, a number, or nothing (an em dash is shown). Everything else by name:
///   Cell(0.42).interval(0.40, 0.45)      Cell("94752387").marked(Mark::same)      Cell(12.5).shown("12 and a half")
struct Cell {
  using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

  Value value{};
  std::optional<Interval> error{};    // shown behind the value
  std::vector<double> samples{};      // every one of them, for Extra-P and for the JSON
  std::optional<std::string> text{};  // instead of the value by the format of the column
  std::optional<Format> format{};     // instead of the format of the column
  Mark mark = Mark::none;
  std::string note{};  // a short remark below the value

  // Compiled once, in cell.cpp: the members of a variant are long.
  Cell();
  Cell(const Cell&);
  Cell(Cell&&) noexcept;
  Cell& operator=(const Cell&);
  Cell& operator=(Cell&&) noexcept;
  ~Cell();
  Cell(const char* words);
  Cell(std::string words);
  Cell(std::floating_point auto number) : Cell() { set(static_cast<double>(number)); }
  Cell(std::integral auto number) : Cell() { set(static_cast<std::int64_t>(number)); }
  template <class T>
  Cell(const std::optional<T>& perhaps) {
    if (perhaps) *this = Cell(*perhaps);
  }

  Cell& interval(double low, double high) { return error = Interval{low, high}, *this; }
  Cell& sampled(std::vector<double> all) { return samples = std::move(all), *this; }
  Cell& shown(std::string words) { return text = std::move(words), *this; }
  Cell& as(Format own) { return format = own, *this; }
  Cell& marked(Mark what) { return mark = what, *this; }
  Cell& noted(std::string words) { return note = std::move(words), *this; }

  /// The value as a number; nothing for texts and empty cells.
  std::optional<double> number() const;

 private:
  void set(double number);
  void set(std::int64_t number);
};

enum class Align { automatic, right };  // automatic: numbers right, texts left

/// What a column means to Extra-P: a parameter of the measurement (ranks, threads, batch) or what was measured.
enum class Role { none, parameter, metric, call_path };

struct Column {
  std::string title{};
  std::string unit{};  // in the head of the column, not in each cell
  Format format{};
  Align align = Align::automatic;
  std::string key{};  // name in CSV and JSON; empty: from the title, "Time per epoch" -> "time_per_epoch"
  Role role = Role::none;
};

/// A column by its title and the format of its numbers.
inline Column column(std::string title, Format format = {}, std::string key = {}) {
  return {.title = std::move(title), .format = format, .key = std::move(key)};
}

/// The key of a column, as the machine-readable files have it.
std::string column_key(const Column& column);

/// The cell as it is shown: its text, or its value by the format of the column; the interval is not part of it.
std::string cell_text(const Column& column, const Cell& cell);
/// "[0.40, 0.45]", empty without an interval.
std::string interval_text(const Column& column, const Cell& cell);

}  // namespace lockstep::report
