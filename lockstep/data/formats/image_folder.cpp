#include "lockstep/data/formats/image_folder.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "lockstep/core/checked.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/core/words.hpp"
#include "lockstep/data/file.hpp"
#include "lockstep/data/formats/png.hpp"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

struct ImageFile {
  fs::path path;
  std::int32_t label = 0;
};

[[noreturn]] void bad_folder(const fs::path& path, std::string_view what) {
  throw Error(ExitCode::data, fmt::format("{}: {}", path.string(), what));
}

/// The names in a folder, sorted by bytes, without hidden ones.
std::vector<std::string> list(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) bad_folder(folder, fmt::format("cannot read the folder: {}", error.message()));
  for (const fs::directory_entry& entry : entries) {
    std::string name = entry.path().filename().string();
    if (!name.starts_with('.')) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::int64_t> class_number(const std::string& name) {
  const auto value = parse_number<std::int64_t>(name);
  return value && *value >= 0 ? value : std::nullopt;
}

std::vector<std::string> class_names_of(const fs::path& folder) {
  std::vector<std::string> names = list(folder);
  for (const std::string& name : names) {
    if (!fs::is_directory(folder / name))
      bad_folder(folder / name, "expected a sub-folder of PNG images for each class");
  }
  if (std::all_of(names.begin(), names.end(), [](const std::string& name) { return class_number(name).has_value(); }))
    std::stable_sort(names.begin(), names.end(),
                     [](const std::string& a, const std::string& b) { return *class_number(a) < *class_number(b); });
  return names;
}

bool is_png_name(const std::string& name) { return name.ends_with(".png") || name.ends_with(".PNG"); }

std::vector<ImageFile> list_images(const fs::path& folder, const std::vector<std::string>& present,
                                   const std::vector<std::string>& classes) {
  std::vector<ImageFile> files;
  std::map<std::string_view, std::int32_t> labels;
  for (const std::string& name : classes) labels.emplace(name, static_cast<std::int32_t>(labels.size()));
  for (const std::string& name : present) {
    const auto found = labels.find(name);
    if (found == labels.end()) bad_folder(folder / name, "the training set has no such class");
    const std::int32_t label = found->second;
    for (const std::string& file : list(folder / name)) {
      if (!is_png_name(file)) bad_folder(folder / name / file, "not a .png file, only PNG images can be read");
      files.push_back({folder / name / file, label});
    }
  }
  if (files.empty()) bad_folder(folder, "no PNG images in it, expected sub-folders of them, one per class");
  return files;
}

/// The common shape: the size of the first image, three channels when any image has colour.
ImageShape common_shape(const std::vector<ImageFile>& files) {
  ImageShape common;
  for (const ImageFile& file : files) {
    const std::string name = file.path.string();
    const ImageShape shape = parse_png_shape(read_data_file(file.path), name);
    if (&file == &files.front()) common = shape;
    if (shape.height != common.height || shape.width != common.width)
      bad_folder(file.path, fmt::format("{}x{} pixels, but {} has {}x{}; all images must have one size", shape.width,
                                        shape.height, files.front().path.string(), common.width, common.height));
    common.channels = std::max(common.channels, shape.channels);
  }
  return common;
}

}  // namespace

ImageFolder read_image_folder(const fs::path& folder, std::span<const std::string> classes) {
  const std::vector<std::string> present = class_names_of(folder);
  ImageFolder result;
  result.class_names = classes.empty() ? present : std::vector<std::string>(classes.begin(), classes.end());
  const std::vector<ImageFile> files = list_images(folder, present, result.class_names);
  const ImageShape shape = common_shape(files);
  const auto count = static_cast<std::int64_t>(files.size());
  if (!checked_product({count, shape.channels, shape.height, shape.width})) bad_folder(folder, "too many pixels");

  Samples& samples = result.samples;
  samples.shape = shape.shape();
  samples.features = make_array(ElementType::uint8, {count, shape.channels, shape.height, shape.width});
  samples.targets.classes = static_cast<std::int64_t>(result.class_names.size());
  std::byte* out = samples.features.bytes.data();
  for (const ImageFile& file : files) {
    const Array image = read_png(file.path, shape.channels == 3 ? PngColour::rgb : PngColour::grey);
    // The file was measured before; it may have changed since.
    if (static_cast<std::int64_t>(image.bytes.size()) != shape.elements())
      bad_folder(file.path, "the file has changed");
    out = std::copy(image.bytes.begin(), image.bytes.end(), out);
    samples.targets.labels.push_back(file.label);
  }
  return result;
}

}  // namespace lockstep
