#pragma once
// From a description ("fashion-mnist", "moons", a file, a folder) to data sets ready to train on.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/data/array.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/scaling.hpp"

namespace lockstep {

/// How one set is divided. Each number is a count of samples when it is 1 or more and a fraction of them when
/// it is below 1; 0 means: none (validation, test) or all that are left (train). Fractions that add up to 1 use every
/// sample. split.hpp tells which samples the parts get.
struct SplitConfig {
  double train = 0, validation = 0, test = 0;

  bool any() const { return train != 0 || validation != 0 || test != 0; }

  friend bool operator==(const SplitConfig&, const SplitConfig&) = default;
};

/// Images [channels,height,width] become [channels,size,size]. size 0: left alone.
struct ResizeConfig {
  std::int64_t size = 0;
  std::string method = "average";  // or "bicubic": antialiased, a = -0.5, clamped edges

  friend bool operator==(const ResizeConfig&, const ResizeConfig&) = default;
};

/// Empty strings and zeros mean "by default"; what that is stands beside each field.
struct DataConfig {
  /// "fashion-mnist", "mnist"; "quadrants", "moons", "circles", "blobs"; or a path: .mat, .npz, .npy, .csv, an IDX
  /// file (.gz or not), a folder of class folders of PNG images.
  std::string source;
  /// Only the first N training (test) samples of the source, before any split; 0: all.
  std::int64_t limit = 0, test_limit = 0;

  // Files
  std::string test;                    // a second file (folder) of the same kind, used as the test set
  std::string labels, test_labels;     // label files (.npy, IDX, one-column .csv) beside .npy and IDX; "none": no
                                       // targets; IDX default: the name with labels-idx1 for images-idx3
  std::string x_key, y_key;            // array names; default .mat X, y; .npz x_train, x or X and y_train or y.
                                       // y_key "none": no targets
  std::string test_x_key, test_y_key;  // in the same .npz or .mat: a test set; .npz x_test and y_test when present
  std::optional<bool> header;          // CSV: the first line names the columns; default: it holds a non-number
  std::string label_column;            // CSV: name, or index from 0, or "last", or "none": no target; default: the
                                       // column whose name means a label (csv_label.hpp), otherwise the last
  std::string label_rule;              // how labels become classes: "as-stored", "digits", "from-one" (targets.hpp);
                                       // default: mat_label_rule for .mat, as stored for others
  bool regression = false;             // targets are real numbers (vectors), not labels
  bool stream = false;                 // IDX (plain) and .npy: read by slices, never the whole file in memory

  // Shape and transforms, in this order
  std::vector<std::int64_t> shape;  // reshape every sample, for example [1,20,20]; default: as stored
  std::string layout;               // of images: "nchw" (channels first, the default) or "nhwc": the samples stand in
                                    // the file (or in `shape`) as [height,width,channels] and are turned
  bool transpose = false;           // swap height and width of every image (.mat stores columns first)
  ResizeConfig resize;
  double scale = 0;          // divide by it; default: 255 for uint8 images, else 1
  bool standardise = false;  // (x - mean) / deviation per feature, both of the training set
  bool one_hot = false;      // labels become real target vectors of 0 and 1

  // Division
  std::optional<bool> shuffle;   // before the split, keyed by seed; default: where a file or folder is split
  std::optional<bool> stratify;  // every part has its share of every class; default: where a labelled file or folder is
                                 // split and shuffled
  SplitConfig split;

  // Generators
  std::int64_t count = 0, test_count = 0;  // samples; default 1000 and none
  double noise = -1;                       // deviation of the added normal noise; default: 0.1 moons, 0.05 circles,
                                           // 1 blobs, 0 quadrants
  double factor = 0.5;                     // circles: inner radius / outer radius
  std::int64_t classes = 0;                // blobs: centres; default 3. Files: the number of classes; default largest
                                           // label + 1
  std::int64_t features = 0;               // blobs: dimensions; default 2
  std::uint64_t seed = 1;                  // shuffles and generators

  /// Under a launcher: rank 0 alone reads the data and sends them to the others (lockstep/run/scatter.hpp). load_data
  /// ignores it.
  bool from_rank0 = false;

  /// Where each key was written ("run.toml:3"), for messages; empty when the settings come from a program.
  std::map<std::string, std::string> places;

  /// Whether the split shuffles and stratifies, defaults resolved. A file without labels is not stratified.
  bool shuffles() const;
  bool stratifies() const;

  friend bool operator==(const DataConfig&, const DataConfig&) = default;
};

/// The sources that have a name: "fashion-mnist", ..., "blobs". Any other source is a path.
const std::vector<std::string>& source_names();
bool is_named_source(std::string_view source);

struct DataSplits {
  std::shared_ptr<const Dataset> train, validation /* may be null */, test /* may be null */;
  std::vector<std::string> class_names;  // of an image folder and of Fashion-MNIST; empty: classes have numbers only
  ElementType source_type = ElementType::float64;  // of the numbers in the source
  Shape source_shape{1};                           // extents of one sample there, as stored
  Scaling scaling;                                 // how they became inputs
  std::string label_column;                        // CSV: the column that was taken, by name or index; empty: none
  std::string label_rule;                          // how labels became classes; empty: there are none
  std::vector<std::string> notes;                  // what was chosen without being told, and what looks wrong: one line
                                                   // each
};

/// What the data are for. Training data must hold more than one class, and every class in the training part.
enum class DataUse { training, evaluation };

/// Reads or generates the data and applies the transforms. Error(usage) for a description that makes no sense,
/// Error(data) for files that are missing or wrong. `scaling`: use this one (of the data a model was trained on) in
/// place of what config.scale and config.standardise give; Error(usage) when it does not fit the samples.
DataSplits load_data(const DataConfig& config, const std::optional<Scaling>& scaling = std::nullopt,
                     DataUse use = DataUse::training);

}  // namespace lockstep
