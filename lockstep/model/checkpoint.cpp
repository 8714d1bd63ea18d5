#include "lockstep/model/checkpoint.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/aligned.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/safetensors.hpp"
#include "lockstep/model/network_json.hpp"
#include "lockstep/model/seal.hpp"

namespace lockstep {

namespace {

constexpr const char* kRecordKey = "lockstep.checkpoint";
constexpr const char* kConfigKey = "lockstep.config";
constexpr const char* kFirst = "optimizer.first";
constexpr const char* kSecond = "optimizer.second";
constexpr const char* kAverage = "optimizer.average";
constexpr const char* kCarried = "checkpoint.carried";

using Json = nlohmann::ordered_json;

constexpr std::size_t kHashDigits = 64;

/// SHA-256 of tensors by name, in hex.
using TensorHashes = std::map<std::string, std::string>;

/// The record in the metadata, without the arrays of the state and the configuration of the run.
struct CheckpointRecord {
  TrainingState state{};
  RunRecord run{};
  TensorHashes hashes{};
};

/// Steps, samples and bytes beyond this are no numbers of a run; sums of them still fit.
constexpr std::int64_t kMaxCounter = std::numeric_limits<std::int64_t>::max() / 4;

// A double as its bits: a decimal would have to be trusted to read back to the same ones.
std::string bits_of(double value) { return fmt::format("{:016x}", std::bit_cast<std::uint64_t>(value)); }

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Reads the members of one object; whatever is wrong names the member.
class Members {
 public:
  Members(const Json& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object_.is_object()) throw Error(ErrorCode::checkpoint, fmt::format("{}: an object was expected", name_));
  }

  bool has(const char* key) const { return object_.contains(key); }

  const Json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) throw Error(ErrorCode::checkpoint, fmt::format("{}: {} is missing", name_, key));
    return *found;
  }

  Members object(const char* key) const { return {at(key), fmt::format("{}.{}", name_, key)}; }

  std::int64_t count(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMaxCounter))
      refuse(key, "is no count");
    return value.get<std::int64_t>();
  }

  std::string hash(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string() || !is_hex(value.get_ref<const std::string&>(), kHashDigits))
      refuse(key, "is no SHA-256 in hexadecimal digits");
    return value.get<std::string>();
  }

  double bits(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string() || !is_hex(value.get_ref<const std::string&>(), 16))
      refuse(key, "is not 16 hexadecimal digits");
    const std::string& text = value.get_ref<const std::string&>();
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, 16);
    return std::bit_cast<double>(number);
  }

  TensorHashes hashes() const {
    TensorHashes all;
    for (const auto& [key, value] : object_.items()) all[key] = hash(key.c_str());
    return all;
  }

 private:
  [[noreturn]] void refuse(std::string_view key, const char* what) const {
    throw Error(ErrorCode::checkpoint, fmt::format("{}: {} {}", name_, printable(key), what));
  }

  const Json& object_;
  std::string name_;
};

Json watch_json(const Watch& watch) {
  Json json = {{"epoch", watch.epoch}};
  if (watch.best) json["best"] = bits_of(*watch.best);
  return json;
}

Watch watch_of(const Members& members) {
  Watch watch{.epoch = members.count("epoch")};
  if (members.has("best")) watch.best = members.bits("best");
  return watch;
}

std::string record_to_json(const TrainingState& state, const RunRecord& run, const TensorHashes& hashes) {
  Json json = {{"step", state.steps}, {"epoch", state.epoch}, {"batch", state.batch}, {"samples", state.samples}};
  if (state.correct) json["correct"] = *state.correct;
  json["loss_sum"] = bits_of(state.loss_sum);
  json["rate"] = bits_of(state.rate);
  if (state.first_loss) json["first_loss"] = bits_of(*state.first_loss);
  if (state.stopping != Watch{}) json["stopping"] = watch_json(state.stopping);
  if (state.plateau != Watch{} || state.rate_drops > 0) {
    json["plateau"] = watch_json(state.plateau);
    json["plateau"]["drops"] = state.rate_drops;
  }
  if (state.averaged > 0) json["averaged"] = state.averaged;
  json["data_sha256"] = run.data_digest;
  json["metrics"] = {{"bytes", run.metrics_bytes}, {"sha256", run.metrics_sha256}};
  json["timings_bytes"] = run.timings_bytes;
  json["tensors"] = hashes;
  return json.dump();
}

/// Error(checkpoint) names the member that is missing or wrong.
CheckpointRecord record_from_json(const std::string& text) {
  check_json(text, kRecordKey);
  const Json json = Json::parse(text);
  const Members members(json, kRecordKey);
  CheckpointRecord record;
  TrainingState& state = record.state;
  state.steps = members.count("step");
  state.epoch = members.count("epoch");
  state.batch = members.count("batch");
  state.samples = members.count("samples");
  if (members.has("correct")) state.correct = members.count("correct");
  state.loss_sum = members.bits("loss_sum");
  state.rate = members.bits("rate");
  if (members.has("first_loss")) state.first_loss = members.bits("first_loss");
  if (members.has("stopping")) state.stopping = watch_of(members.object("stopping"));
  if (members.has("plateau")) {
    state.plateau = watch_of(members.object("plateau"));
    state.rate_drops = members.object("plateau").count("drops");
  }
  if (members.has("averaged")) state.averaged = members.count("averaged");
  record.run.data_digest = members.hash("data_sha256");
  const Members metrics = members.object("metrics");
  record.run.metrics_bytes = metrics.count("bytes");
  record.run.metrics_sha256 = metrics.hash("sha256");
  record.run.timings_bytes = members.count("timings_bytes");
  record.hashes = members.object("tensors").hashes();
  return record;
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
    throw Error(ErrorCode::checkpoint, "is no checkpoint: training cannot go on from it");
  const bool whole = total_is_right(bytes);
  CheckpointRecord record;
  try {
    record = record_from_json(text->second);
  } catch (const Error&) {
    if (whole) throw;
    throw Error(ErrorCode::checkpoint, "damaged: the header is not what was written; take another checkpoint");
  }
  if (const auto tensor = damaged_tensor(bytes, header, record.hashes))
    throw Error(
        ErrorCode::checkpoint,
        fmt::format("damaged: {} does not have the SHA-256 that was written; take another checkpoint", *tensor));
  if (!whole)
    throw Error(ErrorCode::checkpoint,
                "damaged: the header or the last 32 bytes are not what was written; take another checkpoint");
  return record;
}

/// Takes a vector of `count` numbers (nothing: any), in the network's precision; empty where the file has none.
ParameterValues take_vector(const Safetensors& contents, const char* name, const Network& network,
                            std::optional<std::int64_t> count) {
  return std::visit(
      [&](const auto& own) -> ParameterValues {
        using Buffer = std::decay_t<decltype(own)>;
        using T = std::decay_t<decltype(own[0])>;
        const auto found = std::ranges::find(contents.tensors, name, &NamedArray::name);
        if (found == contents.tensors.end()) return Buffer();
        const Array& array = found->array;
        if (array.type != element_type_of<T>() || (count && array.elements() != *count))
          throw Error(ErrorCode::checkpoint,
                      fmt::format("{} is {}, the network has {} such parameters in {}", name, array.describe(),
                                  count.value_or(array.elements()), to_string(network.precision())));
        Buffer buffer(array.elements());
        if (buffer.size() > 0) std::memcpy(buffer.data(), array.bytes.data(), array.bytes.size());
        return buffer;
      },
      network.values());
}

constexpr std::int64_t kDigestBlock = 256;  // samples; part of the digest's definition

/// Numbers as little-endian bytes, whatever this machine has.
template <class T>
void feed(Sha256& sha, std::span<T> values) {
  const auto bytes = std::as_writable_bytes(values);
  to_native_order(bytes, sizeof(T), std::endian::little);
  sha.update(bytes);
}

void feed_number(Sha256& sha, std::int64_t number) { feed(sha, std::span(&number, 1)); }

void feed_samples(Sha256& sha, const Dataset& data) {
  const std::int64_t targets = data.target_size();
  AlignedBuffer<double> t(targets * kDigestBlock);
  std::vector<std::int32_t> labels;
  std::vector<double> weights;
  for (std::int64_t first = 0; first < data.size(); first += kDigestBlock) {
    const std::int64_t count = std::min(kDigestBlock, data.size() - first);
    const std::vector<std::int64_t> ids = ids_from(first, count);
    data.hash_features(ids, sha);
    if (targets > 0) {
      data.targets(ids, dense_matrix(t.data(), targets, count));
      feed(sha, t.span().first(static_cast<std::size_t>(targets * count)));
    }
    if (data.has_weights()) {
      weights.resize(ids.size());
      data.weights(ids, weights);
      feed(sha, std::span(weights));
    }
    if (data.classes() > 0) {
      labels.resize(ids.size());
      data.labels(ids, labels);
      feed(sha, std::span(labels));
    }
  }
}

void feed_part(Sha256& sha, const Dataset* data) {
  feed_number(sha, data == nullptr ? 0 : 1);
  if (data == nullptr) return;
  const Shape shape = data->sample_shape();
  feed_number(sha, data->size());
  feed_number(sha, static_cast<std::int64_t>(shape.extents().size()));
  for (const std::int64_t extent : shape.extents()) feed_number(sha, extent);
  feed_number(sha, data->classes());
  feed_number(sha, data->target_size());
  feed_samples(sha, *data);
}

}  // namespace

bool is_checkpoint(const std::map<std::string, std::string>& metadata) { return metadata.contains(kRecordKey); }

std::vector<std::byte> write_checkpoint(const Network& network, const ModelInfo& info, const TrainingState& state,
                                        const RunRecord& run) {
  Safetensors contents{.metadata = model_metadata(network, info, weight_hash(state.parameters)),
                       .tensors = named_weights(network.parameters(), state.parameters)};
  append_vector(kFirst, state.first, contents.tensors);
  append_vector(kSecond, state.second, contents.tensors);
  append_vector(kAverage, state.average, contents.tensors);
  append_vector(kCarried, state.carried, contents.tensors);
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
      throw Error(ErrorCode::checkpoint, fmt::format("{} is missing in the metadata", kConfigKey));
    checkpoint.run.config = config->second;
    const Network& network = checkpoint.model.network;
    checkpoint.state.parameters = network.values();
    checkpoint.state.first = take_vector(contents, kFirst, network, network.trainable_count());
    checkpoint.state.second = take_vector(contents, kSecond, network, network.trainable_count());
    checkpoint.state.average = take_vector(contents, kAverage, network, network.parameter_count());
    checkpoint.state.carried = take_vector(contents, kCarried, network, std::nullopt);
    return checkpoint;
  });
}

std::string data_digest(const DataSplits& data) {
  Sha256 sha;
  for (const auto& part : {data.train, data.validation, data.test}) feed_part(sha, part.get());
  return to_hex(sha.finish());
}

}  // namespace lockstep
