#pragma once
// Tables (CSV) on their way to samples: which column is the label, which are inputs, words as categories, and missing
// numbers.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/formats/csv.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/data/table_plan.hpp"

namespace lockstep {

struct LabelChoice {
  std::int64_t column = -1;  // -1: none
  std::string note;          // how it was chosen, where the configuration does not say; else empty
};

/// The names that mean a label, in any case of letters: "label, labels, class, ...".
std::string label_names();

/// `wanted`: a name, an index from 0, "last", "none", or empty: the one column with a name of label_names(), otherwise
/// the last one. `y` beside a column `x` is a coordinate and no label. Error(usage) when several columns have such a
/// name. `names` is empty without a header; `name` is the file.
LabelChoice choose_label(std::span<const std::string> names, std::int64_t width, std::string_view wanted,
                         std::string_view name);

/// The index of a column given by name, by index from 0, or as "last"; nothing: there is none.
std::optional<std::int64_t> find_column(std::span<const std::string> names, std::int64_t width,
                                        std::string_view column);

/// What training has settled, for other tables. Null members: this is the table of training.
struct TableRules {
  const TablePlan* plan = nullptr;
  bool named_labels = false;  // the label is a name even where it looks like a number
};

struct TableSamples {
  Array x;                           // float64 [samples, inputs]; NaN where a number is missing
  std::optional<Array> y;            // labels or real targets
  std::vector<std::string> y_names;  // not empty: y holds indices of these
  std::optional<Array> weights;      // of the samples of training, where data.weights names them
  std::string name, y_name;          // of the file, of the label's column, for messages
  std::string label;                 // the column that was taken, by name or index; empty: none
  bool regression = false;           // y holds real targets
  TablePlan plan;                    // fills are not settled yet
  std::vector<std::string> notes;    // what was chosen without being told
};

/// Reads the table with the keys of `config` that speak of tables. `label_column`: config.label_column, or what
/// training took.
TableSamples read_table(const std::string& path, const DataConfig& config, const std::string& label_column, DataUse use,
                        const TableRules& rules);

/// Settles plan.columns[].fill by the rows `train` of x, data.missing says how:
///   mean    the sum of the numbers there are, in the order of `train`, in double, over their count
///   median  the middle one; of an even count half the sum of the two
/// With "error" and "drop" there is nothing to fill. Error(data) when a column has no number in these rows.
void settle_fills(const Array& x, std::span<const std::int64_t> train, const DataConfig& config, TablePlan& plan);

/// One number per input: what stands for NaN there; NaN where nothing does.
std::vector<double> fills_of(const TablePlan& plan);

/// "7 columns are 12 inputs: Sex is 2 (female, male)"; empty when every column is one input.
std::string describe_inputs(const TablePlan& plan);

}  // namespace lockstep
