#pragma once
// Pictures (PNG, JPEG) in one folder per class: digits/0/a.png, digits/1/b.jpg, ... The folders stand in a folder of
// the disk, or in a .zip or .tar archive, which is read without unpacking it.

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/formats/image_files.hpp"
#include "lockstep/data/resize.hpp"
#include "lockstep/data/samples.hpp"
#include "lockstep/tensor/shape.hpp"

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
  /// Not 0: pictures of several sizes become [channels, size, size].
  std::int64_t resize = 0;
  ResizeMethod method = ResizeMethod::average;
  bool transpose = false;  // before they are resized
  /// Resize and transpose pictures of one size one by one too, instead of leaving that to the caller.
  bool one_by_one = false;
  std::int64_t channels = 0;  // 1 or 3: every picture becomes grey or RGB; 0: RGB if any picture has colour
};

/// The pictures of a folder, found and measured but not yet decoded. Classes are the sub-folders: in the order of their
/// numbers when every name is a number, else sorted by bytes. Samples are sorted by class, then by file name. Hidden
/// files, and files that are no pictures (Thumbs.db, notes), are skipped with a note; a picture of another kind (GIF,
/// BMP, ...), pictures of several sizes without `resize`, and a folder without pictures are Error(data). If any picture
/// has colour, all are RGB.
class ImageFolderReader {
 public:
  ImageFolderReader(const std::filesystem::path& folder, const ImageFolderOptions& options);

  std::int64_t size() const { return static_cast<std::int64_t>(images_.size()); }
  /// Of a picture: as stored, or transposed and resized.
  Shape shape() const;
  /// uint8 as stored, float64 where pictures are resized.
  ElementType element_type() const { return resizes() ? ElementType::float64 : ElementType::uint8; }
  bool resizes() const { return resize_ != 0 && (one_by_one_ || !one_size_); }
  const std::vector<std::string>& class_names() const { return class_names_; }
  const std::vector<std::string>& notes() const { return notes_; }
  Targets targets() const;
  /// Decodes a picture: shape() numbers of element_type(). May be called from several threads.
  Array picture(std::int64_t index) const;

 private:
  struct ImageFile {
    std::size_t index = 0;  // among the files
    std::int32_t label = 0;
  };
  void list_images(std::span<const std::string> given);
  void measure(std::int64_t channels);

  std::string folder_;
  std::int64_t resize_;
  ResizeMethod method_;
  bool transpose_, one_by_one_;
  std::unique_ptr<const ImageFiles> files_;
  std::vector<ImageFile> images_;
  std::vector<std::string> class_names_, notes_;
  ImageShape stored_{};
  bool one_size_ = true;
};

/// All pictures, decoded.
ImageFolder read_image_folder(const std::filesystem::path& folder, const ImageFolderOptions& options = {});

/// Whether a path is an archive of pictures, by its ending: .zip or .tar.
bool is_image_archive(const std::filesystem::path& path);

/// Whether some folder in this one holds pictures.
bool has_class_folders(const std::filesystem::path& folder);

/// The paths of the pictures in a folder itself, sorted; Error(data) when there are none.
std::vector<std::string> pictures_in(const std::filesystem::path& folder);

}  // namespace lockstep
