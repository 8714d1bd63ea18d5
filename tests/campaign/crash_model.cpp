#include "tests/campaign/crash_model.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace campaign {
namespace {

constexpr std::int64_t kPage = 4096, kSector = 512;

std::string folder_of(const std::string& path) { return path.substr(0, path.find_last_of('/', path.size() - 2) + 1); }

bool chance(std::mt19937_64& random, double probability) {
  return std::uniform_real_distribution<>(0, 1)(random) < probability;
}

void put(std::string& contents, std::int64_t offset, std::string_view bytes) {
  const auto end = static_cast<std::size_t>(offset) + bytes.size();
  if (contents.size() < end) contents.resize(end, '\0');
  std::copy(bytes.begin(), bytes.end(), contents.begin() + offset);
}

}  // namespace

std::vector<Operation> read_record(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::size_t at = 0;
  const auto take = [&](void* to, std::size_t count) {
    if (bytes.size() - at < count) throw std::runtime_error(file.string() + ": ends within an entry");
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), count, static_cast<char*>(to));
    at += count;
  };
  const auto take_text = [&](std::string& text) {
    std::uint64_t size = 0;
    take(&size, sizeof size);
    if (size > bytes.size() - at) throw std::runtime_error(file.string() + ": ends within a text");
    text.resize(size);
    take(text.data(), size);
  };
  std::vector<Operation> all;
  while (at < bytes.size()) {
    Operation& next = all.emplace_back();
    take(&next.kind, 1);
    take(&next.number, sizeof next.number);
    take_text(next.first);
    take_text(next.second);
  }
  if (all.empty()) throw std::runtime_error(file.string() + ": no record of anything");
  return all;
}

CrashDisk::CrashDisk(const DiskState& initial) {
  for (const auto& [path, contents] : initial) {
    live_[path] = files_.size();
    files_.push_back({.certain = contents});
  }
  certain_ = live_;
}

void CrashDisk::change(Entries& entries, const Change& what) {
  if (!what.removed.empty()) entries.erase(what.removed);
  if (!what.added.empty()) entries[what.added] = what.file;
}

void CrashDisk::change_later(Change what) {
  change(live_, what);
  pending_.push_back(std::move(what));
}

void CrashDisk::apply(const Operation& operation) {
  const std::string& path = operation.first;
  const std::string folder = folder_of(path);
  const auto known = live_.find(path);
  const auto file = [&]() -> File& {
    if (known == live_.end()) throw std::runtime_error(path + ": changed, but never made");
    return files_[known->second];
  };
  switch (operation.kind) {
    case 'o':
      if (known == live_.end()) {
        files_.emplace_back();
        change_later({.folder = folder, .added = path, .file = files_.size() - 1});
      } else if (operation.second == "t") {
        file().pending.push_back({.offset = 0, .bytes = {}, .cut = true});
      }
      break;
    case 'w':
      file().pending.push_back({.offset = operation.number, .bytes = operation.second, .cut = false});
      break;
    case 't':
      file().pending.push_back({.offset = operation.number, .bytes = {}, .cut = true});
      break;
    case 'r':
      change_later({.folder = folder, .removed = path, .added = operation.second, .file = known->second});
      break;
    case 'u':
      change_later({.folder = folder, .removed = path});
      break;
    case 'm':
      files_.emplace_back();
      change_later({.folder = folder, .added = path + "/", .file = files_.size() - 1});
      break;
    case 's':
      if (known != live_.end()) {
        for (const Write& write : file().pending) {
          if (write.cut)
            file().certain.resize(static_cast<std::size_t>(write.offset), '\0');
          else
            put(file().certain, write.offset, write.bytes);
        }
        file().pending.clear();
      } else {  // a folder
        for (const Change& each : pending_)
          if (each.folder == path + "/") change(certain_, each);
        std::erase_if(pending_, [&](const Change& each) { return each.folder == path + "/"; });
      }
      break;
    default:
      throw std::runtime_error("an unknown operation");
  }
}

std::string CrashDisk::draw_contents(const File& file, std::mt19937_64& random, double survives) const {
  std::string contents = file.certain;
  for (const Write& write : file.pending) {
    if (write.cut) {
      if (chance(random, survives)) contents.resize(static_cast<std::size_t>(write.offset), '\0');
      continue;
    }
    const auto size = static_cast<std::int64_t>(write.bytes.size());
    if (chance(random, survives)) put(contents, write.offset + size, "");  // the size has grown; the bytes follow
    for (std::int64_t at = 0, end = 0; at < size; at = end) {
      end = std::min(size, (write.offset + at) / kPage * kPage + kPage - write.offset);
      if (!chance(random, survives)) continue;
      std::int64_t from = at, to = end;
      if (chance(random, 0.1)) {  // torn: the sectors before, or behind, a place
        const std::int64_t place =
            at + std::uniform_int_distribution<std::int64_t>(0, (end - at) / kSector)(random) * kSector;
        (chance(random, 0.5) ? from : to) = std::min(place, end);
      }
      put(contents, write.offset + from,
          std::string_view(write.bytes).substr(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)));
    }
  }
  return contents;
}

DiskState CrashDisk::draw(std::mt19937_64& random) const {
  // Extremes (nothing, or all, of names or bytes) as often as mixtures.
  constexpr double kShares[] = {0, 0, 0.2, 0.5, 0.8, 1, 1};
  const auto share = [&] {
    return kShares[std::uniform_int_distribution<std::size_t>(0, std::size(kShares) - 1)(random)];
  };
  const double names = share(), bytes = share();
  Entries entries = certain_;
  for (const Change& each : pending_)
    if (chance(random, names)) change(entries, each);
  DiskState state;
  for (const auto& [path, file] : entries) {
    // Without its folder a file is lost.
    bool reachable = true;
    for (std::string folder = folder_of(path); live_.contains(folder); folder = folder_of(folder))
      reachable = reachable && entries.contains(folder);
    if (reachable) state[path] = path.ends_with('/') ? "" : draw_contents(files_[file], random, bytes);
  }
  return state;
}

DiskState CrashDisk::live() const {
  DiskState state;
  for (const auto& [path, index] : live_) {
    std::string contents = files_[index].certain;
    for (const Write& write : files_[index].pending) {
      if (write.cut)
        contents.resize(static_cast<std::size_t>(write.offset), '\0');
      else
        put(contents, write.offset, write.bytes);
    }
    state[path] = contents;
  }
  return state;
}

}  // namespace campaign
