#pragma once
// The digest over a whole file of weights, and its check: what every reader of models and checkpoints goes through.
//   models, exports   the entry "lockstep.sha256" of the metadata: SHA-256 of all bytes of the file, with the 64 digits
//                     of the entry itself taken as zeros
//   checkpoints       the last 32 bytes, a tensor checkpoint.sha256 of their own: SHA-256 of all bytes before them
// So no bit of tensors, architecture, preparation of the inputs, class names or padding changes unnoticed.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lockstep/core/error.hpp"
#include "lockstep/data/formats/safetensors.hpp"

namespace lockstep {

/// What vouches for a file.
enum class Seal {
  whole,    // a digest: every byte is what was written
  weights,  // a model of an earlier Lockstep: a hash of the weights alone
  none      // a file of another program
};

inline constexpr const char* kDigestKey = "lockstep.sha256";
inline constexpr const char* kTotalTensor = "checkpoint.sha256";

/// Whether anything in the header says that Lockstep wrote the file.
bool has_marks(const SafetensorsHeader& header);
/// Whether the last tensor is a checkpoint's total.
bool has_total(const SafetensorsHeader& header);
/// Whether the last 32 bytes are the SHA-256 of those before them.
bool total_is_right(std::span<const std::byte> bytes);

/// The bytes of a file with its digest in the metadata.
std::vector<std::byte> write_sealed(Safetensors contents);
/// The bytes of a file that ends with its total.
std::vector<std::byte> write_with_total(Safetensors contents);

struct SealedFile {
  Safetensors contents;
  Seal seal = Seal::none;
};

/// Error(checkpoint), "<name>: damaged ...", for a file that has a digest of either kind and is not what was written,
/// and for one that has marks of Lockstep but neither a digest nor the metadata of an earlier Lockstep; Error(data) for
/// what is no safetensors file.
SealedFile parse_sealed(std::span<const std::byte> bytes, std::string_view name);
SealedFile read_sealed(const std::filesystem::path& path);

/// Runs a step of reading a file. Whatever is wrong with the file, it is unusable: errors become Error(checkpoint),
/// with the name before those that do not begin with it; but not those of resources.
template <class Step>
auto in_file(std::string_view name, const Step& step) {
  try {
    return step();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::resources) throw;
    const std::string_view what = error.what();
    throw Error(ErrorCode::checkpoint, what.starts_with(name) ? error.what() : std::string(name) + ": " + error.what());
  }
}

/// A line that says what of the file is not verified; nothing when every byte is.
std::optional<std::string> seal_note(const std::string& path, Seal seal);

}  // namespace lockstep
