#pragma once
// Where the well-known data sets live on a machine.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// The four IDX files of MNIST or Fashion-MNIST, each with or without .gz.
struct IdxFiles {
  std::filesystem::path train_images, train_labels, test_images, test_labels;
};

/// "fashion-mnist", "mnist"
const std::vector<std::string>& catalog_names();
bool is_catalog_name(std::string_view name);

/// Searched in this order; the first folder that holds all four files wins:
///   fashion-mnist: $LOCKSTEP_DATA_DIR/fashion-mnist, /usr/share/datasets/fashion-mnist,
///   ~/.cache/lockstep/fashion-mnist mnist:         $LOCKSTEP_DATA_DIR, $LOCKSTEP_DATA_DIR/mnist,
///   ~/.cache/lockstep/mnist, build/data/mnist
/// Error(data) says how to get the files where none does.
IdxFiles find_catalog_files(std::string_view name);

/// The names of Fashion-MNIST's ten classes; empty for MNIST, whose classes are the digits.
std::vector<std::string> catalog_class_names(std::string_view name);

}  // namespace lockstep
