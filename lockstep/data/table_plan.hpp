#pragma once
// How the columns of a table become inputs of a network. Training settles it; a model file carries it, and other tables
// are read by it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct TableColumn {
  std::string name;                       // in the header; empty without one
  std::int64_t index = 0;                 // in the table of training
  std::vector<std::string> categories{};  // not empty: one input for each, 1 where the field is that word, else 0
  std::optional<double> fill{};           // what stands for a missing number; nothing: it is refused

  /// The number of inputs it becomes.
  std::int64_t inputs() const { return categories.empty() ? 1 : static_cast<std::int64_t>(categories.size()); }
  friend bool operator==(const TableColumn&, const TableColumn&) = default;
};

struct TablePlan {
  std::vector<TableColumn> columns{};  // in the order of the inputs
  std::int64_t width = 0;              // columns of the table of training

  std::int64_t inputs() const {
    std::int64_t sum = 0;
    for (const TableColumn& column : columns) sum += column.inputs();
    return sum;
  }
  friend bool operator==(const TablePlan&, const TablePlan&) = default;
};

}  // namespace lockstep
