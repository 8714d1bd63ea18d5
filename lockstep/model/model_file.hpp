#pragma once
// A trained model in one file: a safetensors file with the weights under the names that torch.nn.Sequential gives them,
// readable by every program that reads safetensors. Its metadata (string to string) hold what rebuilds the network:
//   lockstep.version           "0.1.0", of the program that wrote it
//   lockstep.numerics_version  "1": which definition of the results it was trained under
//   lockstep.model             JSON, see network_json.hpp
//   lockstep.loss              "cross-entropy", ... (where known)
//   lockstep.loss_number       of focal: gamma; of huber: delta
//   lockstep.data              JSON: how raw samples become inputs, names of the classes (where known)
//   lockstep.weight_hash       SHA-256 over the parameter vector: the promise's hash
//   lockstep.sha256            of the whole file (seal.hpp): every flipped bit is noticed
// The bytes are a pure function of network and info.

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/data/source.hpp"
#include "lockstep/kernels/loss.hpp"
#include "lockstep/model/seal.hpp"
#include "lockstep/model/weights.hpp"
#include "lockstep/nn/network.hpp"

namespace lockstep {

/// What a model file says besides the network: how the network was trained and how raw samples become its input.
struct ModelInfo {
  std::optional<Loss> loss{};    // tells what the outputs mean: logits of classes, of bits, or plain numbers
  std::int64_t focal_gamma = 2;  // of the loss focal
  double huber_delta = 1;        // of the loss huber

  std::string source{};  // what it was trained on: "fashion-mnist", a path
  /// How its samples were prepared: the keys of for_each_preparation_key (data/data_fields.hpp), the others by default.
  /// Nothing: unknown, as in files of an earlier Lockstep.
  std::optional<DataConfig> preparation{};
  std::vector<std::int64_t> source_shape{};  // extents of one sample there, as stored; empty: unknown
  bool pictures = false;                     // the source was a folder of pictures
  /// input = raw * scale + offset, with one pair for all features or one pair per feature; empty: raw numbers.
  std::vector<double> scale{}, offset{};
  double white = 1;                        // the raw number of a white pixel (white_of)
  bool bytes = false;                      // the source holds bytes
  bool lengths = false;                    // its samples were sequences that end at different steps
  std::vector<std::string> class_names{};  // of class 0, 1, ...; empty: the numbers are the names
  bool named_labels = false;               // the labels of the source are these names
  std::optional<TablePlan> table{};        // how the columns of a table become inputs; nothing: the source was no table

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

struct Model {
  Network network;
  ModelInfo info{};
  std::string version{};     // lockstep.version
  int numerics_version = 0;  // lockstep.numerics_version
  Seal seal = Seal::whole;   // what vouches for the file
};

/// Error(diverged) when a weight is not a finite number: such a model is no result.
std::vector<std::byte> write_model(const Network& network, const ModelInfo& info = {});
/// Written atomically: an older model under this name stays whole until the new one is.
void save_model(const std::filesystem::path& path, const Network& network, const ModelInfo& info = {});

/// The metadata of a model file, for weights of this hash.
std::map<std::string, std::string> model_metadata(const Network& network, const ModelInfo& info,
                                                  const std::string& hash);
/// The model in the contents of a file; errors without the name of the file, for in_file.
Model model_of(const Safetensors& contents);

/// A checkpoint (checkpoint.hpp) is a model too, and so is an .onnx file (onnx_import.hpp). Error(checkpoint), "<path>:
/// ...", when the file is missing, is not a model, or any bit of it is not what was written. Files of an earlier
/// Lockstep have a hash of the weights only: Model::seal says so.
Model parse_model(std::span<const std::byte> bytes, std::string_view name);
Model load_model(const std::filesystem::path& path);

}  // namespace lockstep
