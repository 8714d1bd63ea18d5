#include "lockstep/model/seal.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"
#include "lockstep/core/sha256.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/model/checkpoint.hpp"

namespace lockstep {
namespace {

constexpr std::size_t kDigits = 2 * sizeof(Sha256Digest);
constexpr std::size_t kTotalBytes = sizeof(Sha256Digest);
/// What stands before the digits in a header that write_safetensors wrote. In the text of another entry the quotes
/// would be escaped, so it stands there once.
constexpr std::string_view kBeforeDigits = "\"lockstep.sha256\":\"";

// The entries of a model file before there was a digest. Nothing else is taken for such a file: a flipped bit in the
// name of the digest's entry must not turn a model of today into one of yesterday.
constexpr std::array<std::string_view, 4> kAlways = {"lockstep.model", "lockstep.numerics_version", "lockstep.version",
                                                     "lockstep.weight_hash"};
constexpr std::array<std::string_view, 2> kSometimes = {"lockstep.data", "lockstep.loss"};

[[noreturn]] void fail_damaged(std::string_view name, std::string_view what) {
  throw Error(ErrorCode::checkpoint, fmt::format("{}: damaged or edited: {}; take another copy of it", name, what));
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Of the file with zeros for the digits at `at`.
std::string digest_of(std::span<const std::byte> bytes, std::size_t at) {
  const std::string zeros(kDigits, '0');
  Sha256 sha;
  sha.update(bytes.first(at));
  sha.update(std::as_bytes(std::span(zeros)));
  sha.update(bytes.subspan(at + kDigits));
  return to_hex(sha.finish());
}

Sha256Digest total_of(std::span<const std::byte> bytes) {
  Sha256 sha;
  sha.update(bytes.first(bytes.size() - kTotalBytes));
  return sha.finish();
}

bool digest_is_right(std::span<const std::byte> bytes, const std::string& digest) {
  const std::size_t before = as_text(bytes).find(kBeforeDigits);
  if (before == std::string_view::npos || digest.size() != kDigits) return false;
  const std::size_t at = before + kBeforeDigits.size();
  // The entry that was parsed must be the one that was found.
  return as_text(bytes).substr(at, kDigits) == digest && digest_of(bytes, at) == digest;
}

/// Either end of the digest's name would do: no single fault takes both away.
bool is_mark(const std::string& key) { return key.starts_with("lockstep.") || key.ends_with(".sha256"); }

bool is_of_earlier_model(const SafetensorsHeader& header) {
  const auto named = [](const auto& list, const std::string& key) {
    return std::ranges::find(list, key) != list.end();
  };
  const auto present = [&](std::string_view key) { return header.metadata.contains(std::string(key)); };
  const auto known = [&](const auto& entry) { return named(kAlways, entry.first) || named(kSometimes, entry.first); };
  const auto extra = [](const SafetensorsEntry& tensor) {
    return tensor.name.starts_with("optimizer.") || tensor.name.starts_with("checkpoint.");
  };
  return std::ranges::all_of(kAlways, present) && std::ranges::all_of(header.metadata, known) &&
         std::ranges::none_of(header.tensors, extra);
}

Seal check_seal(std::span<const std::byte> bytes, const SafetensorsHeader& header, std::string_view name) {
  constexpr const char* kChanged = "the file does not have the SHA-256 that was written with it";
  const SafetensorsMetadata& metadata = header.metadata;
  if (const auto digest = metadata.find(kDigestKey); digest != metadata.end()) {
    if (!digest_is_right(bytes, digest->second)) fail_damaged(name, kChanged);
    return Seal::whole;
  }
  if (has_total(header) || is_checkpoint(metadata)) {
    if (!has_total(header) || !is_checkpoint(metadata) || !total_is_right(bytes)) fail_damaged(name, kChanged);
    return Seal::whole;
  }
  if (!has_marks(header)) return Seal::none;
  if (!is_of_earlier_model(header))
    fail_damaged(name, fmt::format("it has marks of Lockstep but no {} in its metadata", kDigestKey));
  return Seal::weights;
}

}  // namespace

bool has_marks(const SafetensorsHeader& header) {
  return has_total(header) ||
         std::ranges::any_of(header.metadata, [](const auto& entry) { return is_mark(entry.first); });
}

bool has_total(const SafetensorsHeader& header) {
  if (header.tensors.empty()) return false;
  const SafetensorsEntry& last = header.tensors.back();
  return last.name == kTotalTensor && last.type == ElementType::uint8 &&
         last.dims == std::vector<std::int64_t>{static_cast<std::int64_t>(kTotalBytes)};
}

bool total_is_right(std::span<const std::byte> bytes) {
  const Sha256Digest total = total_of(bytes);
  return std::memcmp(total.data(), bytes.data() + bytes.size() - kTotalBytes, kTotalBytes) == 0;
}

std::vector<std::byte> write_sealed(Safetensors contents) {
  contents.metadata[kDigestKey] = std::string(kDigits, '0');
  std::vector<std::byte> bytes = write_safetensors(std::move(contents));
  const std::size_t at = as_text(bytes).find(kBeforeDigits) + kBeforeDigits.size();
  const std::string digest = digest_of(bytes, at);
  std::memcpy(bytes.data() + at, digest.data(), kDigits);
  return bytes;
}

std::vector<std::byte> write_with_total(Safetensors contents) {
  contents.tensors.push_back({kTotalTensor, make_array(ElementType::uint8, {static_cast<std::int64_t>(kTotalBytes)})});
  std::vector<std::byte> bytes = write_safetensors(std::move(contents));
  const Sha256Digest total = total_of(bytes);
  std::memcpy(bytes.data() + bytes.size() - kTotalBytes, total.data(), kTotalBytes);
  return bytes;
}

SealedFile parse_sealed(std::span<const std::byte> bytes, std::string_view name) {
  const SafetensorsHeader header = parse_safetensors_header(bytes, static_cast<std::int64_t>(bytes.size()), name);
  const Seal seal = check_seal(bytes, header, name);
  return {.contents = parse_safetensors(bytes, name), .seal = seal};
}

SealedFile read_sealed(const std::filesystem::path& path) {
  return parse_sealed(read_file(path, std::numeric_limits<std::int64_t>::max()), path.string());
}

std::optional<std::string> seal_note(const std::string& path, Seal seal) {
  if (seal == Seal::whole) return std::nullopt;
  return fmt::format("{}: unverified: {}", one_line(path),
                     seal == Seal::weights ? "an earlier Lockstep wrote it, with a hash of the weights and none of the "
                                             "rest; only the weights are known to be right"
                                           : "the file has no digest of Lockstep");
}

}  // namespace lockstep
