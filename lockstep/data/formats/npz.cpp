#include "lockstep/data/formats/npz.hpp"

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/npy.hpp"

namespace lockstep {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string_view entry_key(const ZipEntry& entry) {
  const std::string_view name = entry.name;
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

}  // namespace

NpzReader::NpzReader(std::span<const std::byte> bytes, std::string_view name)
    : bytes_(bytes), name_(name), entries_(parse_zip(bytes, name)) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!index_.emplace(entry_key(entries_[i]), i).second) {
      fail_data(name_, entries_[i].header_offset,
                fmt::format("two members hold the array \"{}\"", printable(entry_key(entries_[i]))));
    }
  }
}

std::vector<std::string> NpzReader::keys() const {
  std::vector<std::string> keys;
  for (const ZipEntry& entry : entries_) keys.emplace_back(entry_key(entry));
  return keys;
}

bool NpzReader::contains(std::string_view key) const { return index_.contains(key); }

Array NpzReader::read(std::string_view key) const {
  const auto found = index_.find(key);
  if (found != index_.end()) {
    return parse_npy(extract_zip(bytes_, entries_[found->second], name_), fmt::format("{}({})", name_, printable(key)));
  }
  std::vector<std::string_view> names;
  for (const ZipEntry& entry : entries_) names.push_back(entry_key(entry));
  throw Error(ExitCode::data,
              fmt::format("{}: no array \"{}\", there are: {}", name_, printable(key), printable_list(names)));
}

std::vector<NamedArray> read_npz(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_data_file(path);
  const NpzReader reader(bytes, path.string());
  std::vector<NamedArray> arrays;
  for (const std::string& key : reader.keys()) arrays.push_back({key, reader.read(key)});
  return arrays;
}

std::vector<std::byte> write_npz(std::span<const NamedArray> arrays) {
  std::vector<ZipMember> members;
  for (const NamedArray& entry : arrays) {
    members.push_back({fmt::format("{}{}", entry.name, kSuffix), write_npy(entry.array)});
  }
  return write_zip(members);
}

}  // namespace lockstep
