#pragma once
// Pictures (PNG, JPEG) in one folder per class: digits/0/a.png, digits/1/b.jpg, ... The folders stand in a folder of
// the disk, or in a .zip or .tar archive, which is read without unpacking it.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/resize.hpp"
#include "lockstep/data/samples.hpp"

namespace lockstep {

struct ImageFolder {
  Samples samples;  // uint8 [samples, channels, height, width], labels; float64 where they were resized
  std::vector<std::string> class_names;
  bool resized = false;            // the pictures had several sizes and were resized (and transposed) one by one
  std::vector<std::string> notes;  // files that were skipped
};

struct ImageFolderOptions {
  /// The names are given (by the training set): a sub-folder that is not among them is Error(data).
  std::span<const std::string> classes{};
  /// Not 0: pictures of several sizes become [channels, size, size]; pictures of one size are left alone.
  std::int64_t resize = 0;
  ResizeMethod method = ResizeMethod::average;
  bool transpose = false;     // before they are resized
  std::int64_t channels = 0;  // 1 or 3: every picture becomes grey or RGB; 0: RGB if any picture has colour
};

/// Classes are the sub-folders: in the order of their numbers when every name is a number, else sorted by bytes.
/// Samples are sorted by class, then by file name. Hidden files, and files that are no pictures (Thumbs.db, notes), are
/// skipped with a note; a picture of another kind (GIF, BMP, ...), pictures of several sizes without `resize`, and a
/// folder without pictures are Error(data). If any picture has colour, all are RGB.
ImageFolder read_image_folder(const std::filesystem::path& folder, const ImageFolderOptions& options = {});

/// Whether a path is an archive of pictures, by its ending: .zip or .tar.
bool is_image_archive(const std::filesystem::path& path);

/// Whether some folder in this one holds pictures.
bool has_class_folders(const std::filesystem::path& folder);

/// The paths of the pictures in a folder itself, sorted; Error(data) when there are none.
std::vector<std::string> pictures_in(const std::filesystem::path& folder);

}  // namespace lockstep
