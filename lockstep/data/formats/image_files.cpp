#include "lockstep/data/formats/image_files.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/npz.hpp"
#include "lockstep/data/formats/tar.hpp"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

/// The names in a folder, sorted by bytes, without hidden ones.
std::vector<std::string> visible_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error)
    throw Error(ErrorCode::data, fmt::format("{}: cannot read the folder: {}", folder.string(), error.message()));
  for (const fs::directory_entry& entry : entries) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with('.')) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

class FolderFiles final : public ImageFiles {
 public:
  explicit FolderFiles(const fs::path& folder) : folder_(folder) {
    root_ = (folder / "").string();
    for (const std::string& name : visible_names(folder)) {
      if (!fs::is_directory(folder / name)) {
        names_.push_back(name);
        continue;
      }
      for (const std::string& file : visible_names(folder / name))
        if (!fs::is_directory(folder / name / file)) names_.push_back(fmt::format("{}/{}", name, file));
    }
  }
  std::vector<std::byte> read(std::size_t index) const override { return read_data_file(folder_ / names_[index]); }

 private:
  fs::path folder_;
};

/// Members of an archive by their names, without what all of them begin with, hidden ones and those of macOS.
class ArchiveFiles : public ImageFiles {
 public:
  explicit ArchiveFiles(const fs::path& path) : bytes_(read_data_file(path)), path_(path.string()) {
    root_ = path_ + ": ";
  }

 protected:
  void add(std::string_view name, std::size_t member) {
    while (name.starts_with("./")) name.remove_prefix(2);
    const bool folder = name.empty() || name.ends_with('/');
    const bool hidden = name.starts_with('.') || name.find("/.") != std::string_view::npos;
    if (!folder && !hidden && !name.starts_with("__MACOSX/")) members_.emplace(name, member);
  }
  void finish() {
    std::size_t common = 0;
    while (!members_.empty()) {
      const std::string_view first = members_.begin()->first;
      const std::size_t slash = first.find('/', common);
      if (slash == std::string_view::npos) break;
      const std::string_view head = first.substr(0, slash + 1);
      // Everything lies in this folder, and there is a folder below it: one level deeper.
      const bool all = std::all_of(members_.begin(), members_.end(), [&](const auto& m) {
        return m.first.starts_with(head) && m.first.find('/', head.size()) != std::string::npos;
      });
      if (!all) break;
      common = slash + 1;
    }
    for (const auto& [name, member] : members_) {
      const std::string rest = name.substr(common);
      if (std::count(rest.begin(), rest.end(), '/') > 1) continue;
      names_.push_back(rest);
      places_.push_back(member);
    }
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  const std::string& path() const { return path_; }
  std::size_t place(std::size_t index) const { return places_[index]; }

 private:
  std::vector<std::byte> bytes_;
  std::string path_;
  std::map<std::string, std::size_t> members_;
  std::vector<std::size_t> places_;
};

class ZipFiles final : public ArchiveFiles {
 public:
  explicit ZipFiles(const fs::path& path) : ArchiveFiles(path), entries_(parse_zip(bytes(), this->path())) {
    for (std::size_t i = 0; i < entries_.size(); ++i) add(entries_[i].name, i);
    finish();
  }
  std::vector<std::byte> read(std::size_t index) const override {
    return extract_zip(bytes(), entries_[place(index)], path());
  }

 private:
  std::vector<ZipEntry> entries_;
};

class TarFiles final : public ArchiveFiles {
 public:
  explicit TarFiles(const fs::path& path) : ArchiveFiles(path), entries_(parse_tar(bytes(), this->path())) {
    for (std::size_t i = 0; i < entries_.size(); ++i) add(entries_[i].name, i);
    finish();
  }
  std::vector<std::byte> read(std::size_t index) const override {
    const TarEntry& entry = entries_[place(index)];
    const auto content = bytes().subspan(static_cast<std::size_t>(entry.offset), static_cast<std::size_t>(entry.size));
    return {content.begin(), content.end()};
  }

 private:
  std::vector<TarEntry> entries_;
};

}  // namespace

std::unique_ptr<ImageFiles> open_image_files(const fs::path& path) {
  const std::string ending = lower_case(path.extension().string());
  if (!fs::is_directory(path) && ending == ".zip") return std::make_unique<ZipFiles>(path);
  if (!fs::is_directory(path) && ending == ".tar") return std::make_unique<TarFiles>(path);
  return std::make_unique<FolderFiles>(path);
}

}  // namespace lockstep
