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

[[noreturn]] void bad_folder(std::string_view path, std::string_view what) {
  throw Error(ErrorCode::data, fmt::format("{}: {}", path, what));
}

std::optional<std::int64_t> class_number(const std::string& name) {
  const auto value = parse_number<std::int64_t>(name);
  return value && *value >= 0 ? value : std::nullopt;
}

std::string class_of(const std::string& name) { return name.substr(0, name.find('/')); }

}  // namespace

ImageFolderReader::ImageFolderReader(const fs::path& folder, const ImageFolderOptions& options)
    : folder_(folder.string()),
      resize_(options.resize),
      method_(options.method),
      transpose_(options.transpose),
      one_by_one_(options.one_by_one),
      files_(open_image_files(folder)) {
  list_images(options.classes);
  measure(options.channels);
}

/// The pictures by class, in the order of the classes.
void ImageFolderReader::list_images(std::span<const std::string> given) {
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
  if (by_class.empty())
    bad_folder(folder_, "no pictures in it, expected sub-folders of PNG or JPEG images, one per class");
  if (!skipped.empty())
    notes_.push_back(fmt::format("{}: {} skipped, since they are no pictures of a class: {}", folder_,
                                 count_of(std::ssize(skipped), "file"), printable_list(skipped)));
  std::vector<std::string> present;
  for (const auto& [name, indices] : by_class) present.push_back(name);
  if (std::all_of(present.begin(), present.end(), [](const auto& name) { return class_number(name).has_value(); }))
    std::stable_sort(present.begin(), present.end(),
                     [](const auto& a, const auto& b) { return *class_number(a) < *class_number(b); });
  class_names_ = given.empty() ? present : std::vector<std::string>(given.begin(), given.end());
  for (const std::string& name : present) {
    const auto found = std::find(class_names_.begin(), class_names_.end(), name);
    if (found == class_names_.end())
      bad_folder(fmt::format("{}/{}", folder_, name), "the training set has no such class");
    for (const std::size_t index : by_class[name])
      images_.push_back({index, static_cast<std::int32_t>(found - class_names_.begin())});
  }
}

/// The size of the first picture, and three channels when any picture has colour.
void ImageFolderReader::measure(std::int64_t channels) {
  std::string first, other;
  for (const ImageFile& image : images_) {
    const std::string path = files_->path_of(image.index);
    const ImageShape shape = parse_image_shape(files_->read(image.index), path);
    if (first.empty()) {
      first = path;
      stored_ = shape;
    }
    stored_.channels = std::max(stored_.channels, shape.channels);
    if (!one_size_ || (shape.height == stored_.height && shape.width == stored_.width)) continue;
    one_size_ = false;
    other = fmt::format("{}: {}x{} pixels, but {} has {}x{}", path, shape.width, shape.height, first, stored_.width,
                        stored_.height);
  }
  if (channels != 0 && channels != stored_.channels) {
    notes_.push_back(
        fmt::format("{}: pictures become {}, as the network takes them", folder_, channels == 1 ? "grey" : "RGB"));
    stored_.channels = channels;
  }
  if (!one_size_ && resize_ == 0)
    throw Error(ErrorCode::data, other + "; data.resize = 32 brings all images to one size, 32x32");
}

Shape ImageFolderReader::shape() const {
  if (resizes()) return {stored_.channels, resize_, resize_};
  if (one_by_one_ && transpose_) return {stored_.channels, stored_.width, stored_.height};
  return stored_.shape();
}

Targets ImageFolderReader::targets() const {
  Targets targets;
  targets.classes = static_cast<std::int64_t>(class_names_.size());
  for (const ImageFile& image : images_) targets.labels.push_back(image.label);
  return targets;
}

Array ImageFolderReader::picture(std::int64_t index) const {
  const std::size_t file = images_[static_cast<std::size_t>(index)].index;
  const std::string path = files_->path_of(file);
  Array image = parse_image(files_->read(file), path, stored_.channels == 3 ? ImageColour::rgb : ImageColour::grey);
  // The file was measured before; it may have changed since.
  if (one_size_ && static_cast<std::int64_t>(image.bytes.size()) != stored_.elements())
    bad_folder(path, "the file has changed");
  const bool changes = one_by_one_ || !one_size_;
  if (!changes || (!transpose_ && !resizes())) return image;
  const Shape as_stored{image.dims[0], image.dims[1], image.dims[2]};
  image.dims.insert(image.dims.begin(), 1);
  Samples one{.features = std::move(image), .shape = as_stored, .targets = {}};
  if (transpose_) one = transpose_images(one);
  if (resizes()) one = resize_images(one, resize_, method_);
  return std::move(one.features);
}

ImageFolder read_image_folder(const fs::path& folder, const ImageFolderOptions& options) {
  const ImageFolderReader reader(folder, options);
  const Shape shape = reader.shape();
  const ElementType type = reader.element_type();
  if (!checked_product({reader.size(), shape.elements(), element_size(type)}))
    bad_folder(folder.string(), "too many pixels");
  ImageFolder result{
      .samples = {}, .class_names = reader.class_names(), .resized = reader.resizes(), .notes = reader.notes()};
  result.samples.shape = shape;
  result.samples.features = make_array(type, {reader.size(), shape[0], shape[1], shape[2]});
  result.samples.targets = reader.targets();
  std::byte* out = result.samples.features.bytes.data();
  for (std::int64_t i = 0; i < reader.size(); ++i) {
    const Array picture = reader.picture(i);
    out = std::copy(picture.bytes.begin(), picture.bytes.end(), out);
  }
  return result;
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
