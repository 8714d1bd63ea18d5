#include "lockstep/data/opened_source.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "lockstep/core/error.hpp"
#include "lockstep/data/catalog.hpp"
#include "lockstep/data/generators.hpp"
#include "lockstep/data/resize.hpp"

namespace lockstep {
namespace {

struct Generator {
  std::string_view name;
  Samples (*make)(const GeneratorConfig&);
  double default_noise;
};
constexpr std::array<Generator, 4> kGenerators{{{"quadrants", &make_quadrants, 0.0},
                                                {"moons", &make_moons, 0.1},
                                                {"circles", &make_circles, 0.05},
                                                {"blobs", &make_blobs, 1.0}}};
constexpr std::int64_t kMaxGenerated = std::int64_t{1} << 32;

OpenedSource open_generator(const Generator& generator, const DataConfig& config) {
  require_setting(config.count >= 0 && config.count <= kMaxGenerated,
                  fmt::format("count {} is out of range", config.count));
  require_setting(config.test_count >= 0 && config.test_count <= kMaxGenerated,
                  fmt::format("test_count {} is out of range", config.test_count));
  require_setting(config.classes == 0 || (config.classes >= 1 && config.classes <= 1 << 20),
                  fmt::format("classes {} is out of range", config.classes));
  require_setting(config.features >= 0 && config.features <= 1 << 20,
                  fmt::format("features {} is out of range", config.features));
  GeneratorConfig wanted{.first = 0,
                         .count = config.count == 0 ? 1000 : config.count,
                         .seed = config.seed,
                         .noise = config.noise < 0 ? generator.default_noise : config.noise,
                         .factor = config.factor,
                         .classes = config.classes == 0 ? 3 : config.classes,
                         .features = config.features == 0 ? 2 : config.features};
  OpenedSource opened;
  opened.train = finish_samples(generator.make(wanted), config, generator.name);
  if (config.test_count > 0) {
    wanted.first = wanted.count;
    wanted.count = config.test_count;
    opened.test = finish_samples(generator.make(wanted), config, generator.name);
  }
  return opened;
}

}  // namespace

void require_setting(bool condition, std::string_view message) {
  if (!condition) throw Error(ExitCode::usage, fmt::format("data: {}", message));
}

std::shared_ptr<const StoredDataset> finish_samples(Samples samples, const DataConfig& config, std::string_view name) {
  const ElementType source_type = samples.features.type;
  if (!config.shape.empty()) {
    require_setting(config.shape.size() <= 3, "shape has more than three extents");
    for (const std::int64_t extent : config.shape)
      require_setting(extent > 0, "shape has an extent that is not positive");
    const Shape wanted{std::span<const std::int64_t>(config.shape)};
    require_setting(wanted.elements() == samples.shape.elements(),
                    fmt::format("shape {} does not fit samples {} of {}", wanted.str(), samples.shape.str(), name));
    samples.shape = wanted;
  }
  if (config.transpose) samples = transpose_images(samples);
  if (config.resize.size != 0) {
    samples = resize_images(samples, config.resize.size, parse_resize_method(config.resize.method));
  }
  check_finite(samples.features, name);
  return std::make_shared<MemoryDataset>(std::move(samples.features), samples.shape, std::move(samples.targets), name,
                                         source_type);
}

OpenedSource open_source(const DataConfig& config) {
  for (const Generator& generator : kGenerators) {
    if (config.source == generator.name) return open_generator(generator, config);
  }
  if (is_catalog_name(config.source)) {
    const IdxFiles files = find_catalog_files(config.source);
    DataConfig from_files = config;
    from_files.source = files.train_images.string();
    from_files.labels = files.train_labels.string();
    from_files.test = files.test_images.string();
    from_files.test_labels = files.test_labels.string();
    if (from_files.classes == 0) from_files.classes = 10;
    OpenedSource opened = open_path(from_files);
    opened.class_names = catalog_class_names(config.source);
    return opened;
  }
  require_setting(!config.source.empty(),
                  "no source given, expected fashion-mnist, mnist, quadrants, moons, circles, blobs or a path");
  return open_path(config);
}

}  // namespace lockstep
