#include "lockstep/data/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/table_columns.hpp"

namespace lockstep {

namespace {

[[noreturn]] void bad_table(std::string_view name, std::string_view what) {
  throw Error(ErrorCode::data, fmt::format("{}: {}", name, what));
}

char separator_of(const std::string& delimiter) {
  if (delimiter.empty()) return '\0';
  return delimiter == "tab" ? '\t' : delimiter == "bar" ? '|' : delimiter[0];
}

char decimal_of(const std::string& decimal) {
  if (decimal.empty()) return '\0';
  return decimal == "comma" ? ',' : '.';
}

/// One table on its way: what it holds, which columns are taken, and the rows that are kept.
class TableReader {
 public:
  TableReader(const std::string& path, const DataConfig& config, const std::string& label_column, DataUse use,
              const TableRules& rules)
      : config_(config), use_(use), rules_(rules), label_column_(label_column) {
    result_.name = path == "-" ? "standard input" : path;
    table_ = read_csv(path, {.header = config.header,
                             .separator = separator_of(config.delimiter),
                             .decimal = decimal_of(config.decimal),
                             .as_words = [&](auto names, auto width) { return columns_of_words(names, width); }});
    if (table_.guessed_decimal)
      note("numbers such as 1,5 are taken as 1.5; data.decimal = \"point\" decides otherwise");
  }

  TableSamples read() {
    check_label();
    result_.plan = rules_.plan != nullptr ? *rules_.plan : make_plan();
    if (result_.plan.columns.empty())
      bad_table(result_.name, width() < 2 ? "a single column cannot hold features and a label"
                                          : "no column is left as an input; data.columns names those to take");
    check_columns();
    keep_rows();
    encode();
    take_label();
    take_weights();
    return std::move(result_);
  }

 private:
  std::int64_t width() const { return static_cast<std::int64_t>(table_.columns.size()); }
  std::int64_t rows() const { return static_cast<std::int64_t>(table_.lines.size()); }
  std::string column(std::int64_t c) const { return column_name(table_.names, c); }
  const CsvColumn& cells(std::int64_t c) const { return table_.columns[static_cast<std::size_t>(c)]; }
  double value(std::int64_t row, std::int64_t c) const {
    return table_.values.as<double>()[static_cast<std::size_t>(row * width() + c)];
  }
  void note(const std::string& line) { result_.notes.push_back(fmt::format("{}: {}", result_.name, line)); }

  /// Called when the names are known: which columns are read as words, whatever they hold.
  std::vector<bool> columns_of_words(std::span<const std::string> names, std::int64_t width) {
    std::vector<bool> words(static_cast<std::size_t>(width), false);
    choose_columns(names, width);
    if (label_.column >= 0 && rules_.named_labels) words[static_cast<std::size_t>(label_.column)] = true;
    if (rules_.plan != nullptr) {
      for (std::size_t i = 0; i < places_.size(); ++i)
        if (!rules_.plan->columns[i].categories.empty()) words[static_cast<std::size_t>(places_[i])] = true;
      return words;
    }
    for (const std::string& name : config_.categorical)
      words[static_cast<std::size_t>(require_column(names, width, name, result_.name, "categorical"))] = true;
    return words;
  }

  void choose_columns(std::span<const std::string> names, std::int64_t width) {
    const bool predicting = use_ == DataUse::prediction;
    if (rules_.plan == nullptr) {
      std::int64_t inputs = config_.wanted_shape.empty() ? 0 : 1;
      for (const std::int64_t extent : config_.wanted_shape) inputs *= extent;
      if (predicting && label_column_.empty() && inputs == width) return;  // every column is an input of the network
      label_ = choose_label(names, width, label_column_, result_.name);
      if (use_ == DataUse::training && !config_.weights.empty()) choose_weights(names, width);
      return;
    }
    places_ = places_in(*rules_.plan, names, width, result_.name);
    const bool only_inputs = names.empty() && width == static_cast<std::int64_t>(places_.size());
    const bool named = !label_column_.empty() && label_column_ != "none" && label_column_ != "last";
    const bool absent = named && !find_column(names, width, label_column_);
    if (predicting && (only_inputs || absent)) return;
    label_ = choose_label(names, width, label_column_, result_.name);
    if (std::find(places_.begin(), places_.end(), label_.column) == places_.end()) return;
    if (predicting) {
      label_ = {};  // guessed, and the model takes it as an input
    } else if (static_cast<std::int64_t>(places_.size()) + 1 == width) {
      places_.clear();  // without names, the label may stand elsewhere than in training
      for (std::int64_t c = 0; c < width; ++c)
        if (c != label_.column) places_.push_back(c);
    } else {
      throw Error(ErrorCode::usage, fmt::format("{}: {} is an input of the model and cannot be its label; "
                                                "data.label_column names another",
                                                result_.name, column_name(names, label_.column)));
    }
  }

  void choose_weights(std::span<const std::string> names, std::int64_t width) {
    weights_ = require_column(names, width, config_.weights, result_.name, "weights");
    if (weights_ == label_.column)
      throw Error(ErrorCode::usage,
                  fmt::format("{}: data.weights: {} would be the label too; data.label_column names the label",
                              result_.name, column_name(names, weights_)));
  }

  TablePlan make_plan() {
    PlanRequest request{
        .table = table_, .config = config_, .label = label_.column, .weights = weights_, .name = result_.name};
    TablePlan plan = plan_columns(request);
    for (const std::string& line : request.notes) note(line);
    for (const TableColumn& each : plan.columns) places_.push_back(each.index);
    return plan;
  }

  void check_label() {
    if (label_.column < 0) return;
    if (!label_.note.empty()) result_.notes.push_back(label_.note);
    result_.label =
        table_.names.empty() ? std::to_string(label_.column) : table_.names[static_cast<std::size_t>(label_.column)];
    result_.y_name = fmt::format("{}: {}", result_.name, column(label_.column));
    const CsvColumn& label = cells(label_.column);
    if (label.words.empty() || rules_.named_labels) return;
    if (config_.regression)
      bad_table(result_.y_name, fmt::format("\"{}\" in line {} is no number, and data.regression is about numbers",
                                            printable(label.first_word.text), label.first_word.line));
    if (is_slip(label, rows()))
      bad_table(result_.name,
                fmt::format("line {}: {}: \"{}\" stands among numbers, and this is the label; mend it",
                            label.first_word.line, column(label_.column), printable(label.first_word.text)));
  }

  /// Words where the plan has numbers.
  void check_columns() const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const CsvColumn& here = cells(places_[i]);
      if (!result_.plan.columns[i].categories.empty() || here.words.empty()) continue;
      bad_table(result_.name,
                fmt::format("line {}: {}: \"{}\" is not a number, and the model was trained on numbers there",
                            here.first_word.line, column(places_[i]), printable(here.first_word.text)));
    }
  }

  /// The rows that data.missing keeps.
  void keep_rows() {
    std::vector<std::string> counts;
    for (const std::int64_t c : places_)
      if (cells(c).missing > 0)
        counts.push_back(fmt::format(
            "{} {}",
            table_.names.empty() ? fmt::format("column {}", c) : printable(table_.names[static_cast<std::size_t>(c)]),
            cells(c).missing));
    const bool drops = config_.missing == "drop" && use_ != DataUse::prediction;
    if (!counts.empty()) refuse_missing(places_);
    const bool label_missing = label_.column >= 0 && cells(label_.column).missing > 0 && use_ != DataUse::prediction;
    if (label_missing && (config_.missing.empty() || config_.missing == "error"))
      bad_table(result_.name,
                fmt::format("line {}: {}: the label is missing; data.missing = \"drop\" leaves such lines out",
                            cells(label_.column).first_missing.line, column(label_.column)));
    for (std::int64_t row = 0; row < rows(); ++row) {
      bool keep = !label_missing || !std::isnan(value(row, label_.column));
      if (drops)
        for (const std::int64_t c : places_) keep = keep && !std::isnan(value(row, c));
      if (keep) kept_.push_back(row);
    }
    const auto left_out = rows() - static_cast<std::int64_t>(kept_.size());
    if (kept_.empty()) bad_table(result_.name, "every line lacks something, so data.missing = \"drop\" leaves no line");
    if (left_out > 0)
      note(fmt::format("{} of {} are left out, because fields are missing (data.missing)", left_out,
                       count_of(rows(), "line")));
    if (!counts.empty() && !drops)
      note(fmt::format("fields are missing in {}: {} of {}; {}", count_of(std::ssize(counts), "column"),
                       fmt::join(counts, ", "), count_of(rows(), "line"),
                       fmt::format("the {} of the training part stands for a number, no category for a word; "
                                   "data.missing decides (\"error\", \"mean\", \"median\", \"drop\")",
                                   config_.missing == "median" ? "median" : "mean")));
  }

  /// Where nothing may stand for a missing field.
  void refuse_missing(const std::vector<std::int64_t>& places) const {
    const bool dropped = config_.missing == "drop" && use_ == DataUse::prediction;
    if (config_.missing != "error" && !dropped) return;
    for (const std::int64_t c : places) {
      if (cells(c).missing == 0) continue;
      const CsvPlace& first = cells(c).first_missing;
      const std::string what =
          first.text.empty() ? "the field is empty" : fmt::format("\"{}\" is no value", printable(first.text));
      bad_table(
          result_.name,
          fmt::format("line {}: {}: {}; {}", first.line, column(c), what,
                      dropped ? "the model was trained without such lines (data.missing = \"drop\"): leave them out"
                              : "data.missing = \"mean\", \"median\" or \"drop\" says what to do"));
    }
  }

  void encode() {
    const TablePlan& plan = result_.plan;
    const auto lines = static_cast<std::int64_t>(kept_.size());
    result_.x = make_array(ElementType::float64, {lines, plan.inputs()});
    const auto x = result_.x.as<double>();
    std::int64_t first = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const TableColumn& column = plan.columns[i];
      const std::vector<std::int64_t> codes = codes_of(column, places_[i]);
      for (std::int64_t line = 0; line < lines; ++line) {
        const double field = value(kept_[static_cast<std::size_t>(line)], places_[i]);
        double* const out = x.data() + line * plan.inputs() + first;
        if (column.categories.empty())
          *out = field;
        else if (!std::isnan(field) && codes[static_cast<std::size_t>(field)] >= 0)
          out[codes[static_cast<std::size_t>(field)]] = 1;
      }
      first += column.inputs();
    }
  }

  /// The category of each word of a column; -1: unknown, which is said.
  std::vector<std::int64_t> codes_of(const TableColumn& plan, std::int64_t c) {
    std::vector<std::int64_t> codes;
    std::vector<std::string_view> unknown;
    for (const std::string& word : cells(c).words) {
      const auto found = std::find(plan.categories.begin(), plan.categories.end(), word);
      codes.push_back(found == plan.categories.end() ? -1 : found - plan.categories.begin());
      if (codes.back() < 0) unknown.push_back(word);
    }
    if (!unknown.empty() && !plan.categories.empty())
      note(fmt::format("{}: {} was not there in training and is taken as none of its categories", column(c),
                       printable_list(unknown)));
    return codes;
  }

  void take_label() {
    result_.regression = config_.regression;
    if (label_.column < 0) return;
    const CsvColumn& label = cells(label_.column);
    if (use_ == DataUse::prediction && label.missing > 0) {
      result_.label.clear();  // the labels are not all known
      return;
    }
    result_.y = make_array(ElementType::float64, {static_cast<std::int64_t>(kept_.size())});
    const auto y = result_.y->as<double>();
    bool whole = true;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      y[i] = value(kept_[i], label_.column);
      whole = whole && y[i] == std::floor(y[i]);
    }
    result_.y_names = label.words;
    if (whole || result_.regression) return;
    result_.regression = true;
    note(fmt::format("{} holds numbers that are not whole, so they are targets of a regression (data.regression)",
                     column(label_.column)));
  }

  void take_weights() {
    if (weights_ < 0) return;
    const CsvColumn& weights = cells(weights_);
    const CsvPlace& bad = weights.words.empty() ? weights.first_missing : weights.first_word;
    if (bad.line > 0)
      bad_table(result_.name, fmt::format("line {}: {}: the weight of the sample is \"{}\", which is no number",
                                          bad.line, column(weights_), printable(bad.text)));
    result_.weights = make_array(ElementType::float64, {static_cast<std::int64_t>(kept_.size())});
    const auto out = result_.weights->as<double>();
    for (std::size_t i = 0; i < kept_.size(); ++i) out[i] = value(kept_[i], weights_);
  }

  const DataConfig& config_;
  DataUse use_;
  const TableRules& rules_;
  const std::string& label_column_;
  CsvTable table_;
  LabelChoice label_;
  std::int64_t weights_ = -1;         // the column of the samples' weights; -1: none
  std::vector<std::int64_t> places_;  // of the plan's columns in this table
  std::vector<std::int64_t> kept_;    // rows
  TableSamples result_;
};

}  // namespace

TableSamples read_table(const std::string& path, const DataConfig& config, const std::string& label_column, DataUse use,
                        const TableRules& rules) {
  return TableReader(path, config, label_column, use, rules).read();
}

void settle_fills(const Array& x, std::span<const std::int64_t> train, const DataConfig& config, TablePlan& plan) {
  if (config.missing == "error" || config.missing == "drop") return;
  const auto values = x.as<double>();
  const std::int64_t width = plan.inputs();
  std::int64_t input = 0;
  for (TableColumn& column : plan.columns) {
    const std::int64_t at = std::exchange(input, input + column.inputs());
    if (!column.categories.empty()) continue;
    std::vector<double> numbers;
    for (const std::int64_t row : train)
      if (const double value = values[static_cast<std::size_t>(row * width + at)]; !std::isnan(value))
        numbers.push_back(value);
    if (numbers.empty())
      throw Error(ErrorCode::data,
                  fmt::format("column {} ({}) has no number in the training part of the data; data.drop leaves it out",
                              column.index, printable(column.name)));
    if (config.missing == "median") {
      const auto middle = numbers.begin() + std::ssize(numbers) / 2;
      std::nth_element(numbers.begin(), middle, numbers.end());
      column.fill = *middle;
      if (numbers.size() % 2 == 0) column.fill = (*std::max_element(numbers.begin(), middle) + *middle) / 2;
    } else {
      double sum = 0;
      for (const double number : numbers) sum += number;
      column.fill = sum / static_cast<double>(numbers.size());
    }
    if (!std::isfinite(*column.fill)) column.fill = 0;  // a sum beyond the largest double
  }
}

std::vector<double> fills_of(const TablePlan& plan) {
  std::vector<double> fills;
  for (const TableColumn& column : plan.columns)
    for (std::int64_t i = 0; i < column.inputs(); ++i) fills.push_back(column.fill.value_or(kMissingNumber));
  return fills;
}

std::string describe_inputs(const TablePlan& plan) {
  constexpr std::size_t kMostShown = 8;
  std::vector<std::string> wide;
  std::size_t more = 0;
  for (const TableColumn& column : plan.columns) {
    if (column.categories.empty()) continue;
    if (wide.size() >= kMostShown) {
      ++more;
      continue;
    }
    const std::vector<std::string_view> words(column.categories.begin(), column.categories.end());
    wide.push_back(fmt::format("{} is {} ({})",
                               column.name.empty() ? fmt::format("column {}", column.index) : printable(column.name),
                               column.inputs(), printable_list(words)));
  }
  if (wide.empty()) return {};
  return fmt::format("{} {} {} inputs: {}{}", count_of(std::ssize(plan.columns), "column"),
                     plan.columns.size() == 1 ? "is" : "are", plan.inputs(), fmt::join(wide, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace lockstep
