#pragma once
// From a description ("fashion-mnist", "moons", a file, a folder) to data sets ready to train on.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/core/fields.hpp"
#include "lockstep/data/array.hpp"
#include "lockstep/data/augment.hpp"
#include "lockstep/data/dataset.hpp"
#include "lockstep/data/resize.hpp"
#include "lockstep/data/scaling.hpp"
#include "lockstep/data/table_plan.hpp"

namespace lockstep {

/// How one set is divided; 0 means: none (validation, test) or all that are left (train). opened_source.hpp tells
/// which samples the parts get.
struct SplitConfig {
  double train = 0, validation = 0, test = 0;

  bool any() const { return train != 0 || validation != 0 || test != 0; }
  static constexpr auto fields() {
    return std::tuple{field("train", &SplitConfig::train, CountOrFraction{}, "samples; default: all that are left"),
                      field("validation", &SplitConfig::validation, CountOrFraction{}, "samples"),
                      field("test", &SplitConfig::test, CountOrFraction{}, "samples")};
  }

  friend bool operator==(const SplitConfig&, const SplitConfig&) = default;
};

/// Images [channels,height,width] become [channels,size,size]. size 0: left alone.
struct ResizeConfig {
  std::int64_t size = 0;
  std::string method = "average";  // a name of ResizeMethod

  static constexpr auto fields() {
    return std::tuple{
        field("size", &ResizeConfig::size, IntRange{0, 65536}, "height and width; 0: as it is")
            .needs("the new height and width, for example 20")
            .shorthand(),
        field("method", &ResizeConfig::method, OneOf{names_of<ResizeMethod>}, "`bicubic` is antialiased")};
  }
  friend bool operator==(const ResizeConfig&, const ResizeConfig&) = default;
};

/// The section [data]: data_fields.hpp says what each key means. Empty strings and zeros mean "by default".
struct DataConfig {
  std::string source;  // a name, or a path to a file or folder
  std::int64_t limit = 0, test_limit = 0;

  // Files
  std::string test, labels, test_labels;
  std::string x_key, y_key, test_x_key, test_y_key;
  std::optional<bool> header;
  std::string delimiter, decimal;
  std::string label_column;
  std::string weights;  // of the samples: a column, an array or a file
  std::vector<std::string> columns, drop, categorical;
  std::string missing;
  std::string label_rule;  // how labels become classes (samples.hpp); default: mat_label_rule for .mat, else as stored
  bool regression = false;
  bool stream = false;

  // Shape and transforms, in this order
  std::vector<std::int64_t> shape;
  std::string layout;
  bool transpose = false;
  ResizeConfig resize;
  std::string as_sequence;
  std::int64_t steps = 0;
  std::string vocabulary, characters;  // of text (text_source.hpp)
  double scale = 0;
  bool standardise = false;
  bool one_hot = false;
  AugmentConfig augment;  // of the training part, while training

  // Division
  std::optional<bool> shuffle, stratify;
  SplitConfig split;

  // Generators; `classes` also says the number of classes of a file
  std::int64_t count = 0, test_count = 0;
  double noise = -1;  // below 0: that of the generator
  double factor = 0.5;
  std::int64_t classes = 0, features = 0;
  std::uint64_t seed = 1;  // shuffles and generators

  /// Under a launcher: rank 0 alone reads the data and sends them to the others (lockstep/run/workload.hpp). load_data
  /// ignores it.
  bool from_rank0 = false;

  /// Where each key was written ("run.toml:3"), for messages; empty when the settings come from a program.
  std::map<std::string, std::string> places;
  /// What was chosen in reading the settings: one line each, for the notes of load_data.
  std::vector<std::string> remarks;
  /// The shape that the network takes, where it is known: pictures whose channels come last are turned to fit it.
  std::vector<std::int64_t> wanted_shape;
  /// The number of outputs of the network, where it is known (0: not): beside one output, numbers are targets of a
  /// regression unless there are only two of them.
  std::int64_t wanted_outputs = 0;

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
  std::vector<std::string> class_names;  // folders, words in a file, Fashion-MNIST; empty: classes have numbers only
  bool named_labels = false;             // the file holds the names
  ElementType source_type = ElementType::float64;  // of the numbers in the source
  double white = 1;                                // white_of the training samples, as the source holds them
  Shape source_shape{1};                           // extents of one sample there, as stored
  Scaling scaling;                                 // how they became inputs
  std::string characters;                          // of a text: the vocabulary; empty: bytes, or no text
  std::string label_column;                        // CSV: the column that was taken, by name or index; empty: none
  std::string label_rule;                          // how labels became classes; empty: there are none
  ResizeConfig resize;                             // data.resize, or what pictures of several sizes were brought to
  std::string layout;                              // data.layout, or how pictures were found to stand
  bool regression = false;                         // targets are real numbers
  std::optional<TablePlan> table;                  // how the columns of a table became inputs
  std::vector<std::string> notes;                  // what was chosen without being told, and what looks wrong: one line
                                                   // each
};

/// The raw number of a white pixel: 1 where samples hold fractions, 255 where they hold bytes or larger numbers. Looks
/// at some samples only.
double white_of(const Dataset& raw, ElementType source_type);

/// What the data are for. Training data must hold more than one class, and every class in the training part. For
/// prediction a table may lack its labels, and all of its lines are kept.
enum class DataUse { training, evaluation, prediction };

/// What training has settled about its data, for other data of the same kind.
struct TrainedData {
  /// The scaling of samples of this type and white (white_of), in place of config.scale and config.standardise.
  /// Null: those of the configuration. Error(usage) when it does not fit the samples.
  std::function<Scaling(ElementType type, double white, std::int64_t features)> scaling{};
  std::optional<TablePlan> table{};
  std::vector<std::string> class_names{};
  bool named_labels = false;
  bool pictures = false;  // class_names are folders
};

/// Reads or generates the data and applies the transforms. Error(usage) for a description that makes no sense,
/// Error(data) for files that are missing or wrong.
DataSplits load_data(const DataConfig& config, const TrainedData& trained = {}, DataUse use = DataUse::training);

}  // namespace lockstep
