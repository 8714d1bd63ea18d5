#pragma once
// Features and labels as two arrays, from any of the file formats.

#include <optional>
#include <string>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/file_dataset.hpp"

namespace lockstep {

enum class FileFormat { mat, npz, npy, csv, ts, idx, cifar, folder };

/// By the ending (.mat, .npz, .npy, .csv, .tsv, .ts, .bin); otherwise by the first bytes (IDX, plain or gzip). A folder
/// is a folder of pictures or of CIFAR; so is a .zip or .tar archive. Error(data) when there is nothing or nothing
/// known.
FileFormat format_of(const std::string& path);

/// Which file and, within it, which arrays. Empty strings: the defaults of DataConfig.
struct PairRequest {
  std::string path, labels, x_key, y_key;
  std::string label_column;  // CSV
  std::string weights;       // of the samples: an array or a file; empty: none are wanted
  bool test = false;         // .npz: prefer x_test and y_test to x_train and y_train
  bool regression = false;   // the targets are real numbers
  bool predicting = false;   // targets may be absent
};

/// Targets, one per sample: numbers, or indices of words.
struct LabelArray {
  std::optional<Array> y;          // nothing: there are none
  std::vector<std::string> names;  // not empty: y holds indices of these
};

struct ArrayPair {
  Array x;
  std::optional<Array> y;  // nothing when the request says "none"
  std::string x_name, y_name;
  std::string y_key;                       // the key of the configuration that says where y is: "y_key", "labels"
  std::vector<std::string> y_names{};      // not empty: y holds indices of these
  std::vector<std::string> class_names{};  // of classes 0, 1, ..., where the file has them
  std::optional<Array> weights{};          // nothing where they are not asked for
  // Sequences: x is [samples, features, steps] (.ts), or what data.as_sequence and data.shape make one of.
  bool sequences = false;
  std::vector<std::int64_t> lengths{};  // .ts, .npz; empty: all samples have all steps
};

/// Any format but folders and tables (table.hpp).
ArrayPair read_pair(const PairRequest& request);

/// The labels alone, and the weights alone: for features that are read by slices.
LabelArray read_labels(const PairRequest& request);
std::optional<Array> read_weights(const PairRequest& request);

/// A pair of a .npz file whose samples are read by slices later. Error(data) where they are compressed, or sequences of
/// different lengths.
struct StreamedPair {
  FilePart x;
  LabelArray labels;
  std::string y_name;
  std::vector<std::string> class_names{};  // as in ArrayPair
  std::optional<Array> weights{};
};
StreamedPair open_npz_stream(const PairRequest& request);

/// True when the .npz file holds x_test and y_test.
bool has_default_test(const std::string& npz_path);

}  // namespace lockstep
