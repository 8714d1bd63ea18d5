#pragma once
// Features and labels as two arrays, from any of the file formats.

#include <optional>
#include <string>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/formats/csv.hpp"

namespace lockstep {

enum class FileFormat { mat, npz, npy, csv, idx, folder };

/// By the ending (.mat, .npz, .npy, .csv, .tsv); otherwise by the first bytes (IDX, plain or gzip). A folder is a
/// folder. Error(data) when there is nothing or nothing known.
FileFormat format_of(const std::string& path);

/// Which file and, within it, which arrays. Empty strings: the defaults of DataConfig.
struct PairRequest {
  std::string path, labels, x_key, y_key;
  std::string label_column;    // CSV
  std::string weights;         // of the samples: a column, an array or a file; empty: none
  std::optional<bool> header;  // CSV
  bool regression = false;     // the targets are real numbers
  bool test = false;           // .npz: prefer x_test and y_test to x_train and y_train
  bool evaluation = false;     // weights are not wanted; a CSV without their column is as good
};

/// The columns of a table: their names (empty without a header), and which of them is the label (-1: none).
struct TableColumns {
  std::vector<std::string> names;
  CsvLabel label;
};

struct ArrayPair {
  Array x;
  std::optional<Array> y;  // nothing when the request says "none"
  std::string x_name, y_name;
  std::string y_key;                    // the key of the configuration that says where y is: "y_key", "label_column"
  std::optional<TableColumns> columns;  // CSV; the column of the weights is not among them
  std::optional<Array> weights{};       // nothing where they are not asked for
};

/// Any format but folder.
ArrayPair read_pair(const PairRequest& request);

/// The labels alone, and the weights alone: for features that are read by slices.
std::optional<Array> read_labels(const PairRequest& request);
std::optional<Array> read_weights(const PairRequest& request);

/// True when the .npz file holds x_test and y_test.
bool has_default_test(const std::string& npz_path);

}  // namespace lockstep
