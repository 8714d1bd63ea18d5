#include "lockstep/model/checkpoint_record.hpp"

#include <bit>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/model/json_check.hpp"

namespace lockstep {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kHashDigits = 64;

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
    if (!object_.is_object()) throw Error(ExitCode::checkpoint, fmt::format("{}: an object was expected", name_));
  }

  bool has(const char* key) const { return object_.contains(key); }

  const Json& at(const char* key) const {
    const auto found = object_.find(key);
    if (found == object_.end()) throw Error(ExitCode::checkpoint, fmt::format("{}: {} is missing", name_, key));
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
    throw Error(ExitCode::checkpoint, fmt::format("{}: {} {}", name_, printable(key), what));
  }

  const Json& object_;
  std::string name_;
};

}  // namespace

std::string record_to_json(const TrainingState& state, const RunRecord& run, const TensorHashes& hashes) {
  Json json = {{"step", state.steps}, {"epoch", state.epoch}, {"batch", state.batch}, {"samples", state.samples}};
  if (state.correct) json["correct"] = *state.correct;
  json["loss_sum"] = bits_of(state.loss_sum);
  json["rate"] = bits_of(state.rate);
  if (state.first_loss) json["first_loss"] = bits_of(*state.first_loss);
  json["data_sha256"] = run.data_digest;
  json["metrics"] = {{"bytes", run.metrics_bytes}, {"sha256", run.metrics_sha256}};
  json["timings_bytes"] = run.timings_bytes;
  json["tensors"] = hashes;
  return json.dump();
}

CheckpointRecord record_from_json(const std::string& text, const char* name) {
  check_json(text, name);
  const Json json = Json::parse(text);
  const Members members(json, name);
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
  record.run.data_digest = members.hash("data_sha256");
  const Members metrics = members.object("metrics");
  record.run.metrics_bytes = metrics.count("bytes");
  record.run.metrics_sha256 = metrics.hash("sha256");
  record.run.timings_bytes = members.count("timings_bytes");
  record.hashes = members.object("tensors").hashes();
  return record;
}

}  // namespace lockstep
