#include "lockstep/model/checkpoint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/model/checkpoint_record.hpp"
#include "lockstep/model/seal.hpp"

namespace lockstep {
namespace {

constexpr const char* kRecordKey = "lockstep.checkpoint";
constexpr const char* kConfigKey = "lockstep.config";
constexpr const char* kFirst = "optimizer.first";
constexpr const char* kSecond = "optimizer.second";

/// The name goes before errors that do not know it; whatever is wrong with the file, the checkpoint is unusable.
template <class Step>
auto in_file(std::string_view name, const Step& step) {
  try {
    return step();
  } catch (const Error& error) {
    if (error.code() == ExitCode::resources) throw;
    const bool named = std::string_view(error.what()).starts_with(name);
    throw Error(ExitCode::checkpoint, named ? error.what() : fmt::format("{}: {}", name, error.what()));
  }
}

/// Of the bytes as they stand in the file: little-endian.
std::string hash_of(const Array& array) {
  if constexpr (std::endian::native == std::endian::little) return sha256_hex(array.bytes);
  std::vector<std::byte> bytes = array.bytes;
  to_native_order(bytes, element_size(array.type), std::endian::little);
  return sha256_hex(bytes);
}

void append_vector(const char* name, const ParameterValues& values, std::vector<NamedArray>& tensors) {
  std::visit(
      [&](const auto& buffer) {
        if (buffer.size() > 0) tensors.push_back({name, array_from({buffer.size()}, buffer.span())});
      },
      values);
}

/// The tensor that is not what the record says; nothing: the fault lies elsewhere.
std::optional<std::string> damaged_tensor(std::span<const std::byte> bytes, const SafetensorsHeader& header,
                                          const TensorHashes& hashes) {
  for (const SafetensorsEntry& entry : header.tensors) {
    if (entry.name == kTotalTensor) continue;
    const auto found = hashes.find(entry.name);
    const auto block = bytes.subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.bytes));
    if (found == hashes.end() || found->second != sha256_hex(block)) return printable(entry.name);
  }
  return std::nullopt;
}

/// Reads the record of a file whose checksums are right, or says what is wrong.
CheckpointRecord checked_record(std::span<const std::byte> bytes, const SafetensorsHeader& header) {
  const auto text = header.metadata.find(kRecordKey);
  if (text == header.metadata.end() || !has_total(header))
    throw Error(ExitCode::checkpoint, "is no checkpoint: training cannot go on from it");
  const bool whole = total_is_right(bytes);
  CheckpointRecord record;
  try {
    record = record_from_json(text->second, kRecordKey);
  } catch (const Error&) {
    if (whole) throw;
    throw Error(ExitCode::checkpoint, "damaged: the header is not what was written; take another checkpoint");
  }
  if (const auto tensor = damaged_tensor(bytes, header, record.hashes))
    throw Error(
        ExitCode::checkpoint,
        fmt::format("damaged: {} does not have the SHA-256 that was written; take another checkpoint", *tensor));
  if (!whole)
    throw Error(ExitCode::checkpoint,
                "damaged: the header or the last 32 bytes are not what was written; take "
                "another checkpoint");
  return record;
}

/// Takes the optimiser's vector, in the network's precision; empty where the file has none.
ParameterValues take_vector(const Safetensors& contents, const char* name, const Network& network) {
  return std::visit(
      [&](const auto& own) -> ParameterValues {
        using Buffer = std::decay_t<decltype(own)>;
        using T = std::decay_t<decltype(own[0])>;
        const auto found = std::ranges::find(contents.tensors, name, &NamedArray::name);
        if (found == contents.tensors.end()) return Buffer();
        const Array& array = found->array;
        if (array.type != element_type_of<T>() || array.elements() != network.trainable_count())
          throw Error(ExitCode::checkpoint,
                      fmt::format("{} is {}, the network has {} trainable parameters in {}", name, array.describe(),
                                  network.trainable_count(), to_string(network.precision())));
        Buffer buffer(array.elements());
        if (buffer.size() > 0) std::memcpy(buffer.data(), array.bytes.data(), array.bytes.size());
        return buffer;
      },
      network.values());
}

}  // namespace

bool is_checkpoint(const std::map<std::string, std::string>& metadata) { return metadata.contains(kRecordKey); }

std::vector<std::byte> write_checkpoint(const Network& network, const ModelInfo& info, const TrainingState& state,
                                        const RunRecord& run) {
  Safetensors contents{.metadata = model_metadata(network, info, weight_hash(state.parameters)),
                       .tensors = named_weights(network.parameters(), state.parameters)};
  append_vector(kFirst, state.first, contents.tensors);
  append_vector(kSecond, state.second, contents.tensors);
  TensorHashes hashes;
  for (const NamedArray& tensor : contents.tensors) hashes[tensor.name] = hash_of(tensor.array);
  contents.metadata[kConfigKey] = run.config;
  contents.metadata[kRecordKey] = record_to_json(state, run, hashes);
  return write_with_total(std::move(contents));
}

Checkpoint parse_checkpoint(std::span<const std::byte> bytes, std::string_view name) {
  return in_file(name, [&] {
    const SafetensorsHeader header = parse_safetensors_header(bytes, static_cast<std::int64_t>(bytes.size()), name);
    CheckpointRecord record = checked_record(bytes, header);
    const Safetensors contents = parse_safetensors(bytes, name);
    Checkpoint checkpoint{.model = model_of(contents), .state = std::move(record.state), .run = std::move(record.run)};
    const auto config = contents.metadata.find(kConfigKey);
    if (config == contents.metadata.end())
      throw Error(ExitCode::checkpoint, fmt::format("{} is missing in the metadata", kConfigKey));
    checkpoint.run.config = config->second;
    const Network& network = checkpoint.model.network;
    checkpoint.state.parameters = network.values();
    checkpoint.state.first = take_vector(contents, kFirst, network);
    checkpoint.state.second = take_vector(contents, kSecond, network);
    return checkpoint;
  });
}

}  // namespace lockstep
