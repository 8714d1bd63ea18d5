#pragma once
// Which columns of a table are inputs: by the configuration, by what they hold, or by the plan of training.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/table.hpp"

namespace lockstep {

/// find_column; Error(usage), which names the key `data.<key>` and lists the columns, when there is none.
std::int64_t require_column(std::span<const std::string> names, std::int64_t width, std::string_view column,
                            std::string_view name, std::string_view key);

/// A word among many numbers is a slip of the pen and no category.
bool is_slip(const CsvColumn& column, std::int64_t rows);

struct PlanRequest {
  const CsvTable& table;
  const DataConfig& config;
  std::int64_t label = -1, weights = -1;  // columns that are no inputs; -1: none
  std::string_view name;                  // of the file
  std::vector<std::string> notes{};       // what was chosen without being told
};

/// The inputs of a table of training: data.columns, or all but the label, the weights and data.drop. Columns without a
/// value, and words that differ in nearly every line (names, ids), are left out with a note unless they were asked for.
/// Numbers that look like ids, and pixels that were not divided by 255, get a note.
TablePlan plan_columns(PlanRequest& request);

/// Where the columns of a plan are in another table: by name where both have a header, else by position. Error(data)
/// when one is not there.
std::vector<std::int64_t> places_in(const TablePlan& plan, std::span<const std::string> names, std::int64_t width,
                                    std::string_view name);

}  // namespace lockstep
