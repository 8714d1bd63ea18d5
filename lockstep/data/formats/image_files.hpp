#pragma once
// The files below a folder, or in an archive: what image_folder.cpp reads pictures from.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace lockstep {

class ImageFiles {
 public:
  virtual ~ImageFiles() = default;
  /// "cat/1.png", ...: relative to the folder, or to the deepest folder of an archive that holds everything; sorted.
  /// Files one folder deep and those of the folder itself; hidden ones are left out.
  const std::vector<std::string>& names() const { return names_; }
  virtual std::vector<std::byte> read(std::size_t index) const = 0;
  /// The path for messages.
  std::string path_of(std::size_t index) const { return root_ + names_[index]; }

 protected:
  std::vector<std::string> names_;
  std::string root_;  // ends in a slash, or "pets.zip: "
};

/// A folder, a .zip or a .tar file. Error(data) when it cannot be read.
std::unique_ptr<ImageFiles> open_image_files(const std::filesystem::path& path);

}  // namespace lockstep
