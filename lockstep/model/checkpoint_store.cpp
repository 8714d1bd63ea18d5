#include "lockstep/model/checkpoint_store.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/file.hpp"

namespace lockstep {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "checkpoint-", kSuffix = ".safetensors";

}  // namespace

std::string checkpoint_name(std::int64_t step) { return fmt::format("{}{}{}", kPrefix, step, kSuffix); }

std::optional<std::int64_t> checkpoint_step(std::string_view name) {
  if (name.size() <= kPrefix.size() + kSuffix.size() || !name.starts_with(kPrefix) || !name.ends_with(kSuffix))
    return std::nullopt;
  const std::string_view digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  // Only what checkpoint_name writes: no sign, no leading zero.
  if (error != std::errc() || end != digits.data() + digits.size() || checkpoint_name(step) != name || step < 0)
    return std::nullopt;
  return step;
}

std::vector<std::int64_t> CheckpointStore::steps() const {
  std::vector<std::int64_t> found;
  std::error_code error;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error))
    if (const auto step = checkpoint_step(it->path().filename().string())) found.push_back(*step);
  if (error && error != std::errc::no_such_file_or_directory)
    fail_system(ExitCode::resources, fmt::format("{}: cannot list the folder", folder_.string()), error.value());
  std::ranges::sort(found, std::greater());
  return found;
}

void CheckpointStore::save(std::int64_t step, std::span<const std::byte> bytes) const {
  write_file_atomically(path(step), bytes);
  const std::vector<std::int64_t> present = steps();
  for (std::size_t i = kGenerations; i < present.size(); ++i) {
    std::error_code error;
    fs::remove(path(present[i]), error);
    if (error)
      fail_system(ExitCode::resources, fmt::format("{}: cannot remove", path(present[i]).string()), error.value());
  }
}

std::optional<Checkpoint> CheckpointStore::load_newest(const std::function<void(const std::string&)>& warn) const {
  const std::vector<std::int64_t> present = steps();
  for (const std::int64_t step : present) {
    try {
      return load_checkpoint(path(step));
    } catch (const Error& error) {
      if (error.code() != ExitCode::checkpoint) throw;
      if (step == present.back())
        throw Error(ExitCode::checkpoint,
                    fmt::format("{}{}", error.what(),
                                present.size() == 1 ? "; there is no other in this folder: train anew"
                                                    : "; no checkpoint in this folder can be used: train anew"));
      warn(fmt::format("{}; trying the checkpoint before it", error.what()));
    }
  }
  return std::nullopt;
}

Checkpoint load_checkpoint(const fs::path& path) {
  return parse_checkpoint(read_file(path, std::numeric_limits<std::int64_t>::max(), ExitCode::checkpoint),
                          path.string());
}

}  // namespace lockstep
