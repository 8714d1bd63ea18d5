#pragma once
// A folder of PNG images, one sub-folder per class: digits/0/a.png, digits/1/b.png, ...

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "lockstep/data/samples.hpp"

namespace lockstep {

struct ImageFolder {
  Samples samples;  // uint8 [samples, channels, height, width], labels
  std::vector<std::string> class_names;
};

/// Classes are the sub-folders: in the order of their numbers when every name is a number, else sorted by bytes.
/// Samples are sorted by class, then by file name. Names that begin with a dot are skipped; any other file that is
/// no .png is Error(data), so is an image of another size, so is an empty folder. If any image has colour, all are RGB.
/// `classes`: the names are given (by the training set); a sub-folder not among them is Error(data).
ImageFolder read_image_folder(const std::filesystem::path& folder, std::span<const std::string> classes = {});

}  // namespace lockstep
