#include "lockstep/data/formats/image_folder.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/bytes.hpp"
#include "lockstep/data/formats/image.hpp"
#include "lockstep/data/formats/image_files.hpp"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kExpected = "expected sub-folders of PNG or JPEG images, one per class";

[[noreturn]] void bad_folder(std::string_view path, std::string_view what) {
  throw Error(ExitCode::data, fmt::format("{}: {}", path, what));
}

std::optional<std::int64_t> class_number(const std::string& name) {
  const auto value = parse_number<std::int64_t>(name);
  return value && *value >= 0 ? value : std::nullopt;
}

/// A picture among the files, and its class.
struct ImageFile {
  std::size_t index = 0;
  std::int32_t label = 0;
};

/// Reads the pictures of a folder.
class FolderReader {
 public:
  FolderReader(const fs::path& folder, const ImageFolderOptions& options)
      : folder_(folder.string()), options_(options), files_(open_image_files(folder)) {}

  ImageFolder read() {
    list_images();
    measure();
    if (one_size_ || options_.resize == 0)
      decode();
    else
      decode_resized();
    result_.samples.targets.classes = static_cast<std::int64_t>(result_.class_names.size());
    for (const ImageFile& image : images_) result_.samples.targets.labels.push_back(image.label);
    return std::move(result_);
  }

 private:
  static std::string class_of(const std::string& name) { return name.substr(0, name.find('/')); }

  /// The pictures by class, in the order of the classes.
  void list_images() {
    std::map<std::string, std::vector<std::size_t>> by_class;
    std::vector<std::string_view> skipped;
    for (std::size_t i = 0; i < files_->names().size(); ++i) {
      const std::string& name = files_->names()[i];
      if (is_foreign_image_name(name))
        bad_folder(files_->path_of(i), "only PNG and JPEG images can be read; convert the picture, or move it away");
      const bool inside = name.find('/') != std::string::npos;
      if (inside && is_image_name(name))
        by_class[class_of(name)].push_back(i);
      else
        skipped.push_back(name);
    }
    if (by_class.empty()) bad_folder(folder_, fmt::format("no pictures in it, {}", kExpected));
    if (!skipped.empty())
      result_.notes.push_back(fmt::format("{}: {} skipped, since they are no pictures of a class: {}", folder_,
                                          count_of(std::ssize(skipped), "file"), printable_list(skipped)));
    std::vector<std::string> present;
    for (const auto& [name, indices] : by_class) present.push_back(name);
    if (std::all_of(present.begin(), present.end(), [](const auto& name) { return class_number(name).has_value(); }))
      std::stable_sort(present.begin(), present.end(),
                       [](const auto& a, const auto& b) { return *class_number(a) < *class_number(b); });
    const auto& given = options_.classes;
    result_.class_names = given.empty() ? present : std::vector<std::string>(given.begin(), given.end());
    for (const std::string& name : present) {
      const auto found = std::find(result_.class_names.begin(), result_.class_names.end(), name);
      if (found == result_.class_names.end())
        bad_folder(fmt::format("{}/{}", folder_, name), "the training set has no such class");
      for (const std::size_t index : by_class[name])
        images_.push_back({index, static_cast<std::int32_t>(found - result_.class_names.begin())});
    }
  }

  /// The size of the first picture, and three channels when any picture has colour.
  void measure() {
    std::string first, other;
    for (const ImageFile& image : images_) {
      const std::string path = files_->path_of(image.index);
      const ImageShape shape = parse_image_shape(files_->read(image.index), path);
      if (first.empty()) {
        first = path;
        shape_ = shape;
      }
      shape_.channels = std::max(shape_.channels, shape.channels);
      if (!one_size_ || (shape.height == shape_.height && shape.width == shape_.width)) continue;
      one_size_ = false;
      other = fmt::format("{}: {}x{} pixels, but {} has {}x{}", path, shape.width, shape.height, first, shape_.width,
                          shape_.height);
    }
    if (options_.channels != 0 && options_.channels != shape_.channels) {
      result_.notes.push_back(fmt::format("{}: pictures become {}, as the network takes them", folder_,
                                          options_.channels == 1 ? "grey" : "RGB"));
      shape_.channels = options_.channels;
    }
    if (!one_size_ && options_.resize == 0)
      throw Error(ExitCode::data, other + "; data.resize = 32 brings all images to one size, 32x32");
  }

  Array image_at(std::size_t i) const {
    const std::size_t index = images_[i].index;
    return parse_image(files_->read(index), files_->path_of(index),
                       shape_.channels == 3 ? ImageColour::rgb : ImageColour::grey);
  }

  void make_features(ElementType type, const ImageShape& shape) {
    const auto count = static_cast<std::int64_t>(images_.size());
    if (!checked_product({count, shape.channels, shape.height, shape.width, element_size(type)}))
      bad_folder(folder_, "too many pixels");
    result_.samples.shape = shape.shape();
    result_.samples.features = make_array(type, {count, shape.channels, shape.height, shape.width});
  }

  void decode() {
    make_features(ElementType::uint8, shape_);
    std::byte* out = result_.samples.features.bytes.data();
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const Array image = image_at(i);
      // The file was measured before; it may have changed since.
      if (static_cast<std::int64_t>(image.bytes.size()) != shape_.elements())
        bad_folder(files_->path_of(images_[i].index), "the file has changed");
      out = std::copy(image.bytes.begin(), image.bytes.end(), out);
    }
  }

  void decode_resized() {
    make_features(ElementType::float64, {shape_.channels, options_.resize, options_.resize});
    std::byte* out = result_.samples.features.bytes.data();
    for (std::size_t i = 0; i < images_.size(); ++i) {
      Array image = image_at(i);
      const Shape shape{image.dims[0], image.dims[1], image.dims[2]};
      image.dims.insert(image.dims.begin(), 1);
      Samples one{.features = std::move(image), .shape = shape, .targets = {}};
      if (options_.transpose) one = transpose_images(one);
      one = resize_images(one, options_.resize, options_.method);
      out = std::copy(one.features.bytes.begin(), one.features.bytes.end(), out);
    }
    result_.resized = true;
  }

  std::string folder_;
  const ImageFolderOptions& options_;
  std::unique_ptr<ImageFiles> files_;
  std::vector<ImageFile> images_;
  ImageShape shape_{};
  bool one_size_ = true;
  ImageFolder result_;
};

}  // namespace

ImageFolder read_image_folder(const fs::path& folder, const ImageFolderOptions& options) {
  return FolderReader(folder, options).read();
}

bool is_image_archive(const fs::path& path) {
  const std::string ending = lower_case(path.extension().string());
  return ending == ".zip" || ending == ".tar";
}

bool has_class_folders(const fs::path& folder) {
  const std::unique_ptr<ImageFiles> files = open_image_files(folder);
  return std::any_of(files->names().begin(), files->names().end(), [](const std::string& name) {
    return name.find('/') != std::string::npos && is_image_name(name);
  });
}

std::vector<std::string> pictures_in(const fs::path& folder) {
  std::vector<std::string> pictures;
  const std::unique_ptr<ImageFiles> files = open_image_files(folder);
  for (const std::string& name : files->names())
    if (name.find('/') == std::string::npos && is_image_name(name)) pictures.push_back((folder / name).string());
  if (pictures.empty()) bad_folder(folder.string(), "no pictures (.png, .jpg) in it");
  return pictures;
}

}  // namespace lockstep
