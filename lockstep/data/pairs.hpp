#pragma once
// Features and labels as two arrays, from any of the file formats.

#include <optional>
#include <string>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/formats/csv.hpp"

namespace lockstep {

enum class FileFormat { mat, npz, npy, csv, ts, idx, folder };

/// By the ending (.mat, .npz, .npy, .csv, .tsv, .ts); otherwise by the first bytes (IDX, plain or gzip). A folder is a
/// folder. Error(data) when there is nothing or nothing known.
FileFormat format_of(const std::string& path);

/// Which file and, within it, which arrays. Empty strings: the defaults of DataConfig.
struct PairRequest {
  std::string path, labels, x_key, y_key;
  std::string label_column;    // CSV
  std::optional<bool> header;  // CSV
  bool regression = false;     // the targets are real numbers
  bool test = false;           // .npz: prefer x_test and y_test to x_train and y_train
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
  std::optional<TableColumns> columns;  // CSV
  // Sequences: x is [samples, features, steps] (.ts), or what data.as_sequence and data.shape make one of.
  bool sequences = false;
  std::vector<std::int64_t> lengths{};     // .ts, .npz; empty: all samples have all steps
  std::vector<std::string> class_names{};  // .ts
};

/// Any format but folder.
ArrayPair read_pair(const PairRequest& request);

/// The labels alone: for features that are read by slices.
std::optional<Array> read_labels(const PairRequest& request);

/// True when the .npz file holds x_test and y_test.
bool has_default_test(const std::string& npz_path);

}  // namespace lockstep
