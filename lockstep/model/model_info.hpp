#pragma once
// What a model file says besides the network: how the network was trained and how raw samples become its input.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/source.hpp"
#include "lockstep/kernels/loss.hpp"

namespace lockstep {

struct ModelInfo {
  std::optional<Loss> loss{};  // tells what the outputs mean: logits of classes, of bits, or plain numbers

  std::string source{};  // what it was trained on: "fashion-mnist", a path
  /// How its samples were prepared: the keys of for_each_preparation_key (data/preparation.hpp), the others by default.
  /// Nothing: unknown, as in files of an earlier Lockstep.
  std::optional<DataConfig> preparation{};
  std::vector<std::int64_t> source_shape{};  // extents of one sample there, as stored; empty: unknown
  bool pictures = false;                     // the source was a folder of pictures
  /// input = raw * scale + offset, with one pair for all features or one pair per feature; empty: raw numbers.
  std::vector<double> scale{}, offset{};
  double white = 1;                        // the raw number of a white pixel: 255 where the source holds bytes
  std::vector<std::string> class_names{};  // of class 0, 1, ...; empty: the numbers are the names

  friend bool operator==(const ModelInfo&, const ModelInfo&) = default;
};

/// The entries "lockstep.loss" (where known) and "lockstep.data" (JSON) of a model file's metadata. Error(bug) when
/// scale and offset differ in length or hold numbers that are not finite.
std::map<std::string, std::string> info_to_metadata(const ModelInfo& info);

/// The value of a key of the preparation as text, for messages: 255, "label", {"size":20,"method":"average"}.
std::map<std::string, std::string> preparation_texts(const DataConfig& config);

/// The inverse of info_to_metadata; entries that are absent leave the defaults. Error(checkpoint) names the entry that
/// is wrong.
ModelInfo info_from_metadata(const std::map<std::string, std::string>& metadata);

}  // namespace lockstep
